"""Rows for the examples of rules, in the client's own spelling: each function gives one line of a transcript or of an event log."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# By hand, since every start of the doctor writes the examples of all rules: json.dumps takes ten times as long.
_quote = json.encoder.encode_basestring


def user(text: str) -> str:
    return f'{{"role": "user", "content": {_quote(text)}}}\n'


def reply(text: str) -> str:
    return f'{{"role": "assistant", "content": {_quote(text)}}}\n'


def call(*ids: str, name: str = "bash") -> str:
    """An assistant row with one call for each id, spelled both ways."""
    named = [(_quote(call_id), _quote(name)) for call_id in ids]
    blocks = ", ".join(f'{{"type": "tool_call", "id": {call_id}, "name": {tool}, "input": {{}}}}' for call_id, tool in named)
    listed = ", ".join(f'{{"id": {call_id}, "tool": {tool}, "arguments": {{}}}}' for call_id, tool in named)
    return f'{{"role": "assistant", "content": [{blocks}], "tool_calls": [{listed}]}}\n'


def result(call_id: str, content: str = "ok", name: str = "bash") -> str:
    return f'{{"role": "tool", "name": {_quote(name)}, "tool_call_id": {_quote(call_id)}, "content": {_quote(content)}}}\n'


def placeholder(call_id: str, name: str = "bash") -> str:
    """What the native repair writes: its own key order, no metadata."""
    content = '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}'
    return f'{{"role": "tool", "tool_call_id": {_quote(call_id)}, "name": {_quote(name)}, "content": {_quote(content)}}}\n'


def event(second: float, name: str, status: str = "", **data: Any) -> str:
    """An event of the session "s", so many seconds after three o'clock."""
    head = {"ts": f"2026-01-02T03:00:{second:06.3f}+00:00", "event": name, "session_id": "s"}
    return _line(head | ({"status": status} if status else {}) | {"data": data})


def chat(second: float, id: str, role: str, text: str, **more: Any) -> str:
    """A row of a chat log, so many seconds after three o'clock."""
    return _line({"id": id, "timestamp": f"2026-01-02T03:00:{second:06.3f}+00:00", "role": role, "content": text} | more)


def prompt(message_id: str, text: str | None, *parts: dict[str, Any], created: int = 1) -> dict[str, Any]:
    """A user message of an OpenCode export (V1), with a text part and perhaps others."""
    own = [] if text is None else [{"type": "text", "text": text}]
    return _message({"id": message_id, "role": "user", "time": {"created": created}}, [*own, *parts])


def answer(message_id: str, parent: str, *parts: dict[str, Any], created: int = 2, completed: int = 0, **more: Any) -> dict[str, Any]:
    """An assistant message of an OpenCode export (V1) that answers `parent`."""
    time = {"created": created} | ({"completed": completed} if completed else {})
    return _message({"id": message_id, "role": "assistant", "parentID": parent, "time": time} | more, list(parts))


def tool(call_id: str, status: str = "completed", start: int = 3, end: int = 4) -> dict[str, Any]:
    """A tool part of an OpenCode export (V1)."""
    state: dict[str, Any] = {"status": status, "input": {}, "time": {"start": start}}
    if status == "completed":
        state |= {"output": "ok", "title": "", "metadata": {}, "time": {"start": start, "end": end}}
    return {"type": "tool", "callID": call_id, "tool": "bash", "state": state}


def export(*messages: dict[str, Any], **info: Any) -> str:
    """An OpenCode export (V1) of the session ses_1, one message a line."""
    head = json.dumps({"id": "ses_1", "time": {"created": 1, "updated": 9}} | info, separators=(",", ":"))
    lines = ",\n".join(json.dumps(message, ensure_ascii=False, separators=(",", ":")) for message in messages)
    return f'{{"info":{head},"messages":[\n{lines}]}}\n'


def database(*columns: str) -> str:
    """An OpenCode database (V1) with the empty session ses_1, as statements. `columns` are more columns of the session."""
    more = "".join(f", {column} INTEGER" for column in columns)
    return (
        "CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT NOT NULL);\n"
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT REFERENCES project(id), "
        f"time_created INTEGER, time_updated INTEGER{more});\n"
        "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT REFERENCES session(id), time_created INTEGER, data TEXT);\n"
        "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);\n"
        "CREATE TABLE todo (session_id TEXT REFERENCES session(id), content TEXT);\n"
        "CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT);\n"
        "INSERT INTO project VALUES ('project', '/home/dev/app');\n"
        "INSERT INTO session (id, project_id, time_created, time_updated) VALUES ('ses_1', 'project', 1, 9);\n"
    )


def _message(info: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Ids as the store gives them: every part knows its message and its session."""
    own = {"sessionID": "ses_1"}
    parts = [{"id": f"prt_{number}", **own, "messageID": info["id"], **part} for number, part in enumerate(parts, 1)]
    return {"info": info | own, "parts": parts}


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
