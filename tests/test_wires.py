"""The providers' contracts and everything else together: what they refuse is found, quoted, fixed where it can be, and never made worse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

import doctor
from doctor.refusals import WIRES
from tests.support.cases import NOW
from tests.support.damage import damage_session
from tests.support.properties import Room, find_unexplained_refusals
from tests.support.sessions import build_session

FIXTURES = Path(__file__).parent.parent / "fixtures"
TRANSCRIPTS = sorted(FIXTURES.glob("*/input/**/transcript.jsonl"))
USER = {"role": "user", "content": "go"}
REPLY = {"role": "assistant", "content": "done"}


def call(*ids: str, **arguments: Any) -> dict[str, Any]:
    blocks = [{"type": "tool_call", "id": id, "name": "bash", "input": arguments} for id in ids]
    return {"role": "assistant", "content": blocks, "tool_calls": [{"id": id, "tool": "bash", "arguments": arguments} for id in ids]}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "name": "bash", "tool_call_id": id, "content": "ok"}


def thinking(signature: str | None, text: str = "well") -> dict[str, Any]:
    block = {"type": "thinking", "thinking": "hm", "signature": signature}
    return {"role": "assistant", "content": [block, {"type": "text", "text": text}]}


def write(folder: Path, *rows: dict[str, Any], **beside: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "transcript.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, value in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return path


def check(path: Path, **how: Any) -> Any:
    report = doctor.check(str(path), now=NOW, environment={}, **how)
    assert report.errors == ()
    return report.files[0]


def fix(path: Path, **how: Any) -> Any:
    return doctor.fix(path, now=NOW, environment={}, **how)


def find(file: Any) -> list[tuple[str, str]]:
    return [(seen.code, seen.severity.value) for seen in file.diagnostics]


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.relative_to(FIXTURES).parts[0])
def test_a_safe_fix_leaves_no_refusal_that_nothing_explains(transcript: Path, tmp_path: Path) -> None:
    """What a safe fix can't cure is named by a finding that needs --unsafe or a person."""
    files = {path.name: path.read_bytes() for path in transcript.parent.iterdir() if path.is_file()}
    with Room(files) as room:
        report = room.fix(dry_run=False)
        assert report.errors == ()
        assert find_unexplained_refusals(room) == []


