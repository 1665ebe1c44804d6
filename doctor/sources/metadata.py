"""metadata.json beside a transcript, and the client's backup of it."""

from __future__ import annotations

import os
from collections.abc import Container
from stat import S_ISREG

import orjson

from doctor.records import Record
from doctor.sources.source import load_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

METADATA = "metadata.json"
BACKUP = METADATA + ".backup"


class Metadata(Record):
    """`value` is None when neither file can be read. `problem` says what is wrong with metadata.json, "" when it is fine or not there."""

    value: dict[str, Any] | None
    problem: str


NOTHING = Metadata(None, "")


def read_metadata(folder: str, names: Container[str] | None = None) -> Metadata:
    """Reads metadata.json as the client does: from its backup where the file itself can't be used.

    `names` is what lies in the folder, where that is known.
    """
    if names is not None and METADATA not in names:
        return NOTHING
    value, problem = _read_object(folder + os.sep + METADATA)
    if value is None and problem:
        value, _ = _read_object(folder + os.sep + BACKUP)
    return Metadata(value, problem)


def _read_object(path: str) -> tuple[dict[str, Any] | None, str]:
    try:
        status = os.stat(path)
        if not S_ISREG(status.st_mode):
            return None, "it is no regular file"
        data = load_bytes(path, status.st_size + 1)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"it can't be opened: {error.strerror or error}"
    return parse_metadata(data)


def parse_metadata(data: bytes) -> tuple[dict[str, Any] | None, str]:
    """(value, problem) of the bytes of a metadata.json, or of its backup."""
    try:
        value = orjson.loads(data)
    except ValueError:
        return _read_leniently(data)
    if isinstance(value, dict):
        return value, ""
    return None, f"it holds {_name_type(value)} where an object belongs"


def _read_leniently(data: bytes) -> tuple[dict[str, Any] | None, str]:
    """The client's own parser takes more than the fast one: NaN, lone surrogates."""
    import json

    from doctor.jsontext import describe_mistake, read_json

    if not data.strip():
        return None, "it is empty"
    try:
        value = read_json(data)
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except (ValueError, RecursionError) as error:
        if isinstance(error, RecursionError):
            return None, "it is nested too deep to be read"
        mistake = describe_mistake(error) if isinstance(error, json.JSONDecodeError) else None
        return None, f"it is not JSON (line {mistake.line}, column {mistake.column})" if mistake is not None else "it is not JSON"
    return (value, "") if isinstance(value, dict) else (None, f"it holds {_name_type(value)} where an object belongs")


def _name_type(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
