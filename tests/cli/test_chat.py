"""Chat logs at the command line: a view is written elsewhere, the log itself never; judged as a request; options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor.cli import main

U1 = {"id": "m1", "timestamp": "2026-01-01T07:00:00Z", "role": "user", "content": "Weather in Bergen?"}
U2 = {"id": "m2", "timestamp": "2026-01-01T07:00:04Z", "role": "user", "content": "And in Oslo?"}
A1 = {"id": "m3", "timestamp": "2026-01-01T07:00:07Z", "role": "assistant", "content": "Rain.", "replyTo": "m1"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "chat.jsonl", U1, U2, A1)


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def find(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    main([*words, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    return {found["code"]: found["severity"] for found in report["files"][0]["diagnostics"]}


def test_a_log_is_not_fixed_in_place(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = log.read_bytes()
    assert main(["fix", str(log)]) == 2
    said = capsys.readouterr().err
    view = log.with_name("chat.view.jsonl")
    assert said.count("\n") == 1 and f"amplifier-doctor fix -o {view} {log}" in said
    assert main(["fix", "--force", "-o", str(log), str(log)]) == 2
    assert log.read_bytes() == before and list(log.parent.iterdir()) == [log]


def test_the_view_ends_with_the_message_that_waits(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, view = log.read_bytes(), log.with_name("view.jsonl")
    main(["fix", "-o", str(view), str(log)])
    assert log.read_bytes() == before
    assert read_ids(view) == ["m1", "m3", "m2"]
    assert sorted(view.read_bytes().splitlines()) == sorted(before.splitlines())
    capsys.readouterr()
    assert find(capsys, "check", str(view)) == {"AD402": "warning", "AD712": "info"}
    again = log.with_name("again.jsonl")
    main(["fix", "-o", str(again), str(view)])
    assert again.read_bytes() == view.read_bytes()


def test_the_suggested_command_is_the_one_that_works(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(log)]) == 1
    suggested = capsys.readouterr().out.splitlines()[-1]
    assert suggested.startswith("next: amplifier-doctor fix -o ")
    assert main(suggested.split()[2:]) == 1
    assert read_ids(log.with_name("chat.view.jsonl")) == ["m1", "m3", "m2"]


def test_a_doubtful_move_has_to_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write(tmp_path / "chat.jsonl", U1, U2, {**A1, "replyTo": None})
    assert find(capsys, "check", str(log))["AD401"] == "warning"
    main(["fix", "-o", str(tmp_path / "safe.jsonl"), str(log)])
    main(["fix", "--unsafe", "-o", str(tmp_path / "unsafe.jsonl"), str(log)])
    assert read_ids(tmp_path / "safe.jsonl") == ["m1", "m2", "m3"]
    assert read_ids(tmp_path / "unsafe.jsonl") == ["m1", "m3", "m2"]


def test_a_list_stays_a_list(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"id": "c1", "messages": [U1, U2, A1], "note": "kept"}, indent=2))
    main(["fix", "-o", str(tmp_path / "view.json"), str(path)])
    view = json.loads((tmp_path / "view.json").read_text())
    assert [row["id"] for row in view.pop("messages")] == ["m1", "m3", "m2"]
    assert view == {"id": "c1", "note": "kept"}


AS_REQUEST = ("--as-request", "--for", "anthropic", "--model", "claude-opus-4-6")


def test_as_a_request_the_log_must_end_with_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write(tmp_path / "chat.jsonl", U1, A1)
    assert find(capsys, "check", str(log)) == {}
    assert find(capsys, "check", *AS_REQUEST, str(log)) == {"AD401": "error"}
    receipt = {"id": "s", "timestamp": "2026-01-01T07:00:08Z", "role": "system", "content": "✅ get_weather"}
    assert find(capsys, "check", *AS_REQUEST, str(write(log, U1, A1, receipt))) == {"AD401": "error"}
    asked = {**U2, "timestamp": "2026-01-01T07:00:09Z"}
    assert "AD401" not in find(capsys, "check", *AS_REQUEST, str(write(log, U1, A1, receipt, asked)))


def test_as_a_request_blank_content_and_the_first_message_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blank = write(tmp_path / "chat.jsonl", {**U1, "content": ""}, A1, {**U2, "timestamp": "2026-01-01T07:00:09Z"})
    assert find(capsys, "check", *AS_REQUEST, str(blank))["AD208"] == "error"
    assert find(capsys, "check", "--for", "anthropic", str(blank))["AD208"] == "info"
    opened = write(tmp_path / "chat.jsonl", {**A1, "replyTo": None}, {**U2, "timestamp": "2026-01-01T07:00:09Z"})
    assert find(capsys, "check", "--as-request", "--for", "converse", str(opened))["AD406"] == "warning"
    assert find(capsys, "check", "--for", "converse", str(opened))["AD406"] == "info"


def test_a_message_that_was_just_sent_is_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from doctor import check

    log = write(tmp_path / "chat.jsonl", U1, A1, {**U2, "timestamp": "2026-01-01T07:00:09Z"})
    (file,) = check(str(log), now=1767250819.0, environment={}).files
    assert file.verdict == "live" and {found.code for found in file.diagnostics} == {"AD605"}
    (file,) = check(str(log), now=1767250819.0 + 3600, environment={}).files
    assert [(found.code, found.severity) for found in file.diagnostics] == [("AD402", "warning")]


def test_the_pattern_of_logs_leaves_their_events_out(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(log.with_name("chat.events.jsonl"), {"type": "turn.start", "turnId": "t", "at": "2026-01-01T07:00:00Z"})
    assert main(["check", "--format", "concise", str(log.parent / "*.jsonl")]) == 1
    assert "tells of turns only" not in capsys.readouterr().err


def test_turns_are_drawn_on_a_time_line(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = ({"type": "turn.start", "turnId": "t", "at": "2026-01-01T07:00:00Z", "trigger": "m1"},
              {"type": "turn.end", "turnId": "t", "at": "2026-01-01T07:00:07Z", "status": "ok", "messages": ["m3"]})  # fmt: skip
    write(log, U1, U2, A1, *events)
    assert main(["timeline", str(log)]) == 0
    drawn = capsys.readouterr().out
    assert "1 execution" in drawn and "Weather in Bergen?" in drawn
