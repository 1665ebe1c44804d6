"""A list of messages in one JSON file: `[{role, content, …}, …]`, or an object that holds it under `messages`, with times in its rows.

It is read as if each element were a line of its own, so that a row number is the number of an element. What is written from it is again
one JSON text: the head and the tail of the file around the elements.
"""

from __future__ import annotations

import re

from doctor.jsontext import read_json_at
from doctor.model import Source, Transcript
from doctor.notes import TIME_KEYS
from doctor.records import Record
from doctor.sources.formats import chat_log
from doctor.sources.source import MemorySource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "messages"
describe_session = chat_log.describe_session
ELEMENTS_LOOKED_AT = 3
_STRING_OR_BREAK = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t]*[\r\n]\s*', re.DOTALL)
_MARK = "\ufeff"


class Split(Record):
    """A file around its elements: `head + elements + tail`; each element on one line, its bytes otherwise as they were."""

    head: str
    elements: list[str]
    tail: str


def is_message_list(value: Any) -> bool:
    """A list of messages; inside an object only with times in them, since it is a request body otherwise."""
    if isinstance(value, dict):
        listed = value.get("messages")
        if not isinstance(listed, list) or not holds_messages(listed):
            return False
        return any(key in row for row in listed[:ELEMENTS_LOOKED_AT] for key in TIME_KEYS)
    return isinstance(value, list) and (not value or holds_messages(value))


def holds_messages(listed: list[Any]) -> bool:
    """Whether a list, as far as its beginning tells, is one of messages."""
    return bool(listed) and all(isinstance(row, dict) and isinstance(row.get("role"), str) for row in listed[:ELEMENTS_LOOKED_AT])


def read_transcript(source: Source, path: str) -> Transcript:
    split = split_file(source.read(0, source.size))
    if split is None:
        # Planned rows: they are lines already.
        return chat_log.read_rows(source, path, NAME)
    lines = "".join(element + "\n" for element in split.elements)
    return chat_log.read_rows(MemorySource(lines.encode("utf-8", "surrogateescape")), path, NAME)


def join_rows(original: bytes, rows: bytes) -> bytes:
    """Rows, one a line, as a file like the one that they came from."""
    split = split_file(original)
    head, tail = (split.head, split.tail) if split is not None else ("[", "]\n")
    body = ",\n".join(row for row in rows.decode("utf-8", "surrogateescape").split("\n") if row)
    return f"{head}\n{body}\n{tail}".encode("utf-8", "surrogateescape")


def split_file(data: bytes) -> Split | None:
    """None for what is no list of messages."""
    text = data.decode("utf-8", "surrogateescape").lstrip(_MARK)
    try:
        value, _ = read_json_at(text, len(text) - len(text.lstrip()))
    except (ValueError, RecursionError):
        return None
    if not is_message_list(value):
        return None
    start = _find_list(text, value)
    if start < 0:
        return None
    elements, stop = _split_list(text, start)
    return Split(text[:start], elements, text[stop:])


def _find_list(text: str, value: Any) -> int:
    """The place behind the bracket that opens the list. In an object, keys before it may hold anything, so that they are parsed too."""
    if isinstance(value, list):
        return text.index("[") + 1
    position = text.index("{") + 1
    while True:
        position = _skip(text, position, ", \t\r\n")
        if text[position : position + 1] != '"':
            return -1
        key, position = read_json_at(text, position)
        position = _skip(text, position, ": \t\r\n")
        if key == "messages" and text[position : position + 1] == "[":
            return position + 1
        _, position = read_json_at(text, position)


def _split_list(text: str, position: int) -> tuple[list[str], int]:
    elements = []
    while True:
        position = _skip(text, position, ", \t\r\n")
        if text[position : position + 1] == "]":
            return elements, position
        _, stop = read_json_at(text, position)
        elements.append(_STRING_OR_BREAK.sub(lambda found: found[0] if found[0][0] == '"' else "", text[position:stop]))
        position = stop


def _skip(text: str, position: int, signs: str) -> int:
    while text[position : position + 1] and text[position] in signs:
        position += 1
    return position
