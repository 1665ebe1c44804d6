"""An export as a document: where each message stands in its bytes, and its values, read one at a time.

Both generations write one JSON object, indented by two: `{"info": {…}, "messages": [{"info", "parts"}, …]}` (V1), or one whose messages are
`{"type", …}` (V2). The bytes between the values are never touched: a fix replaces spans.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring

from doctor.errors import DoctorError
from doctor.jsontext import describe_mistake, is_cut_short, read_json_at
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD = rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"info"\s*:\s*\{'
"""How every export begins. Amplifier's rows and request bodies have no such key."""
HEAD_LENGTH = 512
PIPE = 64 * 1024
"""A pipe holds this much; exports that a process left before the reader had all are cut at a multiple of it, or of the reader's pages."""
_SPACE = re.compile(r"[ \t\r\n]*")


class Record(Record):
    """The bytes [start, stop) of one message."""

    start: int
    stop: int


class Document(Record):
    """`generation` is 1 or 2; `info` is the session's own record. `records` and `values` run side by side."""

    generation: int
    info: dict[str, Any]
    records: tuple[Record, ...]
    values: tuple[Any, ...]


class Member(Record):
    """One value inside an object or a list: its key (or index) and the characters [start, stop) that spell it."""

    key: str | int
    start: int
    stop: int
    value: Any


def read_document(data: bytes, path: str) -> Document:
    """Raises DoctorError: the text is cut short, is not JSON, or is no export. A cut export is never completed: nobody knows the rest."""
    text = data.decode("utf-8", "surrogateescape")
    if re.search(HEAD, data[:HEAD_LENGTH]) is None:
        advice = "export again with `opencode export ID 2>/dev/null >FILE`, or delete all before the first brace"
        message = f"{path} begins with text that is no JSON: the client wrote a line of its own into it; {advice}"
        raise DoctorError("unreadable", message, path)
    info: Any = None
    messages: list[Member] | None = None
    try:
        place = _expect(text, _skip(text, 1 if text.startswith("\ufeff") else 0), "{")
        while text[place : place + 1] != "}":
            key, place = _read_key(text, place)
            if key == "messages" and text[place : place + 1] == "[":
                messages, stop = scan_list(text, place)
            else:
                value, stop = read_json_at(text, place)
                info = value if key == "info" else info
            place = _next(text, stop, "}")
    except (ValueError, RecursionError) as error:
        raise _explain(text, data, info, error, path) from error
    if not isinstance(info, dict) or messages is None:
        raise DoctorError("unreadable", f"{path} looks like an OpenCode export, but has no list of messages in it; export again", path)
    offsets = measure_bytes(text, [place for member in messages for place in (member.start, member.stop)])
    records = tuple(Record(offsets[2 * number], offsets[2 * number + 1]) for number in range(len(messages)))
    first = next((member.value for member in messages if isinstance(member.value, dict)), {})
    generation = 1 if "parts" in first or isinstance(first.get("info"), dict) or (not messages and "location" not in info) else 2
    return Document(generation, info, records, tuple(member.value for member in messages))


def scan_object(text: str, start: int) -> tuple[list[Member], int]:
    """The members of the object at `start`, and the place behind it. Raises ValueError: it is no whole object."""
    place = _expect(text, start, "{")
    found: list[Member] = []
    while text[place : place + 1] != "}":
        key, place = _read_key(text, place)
        value, stop = read_json_at(text, place)
        found.append(Member(key, place, stop, value))
        place = _next(text, stop, "}")
    return found, place + 1


def scan_list(text: str, start: int) -> tuple[list[Member], int]:
    """The items of the list at `start`, and the place behind it. Raises ValueError: it is no whole list."""
    place = _expect(text, start, "[")
    found: list[Member] = []
    while text[place : place + 1] != "]":
        value, stop = read_json_at(text, place)
        found.append(Member(len(found), place, stop, value))
        place = _next(text, stop, "]")
    return found, place + 1


def measure_bytes(text: str, places: list[int]) -> list[int]:
    """The byte offset of each character place; places must ascend."""
    offsets = []
    last = offset = 0
    for place in places:
        offset += len(text[last:place].encode("utf-8", "surrogateescape"))
        last = place
        offsets.append(offset)
    return offsets


def _read_key(text: str, place: int) -> tuple[str, int]:
    """A key, and the place of its value."""
    if text[place : place + 1] != '"':
        raise json.JSONDecodeError("Expecting property name", text, place)
    key, place = scanstring(text, place + 1, False)
    return key, _expect(text, _skip(text, place), ":")


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found is not None else place


def _expect(text: str, place: int, sign: str) -> int:
    """The place behind a sign and the white space that follows it."""
    if text[place : place + 1] != sign:
        raise json.JSONDecodeError(f"Expecting '{sign}'", text, place)
    return _skip(text, place + 1)


def _next(text: str, stop: int, end: str) -> int:
    """The place of the next member, or of the sign that ends the container."""
    place = _skip(text, stop)
    if text[place : place + 1] == end:
        return place
    return _expect(text, place, ",")


def _explain(text: str, data: bytes, info: Any, error: Exception, path: str) -> DoctorError:
    named = info.get("id") if isinstance(info, dict) else None
    session = named if isinstance(named, str) else "ID"
    if isinstance(error, json.JSONDecodeError) and is_cut_short(error):
        size = f"{len(data):,} bytes"
        where = f" ({len(data) // PIPE} × 64 KiB: the client left before the pipe was read to its end)" if len(data) % PIPE == 0 else ""
        message = f"{path} is an export that is cut short after {size}{where}; what is missing can't be known, so it is not repaired: "
        return DoctorError("unreadable", f"{message}export again to a file, `opencode export {session} >FILE`", path)
    place, said = 0, "nested too deep"
    if isinstance(error, json.JSONDecodeError):
        message, place, line, column = describe_mistake(error)
        said = f"{message} at line {line}, column {column}"
    byte = len(text[:place].encode("utf-8", "surrogateescape"))
    return DoctorError("unreadable", f"{path} is an export that is no JSON ({said}, byte {byte:,}); export again to a file", path)
