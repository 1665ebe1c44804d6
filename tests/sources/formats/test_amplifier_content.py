"""The flags for content that some provider minds, on the plain path and on the slow one alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from doctor.model import (
    ARGUMENTS_NOT_OBJECT,
    BLANK_TEXT,
    EMPTY_CONTENT,
    EMPTY_LIST,
    EMPTY_TEXT,
    ENDS_BLANK,
    ENDS_IN_THINKING,
    MIXED_CONTENT,
    SIGNED_THINKING,
    TEXT_AFTER_CALL,
    TEXT_BEFORE_RESULT,
    UNSIGNED_THINKING,
    Transcript,
)
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource

TEXT = {"type": "text", "text": "x"}
CALL = {"type": "tool_call", "id": "a", "name": "bash", "input": {}}
LISTED = {"id": "a", "tool": "bash", "arguments": {}}
RESULT = {"type": "tool_result", "tool_call_id": "a", "output": "x"}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def read(*rows: Any) -> Transcript:
    return read_transcript(MemorySource(b"".join(json.dumps(row).encode() + b"\n" for row in rows)), "transcript.jsonl")


def assistant(*blocks: Any, listed: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks], **({"tool_calls": listed} if listed is not None else {})}


@pytest.mark.parametrize(
    ("row", "flags"),
    [
        ({"role": "user", "content": ""}, EMPTY_CONTENT),
        ({"role": "user", "content": []}, EMPTY_CONTENT | EMPTY_LIST),
        ({"role": "user", "content": " \n\t"}, BLANK_TEXT),
        ({"role": "user", "content": [{"type": "text", "text": ""}]}, EMPTY_TEXT),
        ({"role": "user", "content": [{"type": "text", "text": " "}]}, BLANK_TEXT),
        ({"role": "user", "content": [{"type": "text", "text": " "}, TEXT]}, 0),
        ({"role": "user", "content": [RESULT, TEXT]}, MIXED_CONTENT),
        ({"role": "user", "content": [TEXT, RESULT]}, MIXED_CONTENT | TEXT_BEFORE_RESULT),
        ({"role": "assistant", "content": ""}, EMPTY_CONTENT),
        (assistant(), EMPTY_CONTENT | EMPTY_LIST),
        (assistant({"type": "text", "text": ""}), EMPTY_TEXT),
        (assistant({"type": "text", "text": ""}, CALL, listed=[LISTED]), EMPTY_TEXT),
        (assistant({"type": "text", "text": "\n"}, CALL, listed=[LISTED]), 0),
        (assistant(TEXT, CALL, listed=[LISTED]), 0),
        (assistant(CALL, TEXT, listed=[LISTED]), TEXT_AFTER_CALL),
        (assistant(SIGNED, TEXT), SIGNED_THINKING),
        (assistant(SIGNED, CALL, listed=[LISTED]), SIGNED_THINKING),
        (assistant({"type": "redacted_thinking", "data": "eA=="}, TEXT), SIGNED_THINKING),
        (assistant({"type": "thinking", "thinking": "hm"}, TEXT), UNSIGNED_THINKING),
        (assistant({"type": "thinking", "thinking": "hm", "signature": ""}, TEXT), UNSIGNED_THINKING),
        (assistant({"type": "thinking", "thinking": "hm", "signature": None}, TEXT), UNSIGNED_THINKING),
        (assistant({"type": "reasoning", "content": [], "summary": []}, TEXT), UNSIGNED_THINKING),
        (assistant(SIGNED, {"type": "thinking", "thinking": "hm"}, TEXT), SIGNED_THINKING | UNSIGNED_THINKING),
        ({"role": "assistant", "content": "x", "tool_calls": [{**LISTED, "arguments": "{}"}]}, ARGUMENTS_NOT_OBJECT),
        ({"role": "assistant", "content": "x", "tool_calls": [{"id": "a", "function": {"name": "b", "arguments": "{}"}}]}, 0),
    ],
)
def test_content_is_flagged(row: dict[str, Any], flags: int) -> None:
    """In front of another row, since the last one has flags of its own."""
    transcript = read(row, {"role": "user", "content": "go on"})
    assert transcript.messages[0].flags == flags
    if flags & ~SIGNED_THINKING:
        assert transcript.unusual == [0]


def test_thinking_with_its_signature_is_not_unusual() -> None:
    transcript = read(assistant(SIGNED, TEXT), assistant(SIGNED, CALL, listed=[LISTED]), assistant(TEXT))
    assert transcript.unusual == []


@pytest.mark.parametrize(
    ("row", "flags"),
    [
        (assistant(TEXT), 0),
        (assistant({"type": "text", "text": "x "}), ENDS_BLANK),
        ({"role": "assistant", "content": "x\n"}, ENDS_BLANK),
        (assistant(TEXT, SIGNED), SIGNED_THINKING | ENDS_IN_THINKING),
        ({"role": "user", "content": "x "}, 0),
    ],
)
def test_the_end_of_the_last_row_is_flagged(row: dict[str, Any], flags: int) -> None:
    assert read({"role": "user", "content": "hi"}, row).messages[-1].flags == flags
    assert read(row, {"role": "user", "content": "hi"}).messages[0].flags & (ENDS_BLANK | ENDS_IN_THINKING) == 0


def test_a_torn_last_line_has_no_end() -> None:
    data = b'{"role": "assistant", "content": "x "}\n{"role": "assistant", "content": "cut'
    transcript = read_transcript(MemorySource(data), "transcript.jsonl")
    assert [message.flags for message in transcript.messages] == [0]
