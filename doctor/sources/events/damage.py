"""Damaged event lines: records that a torn append left half written, and whole ones that were glued behind them."""

from __future__ import annotations

import re

import orjson

from doctor.jsontext import read_json, read_json_at
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    JsonObject = dict[str, Any]
else:
    JsonObject = dict

_START = re.compile(r'\{"(?:ts|event)": ?"')


class FoundRecord(Record):
    """A whole event record inside a line. `start`, `stop`: its bytes in the line."""

    start: int
    stop: int
    row: JsonObject


def parse_record(raw: bytes) -> JsonObject | None:
    """The object on a line, None when the line is not exactly one JSON object."""
    try:
        row = orjson.loads(raw)
    except ValueError:
        # orjson refuses lone surrogates, NaN and deep nesting that the client's own reader takes.
        try:
            row = read_json(raw.decode("utf-8"))
        except (ValueError, RecursionError):
            return None
    return row if row.__class__ is dict else None


def find_records(raw: bytes) -> list[FoundRecord]:
    """All whole event records on a damaged line, in order. What lies between them is torn.

    A record is followed by another one or by the end of the line: an object inside a bigger one is followed by a comma or a brace.
    """
    text = raw.decode("utf-8", "surrogateescape")
    found: list[FoundRecord] = []
    position = text.find("{")
    byte, counted = 0, 0
    while position >= 0:
        try:
            row, stop = read_json_at(text, position)
        except (ValueError, RecursionError):
            row, stop = None, position + 1
        rest = text[stop : stop + 64].lstrip("\r\0 \t") if row is not None else ""
        if row.__class__ is dict and row.get("event").__class__ is str and (not rest or rest.startswith("{")):
            byte += len(text[counted:position].encode("utf-8", "surrogateescape"))
            length = len(text[position:stop].encode("utf-8", "surrogateescape"))
            found.append(FoundRecord(byte, byte + length, row))
            byte, counted = byte + length, stop
            position = text.find("{", stop)
        else:
            match = _START.search(text, position + 1)
            position = match.start() if match else -1
    return found
