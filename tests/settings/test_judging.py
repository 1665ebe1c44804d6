"""What a configuration may hold: the JSON Schema decides, the quick look agrees with it, and each mistake is one line with file and key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.analysis.registry import load_rules
from doctor.errors import DoctorError
from doctor.findings import Severity
from doctor.settings.judging import is_plainly_sound, judge_settings
from doctor.settings.schema import build_schema

RULES = load_rules()
SCHEMA = build_schema(RULES)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SHIPPED = Path(__file__).parents[2] / "doctor" / "settings" / "configuration.schema.json"


def judge(values: dict[str, Any], table: str = "tool.amplifier-doctor") -> Any:
    return judge_settings(values, RULES, file="pyproject.toml", table=table, folder="/project")


def test_the_shipped_schema_is_current(update: bool) -> None:
    document = json.dumps(SCHEMA, indent=2) + "\n"
    if update:
        SHIPPED.write_text(document, "utf-8")
    assert SHIPPED.read_text("utf-8") == document


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_everything_at_once() -> None:
    settings = judge(
        {
            "select": ["AD3", "torn-line", "ALL"],
            "extend-select": ["AD508"],
            "ignore": ["AD402"],
            "severity": {"AD3": "warning", "AD308": "error"},
            "per-file-ignores": {"old/**": ["AD301", "AD30"]},
            "for": ["anthropic", "gemini", "anthropic"],
            "fail-on": "error",
            "include": ["recordings/**"],
            "exclude": ["scratch"],
            "baseline": "ci/../accepted.json",
            "jobs": 4,
            "rules": {"AD508": {"harmless": ["torn"]}, "AD308": {"expected": ["call_*"]}},
        }
    )
    severities = dict(settings.severity)
    assert severities["AD308"] is Severity.ERROR and severities["AD301"] is Severity.WARNING and "AD402" not in severities
    assert settings.wires == ("anthropic", "gemini") and settings.fail_on is Severity.ERROR and settings.jobs == 4
    assert settings.baseline.replace("\\", "/").endswith("/project/accepted.json")
    assert settings.tuning.options == (("AD308", (("expected", ("call_*",)),)), ("AD508", (("harmless", ("torn",)),)))
    assert settings.tuning.per_file_ignores[0][0] == "old/**" and "AD301" in settings.tuning.per_file_ignores[0][1]
    assert settings.idle == ()
    assert repr(settings.tuning) == repr(judge(json.loads(json.dumps({"per-file-ignores": {"old/**": ["AD301", "AD30"]}, "rules": {
        "AD308": {"expected": ["call_*"]}, "AD508": {"harmless": ["torn"]}}}))).tuning)  # fmt: skip


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"selct": []}, "pyproject.toml: tool.amplifier-doctor.selct: there is no such key (did you mean select?)"),
        ({"nonsense": 1, "select": "AD3"}, "nonsense: there is no such key; there are select, extend-select"),
        ({"select": "AD3"}, "pyproject.toml: tool.amplifier-doctor.select: it must be a list, not a string"),
        ({"select": ["AD3", 4]}, "select: item 2: it must be a string, not an integer"),
        ({"ignore": ["AD999"]}, "ignore: item 1: no rule matches 'AD999'"),
        ({"ignore": ["ad308"]}, "did you mean AD308?"),
        ({"ignore": ["missing-tool-resul"]}, "did you mean missing-tool-result?"),
        ({"severity": {"AD308": "fatal"}}, "severity.AD308: 'fatal' is not one of error, warning, info"),
        ({"severity": {"AD999": "error"}}, "severity.AD999: no rule matches 'AD999'"),
        ({"severity": ["AD308"]}, "severity: it must be a table, not a list"),
        ({"per-file-ignores": {"x": "AD3"}}, "per-file-ignores.x: it must be a list, not a string"),
        ({"per-file-ignores": {"": ["AD3"]}}, "per-file-ignores: it must not be empty"),
        ({"for": ["antropic"]}, "for: item 1: 'antropic' is not one of anthropic, openai-chat"),
        ({"fail-on": "never"}, "fail-on: 'never' is not one of error, warning, info"),
        ({"fail-on": True}, "fail-on: it must be a string, not true or false"),
        ({"exclude": [""]}, "exclude: item 1: it must not be empty"),
        ({"baseline": 3}, "baseline: it must be a string, not an integer"),
        ({"jobs": 0}, "jobs: it must be auto or a number from 1 to 256, not 0"),
        ({"jobs": "two"}, "jobs: it must be auto or a number from 1 to 256, not 'two'"),
        ({"jobs": True}, "jobs: it must be auto or a number from 1 to 256, not True"),
        ({"rules": {"AD301": {}}}, "rules.AD301: there is no rule AD301 with options; there are AD308, AD508"),
        ({"rules": {"AD508": {"harmles": []}}}, "rules.AD508.harmles: there is no such key (did you mean harmless?)"),
        ({"rules": {"AD508": {"harmless": ["dirt"]}}}, "rules.AD508.harmless: item 1: 'dirt' is not one of torn, glued"),
        ({"rules": {"AD508": {"harmless": "torn"}}}, "rules.AD508.harmless: it must be a list, not a string"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_key(values: dict[str, Any], message: str) -> None:
    with pytest.raises(DoctorError) as caught:
        judge(values)
    assert message in caught.value.message and "\n" not in caught.value.message
    assert caught.value.message.startswith("pyproject.toml: tool.amplifier-doctor.") and caught.value.kind == "usage"


def test_several_mistakes_are_counted() -> None:
    with pytest.raises(DoctorError, match=r"\(and 1 more\)"):
        judge({"jobs": 0, "fail-on": "never"})


def test_a_whole_number_with_a_point_is_one() -> None:
    """JSON Schema says so, and it decides."""
    assert judge({"jobs": 2.0}).jobs == 2


@pytest.mark.parametrize(("value", "jobs"), [(1, 1), (256, 256), ("auto", 0)])
def test_jobs_are_a_number_or_auto(value: object, jobs: int) -> None:
    assert judge({"jobs": value}).jobs == jobs
    assert judge({}).jobs is None


@pytest.mark.parametrize(
    ("values", "idle"),
    [
        ({"ignore": ["AD4"], "severity": {"AD402": "error", "AD301": "info"}}, ("severity.AD402",)),
        ({"select": ["AD1"], "ignore": ["AD3", "AD101"]}, ("ignore: AD3",)),
        ({"ignore": ["AD508"], "rules": {"AD508": {"harmless": []}}}, ("rules.AD508",)),
        ({"select": ["AD1"], "per-file-ignores": {"x": ["AD3", "AD101"]}}, ('per-file-ignores."x": AD3',)),
        ({"select": ["AD1"], "severity": {"ALL": "error"}}, ()),
    ],
)
def test_settings_about_rules_that_are_left_out_are_idle(values: dict[str, Any], idle: tuple[str, ...]) -> None:
    assert judge(values).idle == idle


SCALARS = st.one_of(
    st.sampled_from(["AD3", "ALL", "AD301", "AD999", "error", "fatal", "anthropic", "torn", ""]),
    st.integers(-1, 3),
    st.booleans(),
    st.floats(0, 2),
)
KEYS = st.sampled_from([*SCHEMA["properties"], "selct", "AD308", "AD508", "AD301", "AD3", "harmless", "expected", "x/**", ""])
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=2)), max_leaves=6)


@given(st.dictionaries(KEYS, VALUES, max_size=3))
def test_the_quick_look_never_passes_what_the_schema_refuses(values: dict[str, Any]) -> None:
    refused = [error.message for error in VALIDATOR.iter_errors(values)]
    assert not (is_plainly_sound(values, SCHEMA, SCHEMA["$defs"]) and refused)


SOUND = st.fixed_dictionaries(
    {},
    optional={
        "select": st.lists(st.sampled_from(["ALL", "AD3", "AD301", "torn-line"])),
        "severity": st.dictionaries(st.sampled_from(["AD3", "AD301"]), st.sampled_from(["error", "warning", "info"])),
        "per-file-ignores": st.dictionaries(st.sampled_from(["x", "a/**"]), st.lists(st.just("AD3"))),
        "fail-on": st.sampled_from(["error", "info"]),
        "for": st.lists(st.sampled_from(["anthropic", "gemini"])),
        "exclude": st.lists(st.text(min_size=1)),
        "baseline": st.text(min_size=1),
        "jobs": st.integers(1, 99) | st.just("auto"),
        "rules": st.fixed_dictionaries({}, optional={"AD508": st.fixed_dictionaries({}, optional={"harmless": st.lists(st.just("torn"))})}),
    },
)


@given(SOUND)
def test_the_quick_look_passes_what_people_write(values: dict[str, Any]) -> None:
    """Else every run would import jsonschema, which takes longer than a check."""
    jsonschema.validate(values, SCHEMA)
    assert is_plainly_sound(values, SCHEMA, SCHEMA["$defs"])
