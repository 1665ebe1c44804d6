"""Says why a line is not exactly one JSON value, and which whole records can still be read on it.

The fast parser only ever clears a line. What it refuses comes here and is judged by the standard library's parser on the decoded text,
which is what Amplifier itself uses: `json.loads(bytes)` would let a byte order mark, UTF-16 and surrogate bytes pass.
"""

from __future__ import annotations

import json
import re

from doctor.jsontext import describe_mistake, is_cut_short, read_json, read_json_at
from doctor.model import LineProblem
from doctor.moves import has_debris
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RECORD_START = re.compile(r'\{\s*"[A-Za-z_]+"\s*:')
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})(\\u[dD][c-fC-F][0-9a-fA-F]{2})?|u([dD][c-fC-F][0-9a-fA-F]{2})|.)", re.DOTALL)
BOM = b"\xef\xbb\xbf"
SIGNS = frozenset({"metadata", "tool_calls", "tool_call_id"})
"""Keys that a stored row has and an argument of a call hardly ever has beside a role."""
MOST_STARTS = 200
"""A cut record's text may hold many `{"key":`; after so many tries the line counts as unreadable."""


class JudgedLine(Record):
    """`rows` are the records that can be read on the line; `problem` is None for a line that is fine after all."""

    problem: LineProblem | None
    rows: tuple[Any, ...]


def judge_line(raw: bytes, line: int, is_last: bool) -> JudgedLine:
    """Judges one physical line (with or without its line end) that the fast parser refused."""
    body = raw.rstrip(b"\r\n")
    if body.startswith(BOM):
        inner = judge_line(body[3:], line, is_last)
        if inner.problem is None:
            problem = LineProblem(line, "bom", "starts with a UTF-8 byte order mark", 0, ((3, len(body)),))
            return JudgedLine(problem, inner.rows)
        parts = tuple((start + 3, stop + 3) for start, stop in inner.problem.parts)
        return JudgedLine(inner.problem._replace(column=inner.problem.column + 3, parts=parts), inner.rows)
    if b"\0" in body:
        return _judge_nul(body, line)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return _judge_undecodable(body, line, error)
    return _judge_text(text, body, line, is_last)


def _judge_nul(body: bytes, line: int) -> JudgedLine:
    """A run of NUL bytes is what a power cut leaves of blocks that were allocated but never written. Records may stand between runs."""
    count = body.count(0)
    column = body.index(0)
    message = f"{count} NUL byte{'s' if count > 1 else ''}"
    if not body.strip(b"\0 \t\r\n"):
        return JudgedLine(LineProblem(line, "nul", f"nothing but {message}", column), ())
    parts: list[tuple[int, int]] = []
    rows: list[Any] = []
    for piece in re.finditer(rb"[^\0]+", body):
        spans, found = _find_records(piece.group().decode("utf-8", "surrogateescape"))
        spans = spans if found else []
        parts += [(piece.start() + start, piece.start() + stop) for start, stop in spans]
        rows += found
    place = "inside the record" if not rows else "around the record" if len(rows) == 1 else "between the records"
    return JudgedLine(LineProblem(line, "nul", f"{message} {place}", column, tuple(parts)), tuple(rows))


def _judge_undecodable(body: bytes, line: int, error: UnicodeDecodeError) -> JudgedLine:
    message = f"byte 0x{body[error.start]:02x} is not UTF-8"
    try:
        rows: tuple[Any, ...] = (read_json(body.decode("utf-8", "replace")),)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "surrogateescape")
        spans, found = _find_records(text)
        if found:
            return _describe_glued(body, line, spans, found)
        rows = ()
    return JudgedLine(LineProblem(line, "utf8", message, error.start), rows)


def _judge_text(text: str, body: bytes, line: int, is_last: bool) -> JudgedLine:
    odd: list[str] = []

    def read_number(number: str) -> float:
        value = float(number)
        if value in (float("inf"), float("-inf")):
            odd.append(number)
        return value

    try:
        row = read_json(text, parse_constant=lambda name: odd.append(name), parse_float=read_number)
    except RecursionError:
        return JudgedLine(LineProblem(line, "deep", "nested too deep to be read", 0), ())
    except json.JSONDecodeError as error:
        return _judge_broken(text, body, line, is_last, error)
    except ValueError:
        # Python's own limit for whole numbers (4,300 digits), not one of JSON.
        return JudgedLine(LineProblem(line, "deep", "written with a number of too many digits to be read", 0), ())
    if odd:
        return JudgedLine(LineProblem(line, "constant", f"{odd[0]} is not JSON", max(body.find(odd[0].encode()), 0)), (row,))
    return JudgedLine(_find_lone_surrogate(text, line), (row,))


def _find_lone_surrogate(text: str, line: int) -> LineProblem | None:
    """The standard parser reads half a surrogate pair; strict parsers and every provider refuse it."""
    for escape in _ESCAPE.finditer(text):
        high, low, alone = escape.groups()
        if alone or (high and not low):
            return LineProblem(line, "surrogate", f"lone surrogate escape {escape.group()}", len(text[: escape.start()].encode()))
    return None


