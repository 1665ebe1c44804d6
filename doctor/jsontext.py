"""JSON as the standard library reads it, with the same answer on every Python.

Versions differ in how deep they can read (about 990 levels on 3.11, 65,000 on 3.14), and what only some can read breaks whatever walks
over it afterwards. They differ too in what they call a mistake, and in where they see it.
"""

from __future__ import annotations

import json

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_DEEP = 800
"""Levels. All that any Python can read, from wherever it is asked: on 3.11 the callers' own frames count as well."""
_DECODER = json.JSONDecoder()


class Mistake(Record):
    """`place` is the 0-based character where it was seen; `line` and `column` say the same, 1-based."""

    message: str
    place: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.message}: line {self.line} column {self.column} (char {self.place})"


def read_json(text: str | bytes, **hooks: Any) -> Any:
    """As `json.loads`. Raises ValueError: it is no JSON; RecursionError: it is nested deeper than MOST_DEEP."""
    value = json.loads(text, **hooks)
    brackets = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    _refuse_deep(value, brackets)
    return value


def read_json_at(text: str, place: int) -> tuple[Any, int]:
    """The value that begins at a place, and the place behind it. Raises as `read_json`."""
    value, stop = _DECODER.raw_decode(text, place)
    _refuse_deep(value, text.count("[", place, stop) + text.count("{", place, stop))
    return value, stop


def _refuse_deep(value: Any, brackets: int) -> None:
    """`brackets`: how many open in the text, those inside of strings too. Hardly any row has so many that it has to be looked at."""
    if brackets <= MOST_DEEP:
        return
    level = [value]
    for _ in range(MOST_DEEP):
        level = [
            part
            for whole in level
            for part in (whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ())
            if isinstance(part, (dict, list))
        ]
        if not level:
            return
    raise RecursionError(f"nested deeper than {MOST_DEEP} levels")


def describe_mistake(error: json.JSONDecodeError) -> Mistake:
    """What is wrong with a text, in the words of Python 3.13: from there on a comma before a closing bracket is called one."""
    import re

    message, place = error.msg, error.pos
    sign, comma = error.doc[place : place + 1], error.doc.rfind(",", 0, place)
    kind = {"}": ("Expecting property name", "object"), "]": ("Expecting value", "array")}.get(sign)
    if kind is not None and message.startswith(kind[0]) and comma >= 0 and not error.doc[comma + 1 : place].strip():
        message, place = f"Illegal trailing comma before end of {kind[1]}", comma
    elif _ends_in_string(error) and re.fullmatch(r"\\u[0-9a-fA-F]{4}", error.doc[-6:]):
        # Up to 3.13.0 an escape right before the end counts as a bad one, and later the string as one that has no end.
        message, place = "Unterminated string", len(error.doc)
    return Mistake(message, place, error.doc.count("\n", 0, place) + 1, place - error.doc.rfind("\n", 0, place))


def is_cut_short(error: json.JSONDecodeError) -> bool:
    """Whether the parser gave up because the text ends: in a string, inside an escape or a word, or where a token should follow."""
    rest = error.doc[error.pos :].strip()
    return _ends_in_string(error) or not rest or (rest.isalnum() and len(rest) < len("false"))


def _ends_in_string(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith(("Unterminated", "Invalid \\u"))
