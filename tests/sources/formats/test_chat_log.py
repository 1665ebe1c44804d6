"""Chat logs are known by their rows, Amplifier transcripts are never taken for one, and nothing of Amplifier's is looked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.session import Session
from doctor.sources.formats import detect_format
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.support.cases import NOW

FIRST = {"id": "m1", "timestamp": "2026-01-01T07:00:00Z", "role": "user", "content": "hi"}
REPLY = {"id": "m2", "timestamp": "2026-01-01T07:00:03Z", "role": "assistant", "content": "hello", "replyTo": "m1"}
START = {"type": "turn.start", "turnId": "t1", "at": "2026-01-01T07:00:00Z", "trigger": "m1"}
END = {"type": "turn.end", "turnId": "t1", "at": "2026-01-01T07:00:03Z", "status": "ok", "messages": ["m2"]}


def write(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def detect(text: str, path: str = "chat.jsonl") -> str:
    return str(detect_format(MemorySource(text.encode()), path).NAME)


@pytest.mark.parametrize(
    ("row", "path", "name"),
    [
        (FIRST, "chat.jsonl", "chat-log"),
        (FIRST, "transcript.jsonl", "chat-log"),
        ({"role": "user", "content": "hi", "timestamp": 1767250800}, "chat.jsonl", "chat-log"),
        ({"role": "user", "content": "hi", "timestamp": "2026-01-01T07:00:00Z"}, "transcript.jsonl", "amplifier"),
        ({"role": "user", "content": "hi", "timestamp": "2026-01-01T07:00:00Z"}, "transcript.jsonl.backup", "amplifier"),
        ({"role": "user", "content": "hi", "metadata": {"timestamp": "2026-01-01T07:00:00Z"}}, "copy.jsonl", "amplifier"),
        ({"role": "user", "content": 'say "timestamp"'}, "copy.jsonl", "amplifier"),
        ({"role": "user", "content": "hi"}, "copy.jsonl", "amplifier"),
        ({"content": "hi", "role": "user"}, "copy.jsonl", "amplifier"),
        ({"id": "m1", "role": "user", "content": "hi"}, "copy.jsonl", "amplifier"),
    ],
)
def test_what_a_row_is_taken_for(row: dict[str, Any], path: str, name: str) -> None:
    assert detect(json.dumps(row) + "\n", path) == name


def test_an_old_transcript_under_another_name_is_known_by_its_calls() -> None:
    call = {"id": "a", "tool": "bash", "arguments": {}}
    rows = [
        {"role": "user", "content": "hi", "timestamp": "2025-01-01T07:00:00Z"},
        {"role": "assistant", "content": "", "tool_calls": [call], "timestamp": "2025-01-01T07:00:01Z"},
    ]
    assert detect("".join(json.dumps(row) + "\n" for row in rows), "old.jsonl") == "amplifier"


def test_turn_rows_may_come_first() -> None:
    assert detect(json.dumps(START) + "\n" + json.dumps(FIRST) + "\n") == "chat-log"
    assert detect((json.dumps(START) + "\n") * 30 + json.dumps(FIRST) + "\n") == "chat-log"
    with pytest.raises(DoctorError, match="name the chat log"):
        detect(json.dumps(START) + "\n" + json.dumps(END) + "\n")


@pytest.mark.parametrize("lines", [1, 2, 3])
@pytest.mark.parametrize("order", [("id", "timestamp", "role", "content"), ("role", "content", "id", "timestamp")])
def test_half_characters_say_nothing_against_a_chat_log(order: tuple[str, ...], lines: int) -> None:
    """JavaScript writes half of an emoji that a limit cut as an escape: the fast parser refuses such a row."""
    row = {key: FIRST[key] for key in order} | {"content": "cut \ud83d"}
    assert detect((json.dumps(row) + "\n") * lines) == "chat-log"
    assert detect(json.dumps(START) + "\n" + (json.dumps(row) + "\n") * lines) == "chat-log"
    damaged = MemorySource(b'{"role": "us\n' + json.dumps(row).encode() + b"\n")
    assert detect_format(damaged, "chat.jsonl").NAME == "chat-log"


def test_a_list_of_messages_is_told_from_a_request() -> None:
    rows = [{"role": "user", "content": "hi", "timestamp": 1767250800}]
    assert detect(json.dumps(rows), "a.json") == "messages"
    assert detect(json.dumps(rows, indent=1), "a.json") == "messages"
    assert detect("[" + json.dumps(rows[0]) + ",\n" + json.dumps(rows[0]) + "]\n", "a.json") == "messages"
    assert detect(json.dumps({"id": 1, "messages": rows}), "a.json") == "messages"
    assert detect(json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}), "a.json") == "request"


def open_log(path: str, **how: Any) -> Session:
    return read_session(path, **({"now": NOW} | how))


def test_events_lie_beside_or_are_named_or_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", FIRST, REPLY)
    write(tmp_path / "chat.events.jsonl", START, END)
    other = write(tmp_path / "other.jsonl", START)
    beside, named, without = open_log(path), open_log(path, events=other), open_log(path, events=False)
    assert beside.events is not None and [turn.messages for turn in beside.events.turns] == [("m2",)]
    assert named.events is not None and named.events.path == other and named.events.open_execution is not None
    assert without.events is None


def test_an_events_file_that_tells_of_no_turn_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", FIRST, REPLY)
    other = write(tmp_path / "other.jsonl", {"event": "tool:pre"})
    with pytest.raises(DoctorError, match=r"no turn\.start"):
        open_log(path, events=other)


def test_damage_in_the_events_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", FIRST, REPLY)
    (tmp_path / "chat.events.jsonl").write_text(json.dumps(START) + '\n{"type": "turn.e\n' + json.dumps(END) + "\n")
    log = open_log(path).events
    assert log is not None and [(problem.line, problem.count) for problem in log.problems] == [(1, 1)]
    assert len(log.executions) == 1 and log.executions[0].end_line == 2


def test_amplifier_files_beside_a_chat_log_are_not_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", FIRST, REPLY)
    write(tmp_path / "events.jsonl", {"event": "execution:start"})
    (tmp_path / "metadata.json").write_text("{")
    session = open_log(path)
    assert session.events is None and session.metadata is None and session.folder is None and session.backup is None


def test_a_fresh_question_is_live(tmp_path: Path) -> None:
    moment = 1767250800.0
    path = write(tmp_path / "chat.jsonl", {**FIRST, "timestamp": moment})
    assert open_log(path, now=moment + 60).liveness.is_live
    assert not open_log(path, now=moment + 3600).liveness.is_live
    answered = write(tmp_path / "answered.jsonl", {**FIRST, "timestamp": moment}, {**REPLY, "timestamp": moment + 3})
    assert not open_log(answered, now=moment + 60).liveness.is_live


def test_an_open_turn_is_live_while_it_is_young(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", FIRST, REPLY, {**START, "turnId": "t2", "at": 1767250810})
    assert open_log(path, now=1767250820).liveness.is_live
    assert not open_log(path, now=1767250810 + 3600).liveness.is_live


def test_one_thread_names_the_conversation(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", {**FIRST, "threadId": "c1"}, {**REPLY, "threadId": "c1"})
    assert open_log(path).session_id == "c1"
    several = write(tmp_path / "several.jsonl", {**FIRST, "threadId": "c1"}, {**REPLY, "threadId": "c2"})
    assert open_log(several).session_id == ""


def test_calls_without_any_result_are_a_show(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    shown = {**REPLY, "tool_calls": [call]}
    session = open_log(write(tmp_path / "chat.jsonl", FIRST, shown))
    assert [message.kind for message in session.transcript.messages] == ["prompt", "reply"]
    result = {"id": "m3", "timestamp": "2026-01-01T07:00:04Z", "role": "tool", "tool_call_id": "c1", "content": "ok"}
    kept = open_log(write(tmp_path / "kept.jsonl", FIRST, shown, result))
    assert [message.kind for message in kept.transcript.messages] == ["prompt", "call", "result"] and kept.pairing.is_sound
