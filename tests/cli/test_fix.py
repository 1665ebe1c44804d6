from __future__ import annotations

import json
import os
from datetime import UTC
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.examples import event
from tests.cli.sessions import DISPLACED, MISSING, PROMPT, REPLY, SOUND, encode, result, write_session

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

NEEDS_UNSAFE = (PROMPT, REPLY, result("call_9"), PROMPT, REPLY)


def list_names(path: Path) -> list[str]:
    return sorted(name for name in os.listdir(path.parent) if name != "transcript.jsonl")


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_a_dry_run_writes_nothing_and_is_1(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, DISPLACED)
    assert main(["fix", option, str(path)]) == 1
    written = capsys.readouterr()
    assert "would apply 1 fix; nothing written" in written.out and written.err == ""
    assert written.out.splitlines()[-1] == f"next: amplifier-doctor fix {path}"
    assert path.read_bytes() == encode(DISPLACED) and list_names(path) == []


def test_a_diff_shows_the_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, DISPLACED)
    main(["fix", "--diff", str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("-{") for line in lines) == sum(line.startswith("+{") for line in lines) == 1


def test_a_dry_run_that_would_change_nothing_is_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--dry-run", str(write_session(tmp_path, SOUND))]) == 0
    assert "nothing to fix" in capsys.readouterr().out


def test_fix_then_check_then_undo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, DISPLACED)
    assert main(["fix", str(path)]) == 0
    fixed = capsys.readouterr()
    assert "applied 1 fix" in fixed.out and fixed.err == ""
    assert fixed.out.splitlines()[-2:] == ["now resumable · accepted by all providers", f"undo: amplifier-doctor undo {path}"]
    assert path.read_bytes() == encode([DISPLACED[0], DISPLACED[1], DISPLACED[3], DISPLACED[2], DISPLACED[4]])
    assert main(["check", str(path)]) == 0
    assert main(["fix", str(path)]) == 0
    capsys.readouterr()
    assert main(["undo", str(path)]) == 0
    assert "restored from" in capsys.readouterr().out
    assert path.read_bytes() == encode(DISPLACED)


def test_undo_without_a_fix_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["undo", str(write_session(tmp_path, SOUND))]) == 2
    written = capsys.readouterr()
    assert written.out == "" and written.err.count("\n") == 1 and "nothing to undo" in written.err


def test_undo_refuses_a_file_that_was_changed_since(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, DISPLACED)
    main(["fix", str(path)])
    with path.open("ab") as stream:
        stream.write(encode([PROMPT]))
    later = path.read_bytes()
    capsys.readouterr()
    assert main(["undo", str(path)]) == 2
    assert "--force" in capsys.readouterr().err and path.read_bytes() == later
    assert main(["undo", "--force", str(path)]) == 0
    assert path.read_bytes() == encode(DISPLACED)


def test_output_leaves_the_input_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, MISSING)
    target = tmp_path / "repaired.jsonl"
    assert main(["fix", str(path), "-o", str(target)]) == 0
    assert path.read_bytes() == encode(MISSING) and list_names(path) == []
    assert main(["check", str(target)]) == 0
    assert "undo:" not in capsys.readouterr().out
    assert main(["fix", str(path), "-o", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_what_needs_unsafe_is_held_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, NEEDS_UNSAFE)
    assert main(["fix", str(path)]) == 1
    out = capsys.readouterr().out
    assert "held back: 1 fix" in out and f"amplifier-doctor fix --dry-run --unsafe {path}" in out
    assert path.read_bytes() == encode(NEEDS_UNSAFE)
    assert main(["fix", "--unsafe", str(path)]) == 0
    assert encode([result("call_9")]) not in path.read_bytes()


def test_lost_rows_are_held_back_until_they_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, (PROMPT, REPLY))
    lines = [event(0, "execution:start", prompt=PROMPT["content"]), event(1, "orchestrator:complete", "success")]
    lines += [event(2, "execution:start", prompt="and now?"), event(3, "orchestrator:complete", "success")]
    (path.parent / "events.jsonl").write_text("".join(lines))
    assert main(["fix", str(path)]) == 1
    out = capsys.readouterr().out
    assert "held back: 1 fix" in out and f"amplifier-doctor fix --dry-run --recover {path}" in out
    assert path.read_bytes() == encode((PROMPT, REPLY))
    main(["fix", "--dry-run", "--recover", str(path)])
    out = capsys.readouterr().out
    assert "put the turn «and now?» back at the end" in out and "not put back: the reply is not in the event log" in out
    assert f"amplifier-doctor fix --recover {path}" in out
    assert main(["fix", "--recover", "--format", "json", str(path)]) == 0
    (applied,) = json.loads(capsys.readouterr().out)["files"][0]["fix"]["applied"]
    assert applied["source"] == "events.jsonl:3" and applied["missing"] == ["the reply is not in the event log"]
    assert path.read_bytes().startswith(encode((PROMPT, REPLY))) and b'"AD504"' in path.read_bytes()


