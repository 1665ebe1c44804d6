"""One event boiled down to what the doctor needs of it. The row itself, which may hold megabytes, is let go at once."""

from __future__ import annotations

from collections.abc import Callable
from sys import intern

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Fields = dict[str, Any]
else:
    Fields = dict

_NEW = tuple.__new__
"""Thousands of events are made: all fields by position, past the checks of Event's own constructor."""

LONGEST_TEXT = 2_000
"""Characters of a prompt, a reply or an error text that are kept for reports."""
LONGEST_WRAPPED_ERROR = 100_000

Base = tuple[int, str, str, str]


class Event(Record):
    """One event of interest. Empty strings, 0 and -1 stand for "not said".

    `text`: a prompt, a reply, a steered text or an error, cut; of a repair of requests the ids of the calls. `text_key`: hash() of the
    whole text, 0 when redacted or not there; of a call without an id that of its arguments.
    `number`: the iteration of a provider:request. `offset`, `length`: the record's byte span, for ends of tool runs; starts of executions
    have the offset alone.
    """

    line: int
    name: str
    time: str
    session_id: str = ""
    call_id: str = ""
    tool: str = ""
    group: str = ""
    text: str = ""
    text_key: int = 0
    status: str = ""
    number: int = 0
    request_id: str = ""
    redacted: bool = False
    offset: int = -1
    length: int = 0
    provider: str = ""
    model: str = ""
    """Of requests: whom they went to, as the client calls it."""


_BLANK = Event(0, "", "")
_FROM_CALL_ID, _FROM_TEXT, _FROM_STATUS, _FROM_NUMBER = _BLANK[4:], _BLANK[7:], _BLANK[9:], _BLANK[10:]
"""What fills an event up from a field on when nothing more is said of it."""


def boil_event(row: Fields, data: Fields, raw: bytes, line: int, offset: int) -> Event:
    """The Event of a parsed row of a wanted kind, whose bytes are `raw`. Fields of the wrong type count as missing."""
    # Thousands of events share these texts: one copy of each is enough.
    name = intern(row["event"])
    time = row.get("ts") or row.get("timestamp")
    session_id = row.get("session_id") or data.get("session_id")
    base = (line, name, time if time.__class__ is str else "", intern(session_id) if session_id.__class__ is str else "")
    return BOILERS[name](base, row, data, raw, offset)


def boil_head(row: Fields, line: int, name: str, time: str, data: Fields) -> Event:
    """The Event of an llm:* line of which only the envelope was read; `row` is {} when even that could not be. `data`: what is known of
    the payload."""
    status, session_id, error = row.get("status"), row.get("session_id"), row.get("error")
    return _NEW(Event, (
        line,
        intern(name),
        time,
        intern(session_id) if session_id.__class__ is str else "",
        "",
        "",
        "",
        read_error(error) if error else "",
        0,
        intern(status) if status.__class__ is str else "",
        0,
        _read_id(row.get("request_id")),
        False,
        -1,
        0,
        read_name(data.get("provider")),
        read_name(data.get("model")),
    ))  # fmt: skip


def read_name(value: Any) -> str:
    return intern(value) if value.__class__ is str else ""


def read_error(value: Any) -> str:
    """The text of an error, cut. Providers wrap theirs in JSON: the message within is what people search for."""
    if value.__class__ is dict:
        value = value.get("msg") or value.get("message") or value.get("error") or ""
        if value.__class__ is dict:
            return read_error(value)
    if value.__class__ is not str:
        return ""
    return (_unwrap_error(value) or value)[:LONGEST_TEXT]


def _unwrap_error(text: str) -> str:
    if not text.startswith("{") or len(text) > LONGEST_WRAPPED_ERROR:
        return ""
    import orjson

    try:
        inner = orjson.loads(text)
    except ValueError:
        return ""
    wrapped = inner.get("error")
    message = (wrapped if wrapped.__class__ is dict else inner).get("message")
    return message if message.__class__ is str else ""


