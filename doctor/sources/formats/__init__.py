"""One module per stored form, and `detect_format`, which says what a file is by its rows."""

from __future__ import annotations

import os
from itertools import islice
from types import ModuleType

import orjson

from doctor.errors import DoctorError
from doctor.model import Source

ROWS_LOOKED_AT = 20
FIRST_KEY = b'{"role":'
ROWS_NAME, STDIN = ".jsonl", "-"
"""What is called like this, or has no name, is taken for rows however damaged it is."""
OWN_NAME = "transcript.jsonl"
"""What Amplifier calls its transcripts and their backups. Under this name a row that names its role first is always taken for its."""
TIME_SIGNS = (b'"timestamp"', b'"createdAt"', b'"created_at"', b'"ts"', b'"time"', b'"at"')
LONGEST_FIRST_ROW = 1 << 20
OWN_SIGNS = (b'"metadata"', b'"tool_call"', b'"tool":')
HEAD_LENGTH = 512
READ = "this version reads transcripts of Amplifier, exports and databases of OpenCode, and chat logs"
_MARKS = (b"\xef", b"\xff", b"\xfe")
_KEYS_OF_ROWS = frozenset(("type", "event", "message"))
"""An object with one of these may be a row of another client's session; `refuse_foreign` knows those."""
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

    tells_turns = names_role = False
    if source.read(0, len(FIRST_KEY)) == FIRST_KEY:
        # Every client that writes such rows begins them like this, and the file need not be opened and buffered a second time.
        return amplifier if os.path.basename(path).startswith(OWN_NAME) else _tell_role_first(source)
    head = source.read(0, HEAD_LENGTH)
    if head.startswith(b"SQLite format 3"):
        raise DoctorError("usage", f"{path} is a database; name a session in it, {path}#ses_…", path)
    if head.startswith(COMPRESSED):
        raise CompressedError(path)
    if b'"info"' in head and is_export(head):
        from doctor.sources.formats import opencode

        return opencode
    with source.open() as stream:
        for number, raw in zip(range(ROWS_LOOKED_AT), stream, strict=False):
            if number == 0 and raw[:1] in _MARKS:
                raw = _strip_mark(raw, path)
            try:
                row = orjson.loads(raw)
            except ValueError:
                if number == 0 and (raw[:1] == b"[" or (raw[:1] == b"{" and b'"role"' not in raw[:ROLE_COMES_FIRST])):
                    found = _tell_text(source, raw, path)
                    if found is not None:
                        return found
                row = _read_leniently(raw)
                names_role = names_role or b'"role"' in raw
            if isinstance(row, dict) and ("type" in row or "event" in row) and _is_turn_event(row):
                # Before anything else: such a row lists what the turn wrote under `messages`, as a request body does.
                tells_turns = True
                continue
            found = _tell_whole(row, path) if number == 0 else None
            if found is not None:
                if found.NAME == "messages" and any(line.strip() for line in stream):
                    _load_exports().refuse_several(path)
                return found
            if not isinstance(row, dict):
                continue
            if "role" in row:
                return _tell_row(row, path) or amplifier
            if _is_request(row):
                return _load_request()
            refuse_foreign(row, path)
        if tells_turns and any(_has_role(raw) for raw in stream):
            return load_format("chat-log")
    if tells_turns:
        raise DoctorError("unreadable", f"{path} tells of turns only; name the chat log, and this file with --events", path)
    if not names_role and ROWS_NAME not in os.path.basename(path) and path != STDIN:
        # Damage is what the doctor is for, but a README is no damaged transcript, and must not be "repaired" into one.
        raise DoctorError("unreadable", f"{path} holds no row of a transcript; name a transcript, a chat log or a session folder", path)
    return amplifier


def load_format(name: str) -> ModuleType:
    """The module of a format by its name, for rows that are known to be of it."""
    from importlib import import_module

    return import_module(f"doctor.sources.formats.{name.replace('-', '_')}")