def test_only_selected_rules_are_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, DISPLACED)
    assert main(["fix", "--select", "AD1", str(path)]) == 0
    assert path.read_bytes() == encode(DISPLACED)


def test_every_session_of_a_tree_is_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, rows in (("a", DISPLACED), ("b", SOUND), ("c", MISSING)):
        write_session(tmp_path / "tree", rows, name)
    assert main(["fix", str(tmp_path / "tree")]) == 0
    assert "2 files rewritten" in capsys.readouterr().out.splitlines()[-1]
    assert main(["check", str(tmp_path / "tree")]) == 0


def test_json_says_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, DISPLACED)
    assert main(["fix", "--format", "json", str(path)]) == 0
    outcome = json.loads(capsys.readouterr().out)["files"][0]["fix"]
    assert outcome["changed"] and [fix["code"] for fix in outcome["applied"]] == ["AD303"]
    assert Path(outcome["backup"]).read_bytes() == encode(DISPLACED)
    assert outcome["before"][0]["code"] == "AD303" and "diff" not in outcome


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fix", "-"], "needs a file"),
        (["fix", "{}", "{}", "-o", "x"], "--output takes one transcript"),
        (["fix", "{}/tree", "-o", "x"], "--output takes one transcript"),
        (["fix", "--diff", "--no-excerpt", "{}"], "leave one out"),
        (["fix", "{}/nowhere"], "can't find"),
        (["undo", "{}/tree"], "undo takes one transcript"),
        (["undo", "{}/nowhere"], "can't find"),
        (["undo"], "Missing argument"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        write_session(tmp_path / "tree", SOUND, name)
    assert main([word.replace("{}", str(tmp_path)) for word in arguments]) == 2
    written = capsys.readouterr()
    assert written.out == "" and words in written.err and written.err.count("\n") == 1


def write_open_execution(path: Path, time: str) -> None:
    """An event log whose only execution has not ended."""
    events = [
        {"ts": time, "event": event, "session_id": path.parent.name, "data": {"prompt": "list the files"}}
        for event in ("prompt:submit", "execution:start")
    ]
    path.with_name("events.jsonl").write_bytes(encode(events))


def test_a_live_session_is_looked_at_but_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from datetime import datetime

    path = write_session(tmp_path, DISPLACED)
    write_open_execution(path, datetime.now(UTC).isoformat(timespec="milliseconds"))
    assert main(["fix", "--dry-run", str(path)]) == 1
    capsys.readouterr()
    assert main(["fix", str(path)]) == 2
    assert "in use" in capsys.readouterr().err
    assert path.read_bytes() == encode(DISPLACED)
    assert main(["fix", "--force", str(path)]) in (0, 1)
    assert path.read_bytes() != encode(DISPLACED)


def test_what_is_suggested_for_a_session_without_a_file_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Neither an archive nor a session that was never saved has a file that a fix could replace: the suggestion says where to write."""
    import gzip
    import shlex

    monkeypatch.chdir(tmp_path)
    fixture = FIXTURES / "amplifier-seed-000" / "input" / "7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0"
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "transcript.jsonl.gz").write_bytes(gzip.compress((fixture / "transcript.jsonl").read_bytes()))
    (tmp_path / "unsaved" / fixture.name).mkdir(parents=True)
    (tmp_path / "unsaved" / fixture.name / "events.jsonl").write_bytes((fixture / "events.jsonl").read_bytes())
    for words in (["packed/transcript.jsonl.gz"], ["--recover", f"unsaved/{fixture.name}"]):
        main(["fix", "--dry-run", *words])
        suggested = capsys.readouterr().out.splitlines()[-1]
        assert suggested.startswith("next: amplifier-doctor fix -o repaired.jsonl ")
        assert main(shlex.split(suggested)[2:]) in (0, 1), capsys.readouterr().err
        (tmp_path / "repaired.jsonl").unlink()
        capsys.readouterr()
