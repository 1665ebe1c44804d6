"""Exports that can't be judged as they are get one line that says what to do; none is read in part, and none is taken for damage."""

from __future__ import annotations

import json

import pytest

from doctor.errors import DoctorError
from doctor.sources.formats import detect_format
from doctor.sources.source import MemorySource

ROWS = [
    {"id": "m1", "timestamp": "2026-01-01T07:00:00Z", "role": "user", "content": "hi"},
    {"id": "m2", "timestamp": "2026-01-01T07:00:03Z", "role": "assistant", "content": "hello"},
]
LIST = json.dumps(ROWS)
CONVERSATION = {"id": "c1", "title": "x", "messages": ROWS}


def detect(data: str | bytes, path: str = "chat.json") -> str:
    return str(detect_format(MemorySource(data if isinstance(data, bytes) else data.encode()), path).NAME)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (LIST + "\n" + LIST + "\n", "several lists of messages"),
        (f"{json.dumps(CONVERSATION)}\n{json.dumps(CONVERSATION)}\n", "several lists of messages"),
        (json.dumps([CONVERSATION, CONVERSATION]), r"several conversations \(\[0\].messages and \[1\].messages"),
        (json.dumps([{"id": "c", "chat": {"messages": ROWS}}]), r"under \[0\].chat.messages"),
        (json.dumps({"object": "list", "data": ROWS}), "under data into"),
        (LIST[:-20], f"breaks off after {len(LIST) - 20} bytes"),
        (json.dumps(ROWS, indent=2)[:-20], "breaks off after"),
        (json.dumps(CONVERSATION, indent=2)[:-20], "breaks off after"),
        (LIST + "garbage", r"behind the end of its messages \(line 1\)"),
        (json.dumps(ROWS, indent=2) + "\ngarbage", "behind the end of its messages"),
        (LIST + "\0", "behind the end of its messages"),
        (LIST[:-1] + ",]", "a mistake in it"),
        (LIST.encode("utf-16"), "UTF-16"),
        ("".join(json.dumps(row) + "\n" for row in ROWS).encode("utf-16"), "UTF-16"),
    ],
)
def test_what_is_refused(data: str | bytes, said: str) -> None:
    with pytest.raises(DoctorError, match=said):
        detect(data)


@pytest.mark.parametrize(
    ("data", "path", "name"),
    [
        (b"\xef\xbb\xbf" + LIST.encode(), "chat.json", "messages"),
        (b"\xef\xbb\xbf" + json.dumps(ROWS[0]).encode() + b"\n", "chat.jsonl", "chat-log"),
        (LIST + "\n\n", "chat.json", "messages"),
        ("[]", "chat.json", "messages"),
        ('{"messages": "x", "messages": ' + LIST + "}", "chat.json", "messages"),
        ('[\n{"role": "user", "content": "hi"}\n', "transcript.jsonl", "amplifier"),
        ("[garbage\n" + json.dumps({"role": "user", "content": "hi"}) + "\n", "copy.jsonl", "amplifier"),
        ('{"role": "user", "content": "cut', "copy.jsonl", "amplifier"),
    ],
)
def test_what_is_read(data: str | bytes, path: str, name: str) -> None:
    assert detect(data, path) == name
