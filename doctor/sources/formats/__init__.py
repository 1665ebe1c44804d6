"""One module per stored form, and `detect_format`, which says what a file is by its rows."""

from __future__ import annotations

from types import ModuleType

import orjson

from doctor.errors import DoctorError
from doctor.model import Source

ROWS_LOOKED_AT = 20
FIRST_KEY = b'{"role":'
HEAD_LENGTH = 512
READ = "this version reads transcripts of Amplifier, and exports and databases of OpenCode"
ROLE_COMES_FIRST = 80
"""Bytes of a row in which a transcript names the role: what has it there is no body over several lines, however damaged."""


def detect_format(source: Source, path: str) -> ModuleType:
    """The format module for a transcript.

    A file without one readable row is taken for Amplifier's, since damage is what the doctor is for.

    Raises DoctorError: when the rows are those of something that is no transcript, or of a client that can't be read yet.
    """
    from doctor.sources.formats import amplifier

    if source.read(0, len(FIRST_KEY)) == FIRST_KEY:
        # Every client that writes such rows begins them like this, and the file need not be opened and buffered a second time.
        return amplifier
    head = source.read(0, HEAD_LENGTH)
    if head.startswith(b"SQLite format 3"):
        raise DoctorError("usage", f"{path} is a database; name a session in it, {path}#ses_…", path)
    if b'"info"' in head and is_export(head):
        from doctor.sources.formats import opencode

        return opencode
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


def is_export(head: bytes) -> bool:
    """Whether a file begins as OpenCode's exports do, with the session's own record, perhaps behind a line of the client's talk."""
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body[:1] not in (b"{", b"["):
        noise, brace, rest = body.partition(b"{")
        body = brace + rest if b'"' not in noise else b""
    name, _, value = body[1:].lstrip().partition(b":")
    return body[:1] == b"{" and name.strip() == b'"info"' and value.lstrip()[:1] == b"{"


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
        raise DoctorError("unreadable", f"{path} looks like a Claude Code session; {READ}", path)
    if row.get("type") in ("session_meta", "response_item", "event_msg", "turn_context"):
        raise DoctorError("unreadable", f"{path} looks like a Codex rollout; {READ}", path)
    if isinstance(row.get("messages"), list) or isinstance(row.get("contents"), list) or isinstance(row.get("input"), list):
        raise DoctorError("unreadable", f"{path} looks like an export of another client; {READ}", path)