def test_the_check_for_unexplained_refusals_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"role": "user", "content": ""}, REPLY]
    with Room({"transcript.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode()}) as room:
        assert find_unexplained_refusals(room) == []
        plain = doctor.check
        monkeypatch.setattr(doctor, "check", lambda *paths, **how: plain(*paths, **how, ignore=["AD208"]))
        assert any("AN-12" in refusal for refusal in find_unexplained_refusals(room))


def test_findings_about_pairs_quote_every_provider(tmp_path: Path) -> None:
    file = check(write(tmp_path / "s", USER, call("a"), USER, result("a"), REPLY))
    (found,) = file.diagnostics
    assert found.code == "AD303"
    # Gemini and Converse merge the neighbouring user rows before they look, Responses looks at ids only.
    quoted = dict(found.wires)
    assert quoted["anthropic"].startswith("messages.1: `tool_use` ids were found without")
    assert quoted["openai-chat"].endswith("did not have response messages: a") and "openai-responses" not in quoted
    assert {one.wire: one.answer for one in file.wires}["openai-responses"] == "accepted"


def test_severity_is_for_the_target(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, call("functions.bash:0"), result("functions.bash:0"), REPLY)
    assert find(check(path)) == [("AD206", "error")]
    assert find(check(path, wires=["anthropic"])) == [("AD206", "error")]
    assert find(check(path, wires=["openai-responses"])) == []
    path = write(tmp_path / "t", USER, call("x" * 50), result("x" * 50), REPLY)
    file = check(path, wires=["openai-chat"])
    assert find(file) == [("AD206", "warning")] and "until early 2026" in file.diagnostics[0].message
    assert file.diagnostics[0].wires == () and file.diagnostics[0].confidence.value == "possible"


def test_the_recorded_provider_is_the_target(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, thinking(None), metadata={"model": "gpt-5.2"})
    file = check(path)
    assert find(file) == [] and (file.targets, file.aim) == (("openai-responses",), "recorded")
    assert {one.wire for one in file.wires if one.answer == "refused"} == {"anthropic"}


def test_prefill_as_a_request(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, REPLY)
    assert find(check(path)) == []
    assert find(check(path, as_request=True)) == [("AD401", "warning")]
    assert find(check(path, as_request=True, model="claude-opus-4-6")) == [("AD401", "error")]
    assert find(check(path, as_request=True, model="claude-sonnet-4-5")) == []
    assert find(check(path, as_request=True, wires=["openai-chat"])) == []


def test_an_id_is_renamed_on_both_sides(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, call("a:1", "a_1"), result("a_1"), result("a:1"), REPLY)
    report = fix(path, dry_run=False, unsafe=True)
    assert report.errors == () and report.files[0].diagnostics == ()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    new = rows[3]["tool_call_id"]
    assert new not in ("a:1", "a_1") and rows[2]["tool_call_id"] == "a_1"
    assert [item["id"] for item in rows[1]["tool_calls"]] == [new, "a_1"] == [block["id"] for block in rows[1]["content"]]


def test_thinking_goes_only_for_the_provider_that_was_named(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, thinking(None), USER, thinking("c2ln"), metadata={"model": "claude-sonnet-4-5"})
    before = path.read_bytes()
    assert fix(path, dry_run=False, unsafe=True).files[0].fix.changed is False and path.read_bytes() == before
    report = fix(path, dry_run=False, unsafe=True, wires=["anthropic"])
    assert report.errors == () and find(report.files[0]) == []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[1]["content"] == [{"type": "text", "text": "well"}] and rows[3]["content"][0]["signature"] == "c2ln"
    warning = report.files[0].fix.warning
    assert "row 4 of the fixed" in warning and "bound to a different conversation" in warning


@pytest.mark.parametrize(("rows", "warned"), [((thinking("c2ln"),), True), ((REPLY,), False)])
def test_a_warning_about_thinking_behind_the_change(rows: tuple[dict[str, Any], ...], warned: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, call("a"), USER, result("a"), *rows)
    planned = fix(path).files[0].fix
    assert planned.changed and bool(planned.warning) is warned
    assert fix(path, wires=["openai-chat"]).files[0].fix.warning == ""
    early = write(tmp_path / "t", USER, *rows, USER, call("a"), USER, result("a"), REPLY)
    assert fix(early).files[0].fix.warning == "", "thinking before the change stays valid"


def test_a_plan_that_leaves_a_refusal_is_not_written(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, call("a"), USER, result("a"), {"role": "user", "content": ""}, REPLY)
    before = path.read_bytes()
    report = fix(path, dry_run=False, wires=["anthropic"])
    (failure,) = report.errors
    assert failure.kind == "refused" and path.read_bytes() == before
    assert "anthropic would still answer 400: messages.4: user messages must have non-empty content" in failure.message
    assert "--unsafe" in failure.message and "nothing was written" in failure.message and "\n" not in failure.message
    assert not list(path.parent.glob("*doctor*"))
    assert fix(path, wires=["openai-chat"]).errors == ()
    assert fix(path).errors == (), "without --for what can be fixed is fixed"
    assert fix(path, wires=list(WIRES), unsafe=True, dry_run=False).errors == ()
    assert {one.answer for one in check(path).wires} == {"accepted"}


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_a_fix_for_all_wires_leaves_all_of_them_content_or_the_file_alone(start: int) -> None:
    written = refused = 0
    for seed in range(start, start + 40):
        random = Random(f"wires {seed}")
        files, damage = damage_session(build_session(random), random)
        with Room(files) as room:
            report = room.fix(dry_run=False, wires=WIRES)
            if report.errors:
                assert {failure.kind for failure in report.errors} <= {"refused", "unreadable", "live"}, (seed, damage, report.errors)
                assert room.read() == files["transcript.jsonl"], seed
                refused += 1
            elif report.files[0].fix.changed:
                assert {one.answer for one in report.files[0].wires} <= {"accepted", "depends"}, (seed, damage)
                written += 1
    assert written >= 10 and refused >= 1


def test_explain_error_finds_the_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "s", USER, call("toolu_1"), USER, result("toolu_1"), REPLY)
    text = check(path, wires=["anthropic"]).diagnostics[0].wires[0][1]
    log = f"12:00:01 INFO starting\n12:00:02 ERROR 400 {json.dumps({'error': {'message': text}})}\n12:00:03 INFO bye"
    (explained,) = doctor.explain_error(log, path, now=NOW, environment={})
    assert (explained.rule, explained.ids, explained.codes[0]) == ("AN-01", ("toolu_1",), "AD301")
    assert [(place.row, place.what) for place in explained.places] == [(2, "calls bash toolu_1"), (4, "result for toolu_1")]
    assert [found.code for found in explained.findings] == ["AD303"]


def test_a_session_moves_to_another_folder_unchanged(tmp_path: Path) -> None:
    """The seed session names its provider in its events; without them its metadata does not, and all are asked."""
    source = FIXTURES / "amplifier-seed-000" / "input" / "7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0"
    shutil.copytree(source, tmp_path / source.name)
    file = check(tmp_path / source.name)
    assert (file.targets, file.aim, file.model) == (("anthropic",), "recorded", "claude-sonnet-4-5")