def _judge_broken(text: str, body: bytes, line: int, is_last: bool, error: json.JSONDecodeError) -> JudgedLine:
    spans, rows = _find_records(text)
    if rows:
        return _describe_glued(body, line, spans, rows)
    if spans:
        message = "a piece of a record, and an object behind it that may be a value of it or a record of its own"
        return JudgedLine(LineProblem(line, "glued", message, spans[0][0]), ())
    if text.lstrip()[:1] in ("{", "[") and is_cut_short(error):
        size = f"{len(body)} byte{'s' if len(body) != 1 else ''}"
        kind = "torn" if is_last else "invalid"
        return JudgedLine(LineProblem(line, kind, f"the record is cut short after {size}", len(body)), ())
    mistake = describe_mistake(error)
    column = _count_bytes(text, mistake.place)
    return JudgedLine(LineProblem(line, "invalid", f"{mistake.message} at column {column + 1}", column), ())


def _describe_glued(body: bytes, line: int, spans: list[tuple[int, int]], rows: list[Any]) -> JudgedLine:
    torn = has_debris(body, tuple(spans))
    message = f"{len(rows)} record{'s' if len(rows) > 1 else ''}{' and a piece of another' if torn else ''} on one line"
    return JudgedLine(LineProblem(line, "glued", message, spans[0][0] or spans[0][1], tuple(spans)), tuple(rows))


def _find_records(text: str) -> tuple[list[tuple[int, int]], list[Any]]:
    """Whole objects that follow one another on a line, perhaps behind or before a piece of one that is cut, with their byte spans.

    Spans without rows: there may be records, and there may be none.

    A lone whole object behind garbage counts only when it reaches the end of the line and has a role: a cut record's own nested objects
    must not pass for records.
    """
    spans: list[tuple[int, int]] = []
    rows: list[Any] = []
    position = 0
    while position < len(text):
        while position < len(text) and text[position].isspace():
            position += 1
        try:
            row, stop = read_json_at(text, position)
        except (ValueError, RecursionError):
            break
        if not isinstance(row, dict):
            break
        spans.append((position, stop))
        rows.append(row)
        position = stop
    if position < len(text.rstrip()) and text[position : position + 1] not in ("", ","):
        tail_spans, tail_rows = _find_tail(text, position + 1)
        spans += tail_spans
        rows += tail_rows
    covered = position >= len(text.rstrip()) and len(rows) > 1
    if not covered and not all("role" in row for row in rows):
        return [], []
    if len(spans) > len(rows):
        rows = []
    return [(_count_bytes(text, start), _count_bytes(text, stop)) for start, stop in spans], rows


def _count_bytes(text: str, stop: int) -> int:
    return len(text[:stop].encode("utf-8", "surrogateescape"))


def _find_tail(text: str, position: int) -> tuple[list[tuple[int, int]], list[Any]]:
    """The first place behind a cut record from which whole records reach to the end of the line.

    Where the cut record waits for a value (behind `:`, `,` or `[`, outside of strings), an object may be just that value. Unless it has
    what only records have, its span comes back without a row.
    """
    scan = _Scan(text)
    doubtful: list[tuple[int, int]] = []
    for found in list(_RECORD_START.finditer(text, position))[:MOST_STARTS]:
        spans: list[tuple[int, int]] = []
        rows: list[Any] = []
        start = found.start()
        while start < len(text):
            try:
                row, stop = read_json_at(text, start)
            except (ValueError, RecursionError):
                break
            if not isinstance(row, dict) or "role" not in row:
                break
            spans.append((start, stop))
            rows.append(row)
            start = stop
            while start < len(text) and text[start].isspace():
                start += 1
        if rows and start >= len(text.rstrip()):
            if not scan.waits_for_value(found.start()) or any(SIGNS & row.keys() for row in rows):
                return spans, rows
            doubtful = doubtful or spans
    return doubtful, []


class _Scan:
    """Follows the strings of a cut record from the left, once, to say what surrounds a place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.in_string = False
        self.last = ""

    def waits_for_value(self, stop: int) -> bool:
        text = self.text
        while self.place < stop:
            sign = text[self.place]
            if self.in_string and sign == "\\":
                self.place += 1
            elif sign == '"':
                self.in_string = not self.in_string
                self.last = sign
            elif not self.in_string and not sign.isspace():
                self.last = sign
            self.place += 1
        return not self.in_string and self.last in (":", ",", "[")


def find_duplicate_key(raw: bytes, line: int) -> LineProblem | None:
    """The first key that one object of the row has twice. No fast parser sees these; most keep the last value, some the first."""
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs) and not twice:
            keys = [key for key, _ in pairs]
            twice.append(next(key for key in keys if keys.count(key) > 1))
        return row

    try:
        read_json(raw.decode("utf-8"), object_pairs_hook=note)
    except (ValueError, RecursionError):
        return None
    if not twice:
        return None
    return LineProblem(
        line, "duplicate-key", f"the key {twice[0]!r} stands twice in one object", max(raw.rfind(f'"{twice[0]}"'.encode()), 0)
    )