def _boil_name(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    return _NEW(Event, base + _FROM_CALL_ID)


def _boil_status(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    status = _pick(row, data, "status")
    return _NEW(Event, (*base, "", "", "", "", 0, status if status.__class__ is str else "", *_FROM_NUMBER))


def _boil_start(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    text = data.get("prompt")
    if text.__class__ is not str or not text:
        return Event(*base, offset=offset)
    is_redacted = b"[REDACTED" in raw or _is_marked_redacted(row, data)
    return Event(*base, "", "", "", text[:LONGEST_TEXT], 0 if is_redacted else hash(text), redacted=is_redacted, offset=offset)


def _boil_reply(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    prompt, response = data.get("prompt"), data.get("response")
    is_known = prompt.__class__ is str and prompt and not _is_marked_redacted(row, data) and "[REDACTED" not in prompt
    text = response[:LONGEST_TEXT] if response.__class__ is str else ""
    return _NEW(Event, (*base, "", "", "", text, hash(prompt) if is_known else 0, *_FROM_STATUS))


def _boil_steering(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    text = data.get("content")
    return Event(*base, text_key=hash(text) if text.__class__ is str else 0)


def _boil_request(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    number, provider = data.get("iteration"), read_name(data.get("provider"))
    return _NEW(Event, (*base, "", "", "", "", 0, "", number if number.__class__ is int else 0, "", False, -1, 0, provider, ""))


def _boil_refusal(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    return Event(*base, text=read_error(_pick(row, data, "error")), request_id=_read_id(_pick(row, data, "request_id")))


def _boil_repair(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    repairs = data.get("repairs")
    ids = [_read_id(one.get("tool_call_id")) for one in repairs if one.__class__ is dict] if repairs.__class__ is list else []
    return Event(*base, text=" ".join(filter(None, ids)))


def _boil_call(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    # Before 2026 the payload was {tool, arguments} without an id.
    tool = data.get("tool_name") or data.get("tool")
    call_id, group = _read_id(data.get("tool_call_id")), _read_id(data.get("parallel_group_id"))
    name = intern(tool) if tool.__class__ is str else ""
    if not call_id:
        return Event(*base, tool=name, group=group, text_key=hash_arguments(data.get("arguments", data.get("tool_input"))))
    return _NEW(Event, (*base, call_id, name, group, *_FROM_TEXT))


def hash_arguments(arguments: Any) -> int:
    """A number that equal arguments share, inside one process."""
    import json

    return hash(json.dumps(arguments, sort_keys=True))


def _boil_result(base: Base, row: Fields, data: Fields, raw: bytes, offset: int) -> Event:
    tool = data.get("tool_name") or data.get("tool")
    error = _pick(row, data, "error") if base[1] == "tool:error" else None
    kind = error.get("type") if error.__class__ is dict else ""
    return _NEW(Event, (
        *base,
        _read_id(data.get("tool_call_id")),
        intern(tool) if tool.__class__ is str else "",
        _read_id(data.get("parallel_group_id")),
        "",
        0,
        kind if kind.__class__ is str else "",
        0,
        "",
        # Only the mark: the words of a result are looked at when it is read.
        _is_marked_redacted(row, data),
        offset,
        len(raw),
        "",
        "",
    ))  # fmt: skip


def _pick(row: Fields, data: Fields, key: str) -> Any:
    """A field that the logging hook promotes from the payload to the envelope, in newer versions only."""
    value = row.get(key)
    return data.get(key) if value is None else value


def _read_id(value: Any) -> str:
    return value if value.__class__ is str else str(value) if value.__class__ is int else ""


def _is_marked_redacted(row: Fields, data: Fields) -> bool:
    if "redaction" not in row and "redaction" not in data:
        return False
    mark = _pick(row, data, "redaction")
    return bool(mark.get("applied")) if mark.__class__ is dict else bool(mark)


BOILERS: dict[str, Callable[[Base, Fields, Fields, bytes, int], Event]] = {
    "prompt:submit": _boil_start,
    "prompt:complete": _boil_reply,
    "execution:start": _boil_start,
    "execution:end": _boil_status,
    "orchestrator:complete": _boil_status,
    "orchestrator:steering_injected": _boil_steering,
    "session:start": _boil_start,
    "session:resume": _boil_name,
    "session:fork": _boil_name,
    "session:end": _boil_status,
    "cancel:requested": _boil_name,
    "cancel:completed": _boil_name,
    "provider:request": _boil_request,
    "provider:error": _boil_refusal,
    "provider:tool_sequence_repaired": _boil_repair,
    "tool:pre": _boil_call,
    "tool:post": _boil_result,
    "tool:error": _boil_result,
    "context:compaction": _boil_name,
    "context:post_compact": _boil_name,
}
"""The kinds that are parsed whole. All others, also unknown ones, are passed over."""

HEAD_ONLY = frozenset(("llm:request", "llm:response"))
"""Kinds of which only the part before `"data"` is read: they embed the whole conversation."""
