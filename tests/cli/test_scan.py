"""`amplifier-doctor scan`: stores and folders, what is shown, and the exit code."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.cli.commands.scan import read_since, write_slug
from doctor.errors import DoctorError
from tests.cli.sessions import DISPLACED, SOUND, write_session

OLD = 40 * 86_400
ROOT = "3f1c2b7a-5d0e-4c9b-9a55-0f7e6b1d2c3a"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two projects of the command line and a workspace of the agent."""
    for name in ("AMPLIFIER_HOME", "AMPLIFIER_AGENT_HOME", "AMPLIFIER_SESSION_STATE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    write_session(tmp_path / ".amplifier/projects/-home-a/sessions", SOUND, "aaaa1111-sound")
    write_session(tmp_path / ".amplifier/projects/-home-b/sessions", DISPLACED, "bbbb2222-displaced")
    old = write_session(tmp_path / ".amplifier-agent/state/workspaces/ws/sessions", SOUND, "cccc3333-old")
    os.utime(old, (time.time() - OLD, time.time() - OLD))
    return tmp_path


def scan(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """The exit code, and the ids in the order in which they are shown."""
    code = main(["scan", "--format", "jsonl", *words])
    return code, [json.loads(line)["session_id"] for line in capsys.readouterr().out.splitlines()]


def test_all_stores_of_the_machine_are_looked_through(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scan(capsys) == (1, ["bbbb2222-displaced", "aaaa1111-sound", "cccc3333-old"])
    assert scan(capsys, "--broken") == (1, ["bbbb2222-displaced"])
    assert scan(capsys, "--since", "7d") == (1, ["bbbb2222-displaced", "aaaa1111-sound"])
    assert scan(capsys, "--project", "home-a") == (0, ["aaaa1111-sound"])
    assert scan(capsys, "--exit-zero", "--broken") == (0, ["bbbb2222-displaced"])
    assert scan(capsys, str(home / ".amplifier-agent")) == (0, ["cccc3333-old"])


def test_people_get_a_table_and_programs_one_object(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("session") and lines[1].startswith("bbbb2222  -home-b") and lines[1].endswith("after fix")
    assert lines[-1] == "3 sessions: 2 resumable, 1 after fix"
    assert main(["scan", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["summary"]["broken"] == 1 and len(report["roots"]) == 2


def test_what_the_table_shows_can_be_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "aaaa1111"]) == 0
    assert main(["check", "bbbb"]) == 1
    assert main(["fix", "bbbb"]) == 0 and main(["check", "bbbb"]) == 0
    assert main(["undo", "bbbb"]) == 0 and main(["check", "bbbb"]) == 1


def test_one_that_can_not_be_read_is_told_and_stops_nobody(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(home / ".amplifier/projects/-home-b/sessions", SOUND, "dddd4444-foreign")
    path.write_bytes(b'{"type": "session_meta", "payload": {}}\n')
    assert main(["scan"]) == 2
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 7 and "dddd4444" in said.out and said.err.count("\n") == 1


@pytest.mark.parametrize("words", [("no/such/folder",), ("--since", "soon"), ("--format", "xml")])
def test_wrong_usage_is_one_line(home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    assert main(["scan", *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1


def test_a_machine_without_stores_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["scan"]) == 2
    assert str(tmp_path / ".amplifier" / "projects") in capsys.readouterr().err


def test_sub_sessions_are_checked_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parent = write_session(tmp_path, SOUND, ROOT)
    child = write_session(tmp_path, DISPLACED, f"{ROOT}_explorer")
    never_saved = tmp_path / "0000000000000000-5a1b2c3d4e5f6071_self"
    never_saved.mkdir()
    fork = {"ts": "2026-01-02T03:00:00Z", "event": "session:fork", "data": {"parent_id": ROOT}}
    (never_saved / "events.jsonl").write_text(json.dumps(fork) + "\n")
    assert main(["check", str(parent.parent)]) == 0
    capsys.readouterr()
    assert main(["check", "--children", "--format", "json", str(parent.parent)]) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["path"] for file in files] == [str(parent), str(never_saved / "transcript.jsonl"), str(child)]
    assert [file["verdict"] for file in files] == ["resumable", "not-resumable", "after-fix"]
    assert "re-delegate" in files[1]["diagnostics"][0]["message"]


def test_since_takes_ages_and_dates() -> None:
    assert read_since("2h", 10_000.0) == 2_800.0
    assert read_since("2026-08-01T00:00:00+00:00", 0.0) == 1_785_542_400.0
    with pytest.raises(DoctorError):
        read_since("1y", 0.0)
    assert write_slug("/home/dev/pro:ject") == "-home-dev-project"


def test_a_transcript_that_is_no_file_has_its_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, make in (("link", lambda path: path.symlink_to("nowhere")), ("pipe", os.mkfifo), ("folder", lambda path: path.mkdir())):
        (tmp_path / name).mkdir()
        make(tmp_path / name / "transcript.jsonl")
    code, ids = scan(capsys, str(tmp_path))
    assert code == 2 and sorted(ids) == ["folder", "link", "pipe"]
