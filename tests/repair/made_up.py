"""Made-up rules, honest and lying, and plans made with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from doctor.findings import Edit, Finding, Fix, Safety, Severity
from doctor.repair.planner import plan_fix
from doctor.repair.plans import Plan
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.source import MemorySource
from tests.repair.sessions import all_rules, read, read_bytes


def make_rule(check: Callable[[Session], Iterable[Finding]], code: str = "AD350", severity: Severity = Severity.ERROR) -> Rule:
    return Rule(code, "made-up", severity, check, "", "", "Made up.", "tests")


def plan_bytes(data: bytes, rules: Iterable[Rule] | None = None, safety: Safety = Safety.SAFE) -> Plan:
    return plan_fix(read("transcript.jsonl", MemorySource(data)), tuple(rules) if rules is not None else all_rules(), safety)


def lines_of(plan: Plan) -> list[bytes]:
    return read_bytes(plan.source).splitlines()


def assert_nothing_planned(plan: Plan, kind: str, text: str) -> None:
    assert plan.failure is not None and plan.failure.kind == kind
    assert text in plan.failure.message and "\n" not in plan.failure.message
    assert not plan.changed and plan.applied == () and plan.source is plan.session.transcript.source and plan.after == plan.before


def offer(line: int, *edits: Edit, quarantined: tuple[int, ...] = (), safety: Safety = Safety.SAFE) -> Finding:
    return Finding(line, "made up", Fix("do it", safety, edits, quarantined))


def once(finding: Finding, when: bytes) -> Rule:
    """A rule that reports as long as the first line is `when`."""
    return make_rule(lambda session: [finding] if session.transcript.read_line(0) == when else [])
