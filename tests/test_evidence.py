"""Which turns count as lost, and whether a transcript still bears a trace of what its event log shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor import evidence
from doctor.session import Session
from tests.sources.events.logs import SESSION_ID, LogWriter, write_turn
from tests.support.cases import open_example

CALL = {
    "role": "assistant",
    "content": [{"type": "tool_call", "id": "a", "name": "bash", "input": {}}],
    "tool_calls": [{"id": "a", "tool": "bash", "arguments": {}}],
}
PLACEHOLDER = {
    "role": "tool",
    "tool_call_id": "a",
    "name": "bash",
    "content": '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}',
}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def reply(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def write_rows(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def open_session(folder: Path, rows: list[dict[str, Any]], log: LogWriter, **files: str) -> Session:
    named = {"backup": "transcript.jsonl.backup", "rewind": "transcript.jsonl.bak-pre-rewind-20260801100000"}
    example = {"transcript.jsonl": write_rows(rows), "events.jsonl": b"\n".join(log.lines) + b"\n"}
    return open_example(example | {named[name]: text for name, text in files.items()}, folder / SESSION_ID)


def find_lost(session: Session) -> list[tuple[str, bool]]:
    return [(lost.execution.prompt, lost.is_certain) for lost in evidence.find_lost_turns(session)]


def write_log(*prompts: str) -> LogWriter:
    log = LogWriter()
    for number, prompt in enumerate(prompts):
        write_turn(log, prompt, f"c{number}")
    return log


def test_turn_that_the_transcript_lacks(tmp_path: Path) -> None:
    session = open_session(tmp_path, [user("one"), reply("1"), user("three"), reply("3")], write_log("one", "two", "three"))
    assert find_lost(session) == [("two", True)]
    lost = evidence.find_lost_turns(session)[0]
    assert [run.call_id for run in lost.runs] == ["c1"]
    assert lost.backup_lines is None
    assert evidence.bears_trace(session)


def test_backup_that_still_holds_it(tmp_path: Path) -> None:
    backup = write_rows([user("one"), reply("1"), user("two"), reply("a"), reply("b"), user("x")])
    session = open_session(tmp_path, [user("one"), reply("1")], write_log("one", "two"), backup=backup)
    assert evidence.find_lost_turns(session)[0].backup_lines == (2, 4)


@pytest.mark.parametrize(
    "stored",
    [
        [{"type": "text", "text": "two"}],
        "context for you: two",
        "<system-reminder>two</system-reminder>",
        [{"type": "text", "text": "first"}, {"type": "text", "text": "two"}],
    ],
)
def test_prompt_that_was_stored_in_another_form_is_not_lost(tmp_path: Path, stored: Any) -> None:
    assert find_lost(open_session(tmp_path, [user("one"), user(stored)], write_log("one", "two"))) == []


def test_cleared_context_is_no_loss(tmp_path: Path) -> None:
    session = open_session(tmp_path, [user("three"), reply("3")], write_log("one", "two", "three"))
    assert find_lost(session) == []


def test_rewound_session_is_no_loss(tmp_path: Path) -> None:
    session = open_session(tmp_path, [user("one"), reply("1")], write_log("one", "two"), rewind="")
    assert find_lost(session) == []


def test_turn_that_failed_before_anything_was_done_is_no_loss(tmp_path: Path) -> None:
    log = write_log("one")
    log.start("two")
    log.ask(1)
    log.end("error")
    assert find_lost(open_session(tmp_path, [user("one"), reply("1")], log)) == []


def test_compaction_after_the_turn_makes_it_doubtful(tmp_path: Path) -> None:
    log = write_log("one", "two")
    log.add("context:compaction")
    assert find_lost(open_session(tmp_path, [user("one"), reply("1")], log)) == [("two", False)]


def test_redacted_prompt_is_not_judged(tmp_path: Path) -> None:
    log = write_log("one")
    log.add("execution:start", {"prompt": "[REDACTED:KEY]"})
    log.end()
    assert find_lost(open_session(tmp_path, [user("one"), reply("1")], log)) == []


def test_same_words_twice_the_one_whose_call_is_missing_is_lost(tmp_path: Path) -> None:
    kept = CALL | {"tool_calls": [{"id": "c2", "tool": "bash", "arguments": {}}]}
    kept["content"] = [{"type": "tool_call", "id": "c2", "name": "bash", "input": {}}]
    result = {"role": "tool", "name": "bash", "tool_call_id": "c2", "content": "ok"}
    session = open_session(tmp_path, [user("one"), reply("1"), user("go on"), kept, result], write_log("one", "go on", "go on"))
    assert [[run.call_id for run in lost.runs] for lost in evidence.find_lost_turns(session)] == [["c1"]]


def test_sound_transcript_bears_no_trace(tmp_path: Path) -> None:
    session = open_session(tmp_path, [user("one"), reply("1")], write_log("one"))
    assert not evidence.bears_trace(session)
    assert evidence.find_lost_turns(open_example(write_rows([user("one")]), tmp_path / "alone")) == []


@pytest.mark.parametrize("is_finished", [True, False])
def test_placeholder_is_a_trace_once_its_call_finished(tmp_path: Path, is_finished: bool) -> None:
    log = LogWriter()
    log.start("one")
    log.call("a")
    if is_finished:
        log.finish("a")
    session = open_session(tmp_path, [user("one"), CALL, PLACEHOLDER, reply("1")], log)
    assert evidence.bears_trace(session) is is_finished
    assert evidence.find_standing_placeholders(session) == ([2] if is_finished else [])


def test_words_for_people(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("first line\nsecond " + "x" * 100)
    execution = open_session(tmp_path, [user("one")], log).events.executions[0]  # type: ignore[union-attr]
    assert evidence.describe_execution(execution) == f"«first line second {'x' * 41}…» (events 2-2, no end written)"
    assert evidence.clock_time("2026-08-01T10:20:30.123456789+00:00") == "10:20:30.123"
    assert evidence.clock_time("2026-08-01T10:20:30Z") == "10:20:30"
    assert evidence.draw_execution(execution).end_line == -1


def test_a_backup_of_what_was_cleared_is_no_lost_turn(tmp_path: Path) -> None:
    """The client copies the old rows to its backup when it saves the first turn behind a cleared context."""
    before = [user("one"), reply("1"), user("two"), reply("2")]
    session = open_session(tmp_path, [user("three"), reply("3")], write_log("one", "two", "three"), backup=write_rows(before))
    assert find_lost(session) == []


def test_a_turn_behind_two_that_are_there_was_not_compacted(tmp_path: Path) -> None:
    log = write_log("one", "two", "three", "four")
    log.add("context:compaction")
    rows = [user("one"), reply("1"), user("two"), reply("2"), user("four"), reply("4")]
    assert find_lost(open_session(tmp_path, rows, log)) == [("three", True)]
