"""What the engine adds to findings: codes, severities, places; and what it does with a rule that crashes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from doctor.analysis.engine import diagnose, judge
from doctor.analysis.registry import find_rule, load_rules, select_rules
from doctor.errors import DoctorError
from doctor.findings import Confidence, Edit, Finding, Fix, Safety, Severity
from doctor.model import Liveness
from doctor.pairing import pair_calls
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource

DATA = b'{"role": "user", "content": "x"}\n{"role": "assistant", "content": "y"}\n'


def make_session(**beside: object) -> Session:
    transcript = read_transcript(MemorySource(DATA), "t.jsonl")
    return Session(transcript, pair_calls(transcript.messages), **beside)


def make_rule(*findings: Finding, code: str = "AD399", severity: Severity = Severity.ERROR) -> Rule:
    return Rule(code, "test-rule", severity, lambda session: iter(findings), "", "", "Doc.", "x")


def test_places_are_counted_from_one_and_bytes_from_zero() -> None:
    (found,) = diagnose(make_session(), [make_rule(Finding(1, "m", column=3))]).diagnostics
    assert (found.code, found.line, found.column, found.byte_offset) == ("AD399", 2, 4, 33 + 3)
    assert found.related[0].text == "y" and found.related[0].primary


def test_findings_come_in_the_order_of_the_file() -> None:
    rules = [make_rule(Finding(None, "whole"), Finding(1, "b")), make_rule(Finding(0, "a"), code="AD398")]
    assert [found.message for found in diagnose(make_session(), rules).diagnostics] == ["a", "b", "whole"]


def test_doubt_and_history_lower_the_severity() -> None:
    findings = [Finding(0, "m"), Finding(0, "m", confidence=Confidence.POSSIBLE), Finding(0, "m", at_most=Severity.INFO)]
    severities = [found.severity for found in diagnose(make_session(), [make_rule(*findings)]).diagnostics]
    assert severities == [Severity.ERROR, Severity.WARNING, Severity.INFO]
    (found,) = diagnose(make_session(), [make_rule(findings[1], severity=Severity.INFO)]).diagnostics
    assert found.severity is Severity.INFO


def test_a_crashing_rule_is_reported_and_the_others_go_on() -> None:
    def crash(session: Session) -> Iterator[Finding]:
        yield Finding(0, "before")
        raise ValueError("boom")

    diagnosis = diagnose(make_session(), [make_rule()._replace(check=crash), make_rule(Finding(0, "other"), code="AD398")])
    assert [failure.kind for failure in diagnosis.failures] == ["rule-crash"]
    assert "AD399" in diagnosis.failures[0].message and "boom" in diagnosis.failures[0].message
    assert [found.message for found in diagnosis.diagnostics] == ["other"]


@pytest.mark.parametrize(
    ("findings", "code", "verdict"),
    [
        ([], "AD399", "resumable"),
        ([Finding(0, "m", Fix("t", Safety.SAFE, (Edit(0, 1),)))], "AD399", "after-fix"),
        ([Finding(0, "m", Fix("t", Safety.UNSAFE, (Edit(0, 1),)))], "AD399", "after-fix"),
        ([Finding(0, "m", Fix("t", Safety.MANUAL))], "AD399", "not-resumable"),
        ([Finding(0, "m")], "AD399", "not-resumable"),
        ([Finding(0, "m")], "AD599", "resumable"),
        ([Finding(0, "m", Fix("t", Safety.MANUAL))], "AD599", "resumable"),
        ([Finding(0, "m", Fix("t", Safety.SAFE, (Edit(0, 1),)))], "AD599", "after-fix"),
    ],
)
def test_verdict(findings: list[Finding], code: str, verdict: str) -> None:
    session = make_session()
    assert judge(session, diagnose(session, [make_rule(*findings, code=code)]).diagnostics) == verdict


def test_a_live_session_is_called_live() -> None:
    assert judge(make_session(liveness=Liveness(True, "its lock is held")), ()) == "live"


def test_selectors() -> None:
    rules = load_rules()
    codes = lambda *arguments: {rule.code for rule in select_rules(rules, *arguments)}  # noqa: E731
    assert codes([], []) == {rule.code for rule in rules}
    assert codes(["AD3"], []) == {rule.code for rule in rules if rule.code.startswith("AD3")}
    assert codes(["AD3"], ["AD301"]) == codes(["AD3"], []) - {"AD301"}
    assert codes(["AD301"], ["AD3"]) == {"AD301"}
    assert codes(["missing-tool-result"], []) == {"AD301"}
    assert codes(["ALL"], ["AD1"]) == {rule.code for rule in rules if not rule.code.startswith("AD1")}
    assert find_rule(rules, "ad301") is find_rule(rules, "missing-tool-result")
    for wrong in ("AD9", "nonsense"):
        with pytest.raises(DoctorError):
            select_rules(rules, [wrong], [])
