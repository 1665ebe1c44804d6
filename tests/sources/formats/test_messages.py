"""Lists of messages are taken apart and put together again without touching what stands in or around their elements."""

from __future__ import annotations

import json

import pytest

from doctor.sources.formats.messages import join_rows, read_transcript, split_file
from doctor.sources.source import MemorySource

ROWS = '[{"role": "user", "content": "a\\n]", "n": 1E2}, {"role": "assistant",\n  "content": "b"\n}]'
OBJECT = '{"id": "c", "meta": {"messages": [1, "]"]}, "messages": [{"role": "user", "content": "a", "ts": 1767250800}], "tail": [2]}\n'


def test_elements_become_lines() -> None:
    transcript = read_transcript(MemorySource(ROWS.encode()), "a.json")
    assert transcript.read_line(0).decode() == '{"role": "user", "content": "a\\n]", "n": 1E2}'
    assert [message.role for message in transcript.messages] == ["user", "assistant"]
    assert transcript.format == "messages"


@pytest.mark.parametrize("text", [ROWS, OBJECT, "\ufeff" + ROWS, json.dumps(json.loads(ROWS), indent=4)])
def test_what_stood_around_stays(text: str) -> None:
    split = split_file(text.encode())
    assert split is not None
    joined = join_rows(text.encode(), "".join(element + "\n" for element in reversed(split.elements)).encode())
    before, after = json.loads(text.lstrip("\ufeff")), json.loads(joined)
    if isinstance(before, dict):
        assert list(before) == list(after) and before == after
    else:
        assert after == before[::-1]
    if "1E2" in text:
        assert b"1E2" in joined


@pytest.mark.parametrize("text", ["", "[1]", '{"messages": [{"role": "user", "content": "a"}]}', '{"role": "user"}', "[{"])
def test_what_is_no_list_of_messages(text: str) -> None:
    assert split_file(text.encode()) is None
