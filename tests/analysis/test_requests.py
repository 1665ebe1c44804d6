"""Request bodies are checked as they are sent, under the doctor's codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import doctor
from doctor.errors import DoctorError
from doctor.findings import Severity

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "wires"
CASES = sorted(path.parent for path in FIXTURES.glob("*/request.json"))
GOOD: dict[str, Any] = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}], "system": "be kind"}
BAD: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a:1", "name": "bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a:1", "content": "ok"}]},
    ],
}


def check(path: Path, **how: Any) -> Any:
    report = doctor.check(str(path), environment={}, now=0.0, **how)
    assert report.errors == ()
    return report.files[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_smallest_request_that_breaks_a_rule_is_refused_with_its_text(case: Path) -> None:
    """Laid out over several lines, as people save a body; the API is told from the body alone, the server from a file beside it."""
    host = (case / "host.txt").read_text().strip() if (case / "host.txt").exists() else ""
    expected = (case / "expected.txt").read_text()
    rule, severity = expected.split()[:2]
    file = check(case / "request.json", host=host, wires=[_name_wire(rule)])
    assert file.format == "request" and file.rows == 1
    found = [seen for seen in file.diagnostics if f", {rule} at " in seen.message or f", {rule}: " in seen.message]
    assert found, [seen.message for seen in file.diagnostics]
    assert found[0].severity is (Severity.ERROR if severity == "E" else Severity.WARNING)
    text = expected.splitlines()[0].split(": ", 1)[1]
    assert not text or text.rstrip(".") in found[0].message


def _name_wire(rule: str) -> str:
    names = {"AN": "anthropic", "OR": "openai-responses", "GM": "gemini", "BC": "converse"}
    return "openai-responses" if rule == "DS-03" else names.get(rule[:2], "openai-chat")


def test_a_body_on_one_line_and_bodies_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(BAD))
    one = check(tmp_path / "body.json")
    assert [(seen.code, seen.line, seen.ids) for seen in one.diagnostics] == [("AD206", 1, ("a:1",)), ("AD206", 1, ("a:1",))]
    assert "messages.1.content.0.tool_use.id: String should match pattern" in one.diagnostics[0].message
    assert one.verdict == "not-resumable" and one.targets == ("anthropic",)
    (tmp_path / "bodies.jsonl").write_text(json.dumps(GOOD) + "\n" + json.dumps({"request": BAD, "host": "api.anthropic.com"}) + "\n")
    many = check(tmp_path / "bodies.jsonl")
    assert many.rows == 2 and [seen.line for seen in many.diagnostics] == [2, 2]
    (tmp_path / "list.json").write_text(json.dumps([GOOD, BAD], indent=1))
    assert check(tmp_path / "list.json").rows == 2


def test_an_accepted_body_has_no_finding(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(GOOD, indent=2))
    file = check(tmp_path / "body.json")
    assert file.diagnostics == () and file.verdict == "resumable"
    assert [(one.wire, one.answer) for one in file.wires] == [("anthropic", "accepted")]


def test_the_user_may_say_whom_a_body_is_for(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(GOOD | {"messages": [{"role": "user", "content": ""}]}))
    assert [seen.code for seen in check(tmp_path / "body.json").diagnostics] == ["AD208"]
    assert check(tmp_path / "body.json", wires=["openai-chat"]).diagnostics == ()
    assert check(tmp_path / "body.json", ignore=["AD208"]).diagnostics == ()


def test_the_model_decides_about_prefill(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "well"}]
    (tmp_path / "body.json").write_text(json.dumps({"system": "be kind", "messages": rows}))
    assert [(seen.code, seen.severity.value) for seen in check(tmp_path / "body.json").diagnostics] == [("AD401", "warning")]
    assert [seen.severity.value for seen in check(tmp_path / "body.json", model="claude-opus-4-6").diagnostics] == ["error"]
    assert check(tmp_path / "body.json", model="claude-sonnet-4-5").diagnostics == ()


def test_fix_does_not_touch_a_request(tmp_path: Path) -> None:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(BAD))
    report = doctor.fix(path, dry_run=False, environment={}, now=0.0)
    assert [failure.kind for failure in report.errors] == ["usage"] and "request bodies" in report.errors[0].message
    assert path.read_text() == json.dumps(BAD)


def test_an_unknown_wire_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(json.dumps(BAD))
    with pytest.raises(DoctorError, match="no wire 'claude'"):
        doctor.check(str(tmp_path / "body.json"), wires=["claude"])
