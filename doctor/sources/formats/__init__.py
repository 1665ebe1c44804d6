"""One module per stored form, and `detect_format`, which says what a file is by its rows."""

from __future__ import annotations

from types import ModuleType

import orjson

from doctor.errors import DoctorError
from doctor.model import Source

ROWS_LOOKED_AT = 20
FIRST_KEY = b'{"role":'
ROLE_COMES_FIRST = 80
"""Bytes of a row in which a transcript names the role: what has it there is no body over several lines, however damaged."""
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""The first bytes of gzip and Zstandard."""


class CompressedError(DoctorError):
    """The bytes are compressed although the name does not say so."""

    def __init__(self, path: str) -> None:
        super().__init__("unreadable", f"can't read {path}: it is compressed; give it a name that ends in .gz or .zst", path)


def detect_format(source: Source, path: str) -> ModuleType:
    """The format module for a transcript.

    A file without one readable row is taken for Amplifier's, since damage is what the doctor is for.

    Raises DoctorError: when the rows are those of something that is no transcript, or of a client that can't be read yet.
    """
    from doctor.sources.formats import amplifier

    head = source.read(0, len(FIRST_KEY))
    if head == FIRST_KEY:
        # Every client that writes such rows begins them like this, and the file need not be opened and buffered a second time.
        return amplifier
    if head.startswith(COMPRESSED):
        raise CompressedError(path)
    with source.open() as stream:
        for number, raw in zip(range(ROWS_LOOKED_AT), stream, strict=False):
            try:
                row = orjson.loads(raw)
            except ValueError:
                if number == 0 and raw[:1] in (b"{", b"[") and b'"role"' not in raw[:ROLE_COMES_FIRST] and _is_request(_read_whole(source)):
                    return _load_request()
                continue
            if number == 0 and isinstance(row, list) and _is_request(row):
                return _load_request()
            if not isinstance(row, dict):
                continue
            if "role" in row:
                return amplifier
            if _is_request(row):
                return _load_request()
            refuse_foreign(row, path)
    return amplifier


def _load_request() -> ModuleType:
    from doctor.sources.formats import request

    return request


def _is_request(value: object) -> bool:
    """Whether a parsed value is a request body, or a list of them. The sure signs come first: most rows need no closer look."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict) or "role" in first or not (first.keys() & {"messages", "contents", "input", "request", "body"}):
        return False
    return bool(_load_request().is_request(first))


def _read_whole(source: Source) -> object:
    """The value of a file that is one JSON text over several lines, or one with lone surrogates; None when it is not."""
    data = source.read(0, source.size)
    try:
        return orjson.loads(data)
    except ValueError:
        return _load_request().parse_body(data)


def refuse_foreign(row: dict[str, object], path: str) -> None:
    """Raises DoctorError when a row without a role is known to belong to something else."""
    if "event" in row and ("schema" in row or "ts" in row or "timestamp" in row):
        raise DoctorError("unreadable", f"{path} is an event log; name the transcript (transcript.jsonl) or the session folder", path)
    if isinstance(row.get("message"), dict) and "type" in row:
        raise DoctorError("unreadable", f"{path} looks like a Claude Code session; this version reads Amplifier transcripts only", path)
    if row.get("type") in ("session_meta", "response_item", "event_msg", "turn_context"):
        raise DoctorError("unreadable", f"{path} looks like a Codex rollout; this version reads Amplifier transcripts only", path)
    if isinstance(row.get("messages"), list) or isinstance(row.get("contents"), list) or isinstance(row.get("input"), list):
        raise DoctorError("unreadable", f"{path} looks like an export; this version reads Amplifier transcripts only", path)