def _tell_role_first(source: Source) -> ModuleType:
    """A file that begins like Amplifier's and has another name: a chat log where its rows carry times and nothing of Amplifier's."""
    from doctor.sources.formats import amplifier

    with source.open() as stream:
        raw = stream.readline(LONGEST_FIRST_ROW)
        if not any(key in raw for key in TIME_SIGNS) and raw.rstrip().endswith(b"}"):
            return amplifier
        rows = [raw, *islice(stream, ROWS_LOOKED_AT)]
    row = next((row for row in map(_read_leniently, rows) if isinstance(row, dict)), {})
    # Old files of Amplifier have a time beside the role, too, but no id: their calls give them away.
    is_own = ("id" not in row) and any(sign in line for line in rows for sign in OWN_SIGNS)
    return amplifier if is_own else _tell_row(row, "") or amplifier


def _tell_row(row: object, path: str) -> ModuleType | None:
    """The format of a chat row; None for one that is Amplifier's, which keeps the time in the metadata (old files beside the role)."""
    from doctor.sources.formats import chat_log
    from doctor.sources.formats.chat_rows import has_time, is_chat_row

    if not isinstance(row, dict):
        return None
    is_foreign = not os.path.basename(path).startswith(OWN_NAME) and has_time(row) and "metadata" not in row
    return chat_log if is_chat_row(row) or is_foreign else None


def _tell_whole(value: object, path: str) -> ModuleType | None:
    """The format of a file that is one JSON value: a list of messages, or a request body.

    Raises DoctorError: it is an export that holds its messages somewhere inside.
    """
    if isinstance(value, (dict, list)) and "role" not in value:
        from doctor.sources.formats import messages

        if messages.is_message_list(value):
            return messages
        first = value[0] if isinstance(value, list) and value else None
        if _is_request(value) and not (isinstance(first, dict) and messages.is_message_list(first)):
            return _load_request()
        if isinstance(value, list) or not value.keys() & _KEYS_OF_ROWS:
            _load_exports().refuse_nested(value, path)
    return None


def _tell_text(source: Source, first: bytes, path: str) -> ModuleType | None:
    """The format of a file whose first line is no JSON value: one text over several lines perhaps.

    Raises DoctorError: it is one with messages, but broken.
    """
    value = _read_whole(source)
    found = _tell_whole(value, path)
    if found is None and value is None and not os.path.basename(path).startswith(OWN_NAME):
        with source.open() as stream:
            second = [*islice(stream, 1, 2), b""][0]
        if first.strip() == b"{" or (first[:1] == b"[" and not isinstance(_read_leniently(second), dict)):
            _load_exports().refuse_broken(source.read(0, source.size), path)
    return found


def _read_leniently(raw: bytes) -> object:
    """The value of a line that the fast parser refuses: half a character or a byte that is no UTF-8 says nothing against its form.
    Of records that are glued together the first; None when it is no JSON."""
    try:
        return orjson.loads(raw)
    except ValueError:
        value = _load_request().parse_body(raw)
    if value is None and raw[:1] == b"{":
        from doctor.sources.lines import judge_line

        value = next(iter(judge_line(raw, 0, is_last=False).rows), None)
    return value


def _strip_mark(raw: bytes, path: str) -> bytes:
    """A first line without its byte-order mark. Raises DoctorError: the mark is that of UTF-16."""
    _load_exports().refuse_wide(raw, path)
    return raw.removeprefix(b"\xef\xbb\xbf")


def _has_role(raw: bytes) -> bool:
    row = _read_leniently(raw) if b'"role"' in raw else None
    return isinstance(row, dict) and "role" in row


def _is_turn_event(row: dict[str, object]) -> bool:
    from doctor.sources.formats.chat_rows import find_turn_event

    return bool(find_turn_event(row))


def is_export(head: bytes) -> bool:
    """Whether a file begins as OpenCode's exports do, with the session's own record, perhaps behind a line of the client's talk."""
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body[:1] not in (b"{", b"["):
        noise, brace, rest = body.partition(b"{")
        body = brace + rest if b'"' not in noise else b""
    name, _, value = body[1:].lstrip().partition(b":")
    return body[:1] == b"{" and name.strip() == b'"info"' and value.lstrip()[:1] == b"{"


def _load_exports() -> ModuleType:
    from doctor.sources.formats import exports

    return exports


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
