from __future__ import annotations

import pytest

from doctor.analysis.registry import load_rules
from doctor.errors import DoctorError
from doctor.findings import Confidence, Diagnostic, FileReport, FixReport, Severity
from doctor.settings.model import Settings, Tuning
from doctor.settings.selecting import choose_codes, restamp, tune_rules

RULES = load_rules()
OF_TURNS = tuple(rule.code for rule in RULES if rule.code.startswith("AD4"))
CONFIGURED = Settings(file="pyproject.toml", table="tool.amplifier-doctor", select=("AD4",), extend_select=("AD508",), ignore=("AD402",))


def choose(settings: Settings, select: tuple[str, ...] = (), extend: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> set[str]:
    return set(choose_codes(RULES, settings, select, extend, ignore))


def test_the_configuration_alone() -> None:
    assert choose(CONFIGURED) == {*OF_TURNS, "AD508"} - {"AD402"}
    assert choose(Settings()) == {rule.code for rule in RULES}
    assert choose(Settings(ignore=("AD4",))) == {rule.code for rule in RULES} - set(OF_TURNS)
    assert choose(Settings(ignore=("AD4",), extend_select=("AD402",))) >= {"AD402", "AD101"}


def test_the_command_line_is_a_layer_over_it() -> None:
    assert choose(CONFIGURED, select=("AD402",)) == {"AD402"}, "what is selected there is not ignored by the file"
    assert choose(CONFIGURED, ignore=("AD404",)) == choose(CONFIGURED) - {"AD404"}
    assert choose(CONFIGURED, extend=("AD301",)) == choose(CONFIGURED) | {"AD301"}
    assert choose(CONFIGURED, extend=("AD402",)) == choose(CONFIGURED) | {"AD402"}
    assert choose(CONFIGURED, extend=("AD301",), ignore=("AD3", "AD4")) == {"AD301", "AD508"}
    assert choose(CONFIGURED, select=("AD3",), extend=("AD101",), ignore=("AD301",)) >= {"AD101", "AD302"}


def test_no_rule_left_is_a_mistake() -> None:
    with pytest.raises(DoctorError, match="no rule is left"):
        choose(CONFIGURED, ignore=("AD4", "AD5"))
    with pytest.raises(DoctorError, match="no rule matches 'AD999'"):
        choose(CONFIGURED, select=("AD999",))


def test_rules_are_left_out_by_path_and_options_are_set() -> None:
    tuning = Tuning("/p", (("old/**", ("AD301", "AD302")), ("*.tmp", ("AD101",))), (("AD508", (("harmless", ("torn",)),)),))
    plain = tune_rules(RULES, tuning, "/p/new/transcript.jsonl")
    assert [rule.code for rule in plain] == [rule.code for rule in RULES]
    assert {rule.code for rule in RULES} - {rule.code for rule in tune_rules(RULES, tuning, "/p/old/a/t")} == {"AD301", "AD302"}
    assert len(tune_rules(RULES, tuning, "")) == len(RULES), "standard input lies nowhere"
    set_rule = next(rule for rule in plain if rule.code == "AD508")
    default = next(rule for rule in RULES if rule.code == "AD508")
    assert set_rule.check.keywords == {"harmless": ("torn",)} and default.check.keywords == {"harmless": ("duplicate", "foreign")}  # type: ignore[attr-defined]


def find(code: str, severity: Severity, confidence: Confidence = Confidence.CONFIRMED) -> Diagnostic:
    return Diagnostic(code, "name", severity, confidence, "text", "t", 1, 1, 0, (), (), None)


def test_severities_are_stamped_anew_but_the_verdict_stays() -> None:
    found = (
        find("AD301", Severity.ERROR),
        find("AD402", Severity.INFO),
        find("AD404", Severity.INFO, Confidence.POSSIBLE),
        find("AD308", Severity.WARNING),
    )
    file = FileReport("t", "amplifier", "s", "after-fix", 1, found, fix=FixReport(before=found[:1]))
    after = restamp(file, (("AD301", Severity.INFO), ("AD402", Severity.ERROR), ("AD404", Severity.ERROR)))
    assert [one.severity.value for one in after.diagnostics] == ["info", "error", "warning", "warning"]
    assert [one.judged for one in after.diagnostics] == [Severity.ERROR, Severity.INFO, Severity.INFO, None]
    assert after.fix is not None and after.fix.before[0].severity is Severity.INFO
    assert after.verdict == "after-fix"
    assert restamp(file, (("AD999", Severity.ERROR),)) is file
