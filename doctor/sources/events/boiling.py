"""One event boiled down to what the doctor needs of it. The row itself, which may hold megabytes, is let go at once."""

from __future__ import annotations

from typing import Any, NamedTuple

LONGEST_TEXT = 2_000
"""Characters of a prompt, a reply or an error text that are kept for reports."""

WANTED = frozenset(
    (
        "prompt:submit", "prompt:complete", "execution:start", "execution:end", "orchestrator:complete", "orchestrator:steering_injected",
        "session:start", "session:resume", "session:fork", "session:end", "cancel:requested", "cancel:completed",
        "provider:request", "provider:error", "provider:tool_sequence_repaired", "tool:pre", "tool:post", "tool:error",
        "context:compaction", "context:post_compact",
    )
)  # fmt: skip
"""Kinds that are parsed whole. All others, also unknown ones, are passed over."""

HEAD_ONLY = frozenset(("llm:request", "llm:response"))
"""Kinds of which only the part before `"data"` is read: they embed the whole conversation."""


class Event(NamedTuple):
    """One event of interest. Empty strings, 0 and -1 stand for "not said".

    `text`: a prompt, a reply, a steered text or an error, cut. `text_key`: hash() of the whole text, 0 when redacted or not there.
    `number`: the iteration of a provider:request. `offset`, `length`: the record's byte span, for ends of tool runs.
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


def boil_event(row: dict[str, Any], raw: bytes, line: int, offset: int) -> Event:
    """The Event of a parsed row whose bytes are `raw`. Fields of the wrong type count as missing."""
    data = row.get("data")
    if data.__class__ is not dict:
        data = {}
    name = row["event"]
    time = row.get("ts") or row.get("timestamp") or ""
    session_id = row.get("session_id") or data.get("session_id") or ""
    base = (line, name, time if time.__class__ is str else "", session_id if session_id.__class__ is str else "")
    if name.startswith("tool:"):
        return _boil_tool(base, row, data, raw, offset)
    if name == "provider:request":
        number = data.get("iteration")
        return Event(*base, "", "", "", "", 0, "", number if number.__class__ is int else 0)
    if name in ("execution:start", "prompt:submit", "session:start"):
        text = data.get("prompt")
        is_redacted = _is_redacted(row, data, raw)
        text = text if text.__class__ is str else ""
        return Event(*base, text=text[:LONGEST_TEXT], text_key=hash(text) if text and not is_redacted else 0, redacted=is_redacted)
    if name == "prompt:complete":
        prompt, response = data.get("prompt"), data.get("response")
        key = hash(prompt) if prompt.__class__ is str and prompt and not _is_redacted(row, data, raw) else 0
        return Event(*base, text=response[:LONGEST_TEXT] if response.__class__ is str else "", text_key=key)
    if name == "orchestrator:steering_injected":
        text = data.get("content")
        return Event(*base, text_key=hash(text) if text.__class__ is str else 0)
    if name == "provider:error":
        return Event(*base, text=read_error(_pick(row, data, "error")), request_id=_read_id(_pick(row, data, "request_id")))
    status = _pick(row, data, "status")
    return Event(*base, "", "", "", "", 0, status if status.__class__ is str else "")


def boil_head(row: dict[str, Any], line: int, name: str, time: str) -> Event:
    """The Event of an llm:* line of which only the envelope was read; `row` is {} when even that could not be."""
    status, session_id, error = row.get("status"), row.get("session_id"), row.get("error")
    return Event(
        line,
        name,
        time,
        session_id if session_id.__class__ is str else "",
        "",
        "",
        "",
        read_error(error) if error else "",
        0,
        status if status.__class__ is str else "",
        0,
        _read_id(row.get("request_id")),
    )


def read_error(value: Any) -> str:
    """The text of an error, cut. Providers wrap theirs in JSON: the message within is what people search for."""
    if value.__class__ is dict:
        value = value.get("msg") or value.get("message") or value.get("error") or ""
        if value.__class__ is dict:
            return read_error(value)
    if value.__class__ is not str:
        return ""
    if value.startswith("{") and len(value) < 100_000:
        import orjson

        try:
            inner = orjson.loads(value)
        except ValueError:
            return value[:LONGEST_TEXT]
        found = inner.get("error") if inner.get("error").__class__ is dict else inner
        message = found.get("message")
        return message[:LONGEST_TEXT] if message.__class__ is str else value[:LONGEST_TEXT]
    return value[:LONGEST_TEXT]


def _boil_tool(base: tuple[int, str, str, str], row: dict[str, Any], data: dict[str, Any], raw: bytes, offset: int) -> Event:
    # Before 2026 the payload was {tool, arguments} without an id.
    tool = data.get("tool_name") or data.get("tool") or ""
    call_id, group = data.get("tool_call_id"), data.get("parallel_group_id")
    call_id = call_id if call_id.__class__ is str else _read_id(call_id)
    group = group if group.__class__ is str else _read_id(group)
    tool = tool if tool.__class__ is str else ""
    if base[1] == "tool:pre":
        return Event(*base, call_id, tool, group)
    error = _pick(row, data, "error") if base[1] == "tool:error" else None
    kind = error.get("type") if error.__class__ is dict else ""
    kind = kind if kind.__class__ is str else ""
    # Only the mark: the words within are looked at when the result is read.
    is_redacted = "redaction" in row or "redaction" in data
    return Event(*base, call_id, tool, group, "", 0, kind, 0, "", is_redacted and _is_redacted(row, data, raw), offset, len(raw))


def _pick(row: dict[str, Any], data: dict[str, Any], key: str) -> Any:
    """A field that the logging hook promotes from the payload to the envelope, in newer versions only."""
    value = row.get(key)
    return data.get(key) if value is None else value


def _read_id(value: Any) -> str:
    return value if value.__class__ is str else str(value) if value.__class__ is int else ""


def _is_redacted(row: dict[str, Any], data: dict[str, Any], raw: bytes) -> bool:
    if b"[REDACTED" in raw:
        return True
    mark = _pick(row, data, "redaction")
    return bool(mark.get("applied")) if mark.__class__ is dict else bool(mark)
