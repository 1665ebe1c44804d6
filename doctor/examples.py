"""Rows for the examples of rules, in the client's own spelling: each function gives one line of a transcript or of an event log."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def user(text: str) -> str:
    return _line({"role": "user", "content": text})


def reply(text: str) -> str:
    return _line({"role": "assistant", "content": text})


def call(*ids: str, name: str = "bash") -> str:
    """An assistant row with one call for each id, spelled both ways."""
    blocks = [{"type": "tool_call", "id": call_id, "name": name, "input": {}} for call_id in ids]
    return _line(
        {"role": "assistant", "content": blocks, "tool_calls": [{"id": call_id, "tool": name, "arguments": {}} for call_id in ids]}
    )


def result(call_id: str, content: str = "ok", name: str = "bash") -> str:
    return _line({"role": "tool", "name": name, "tool_call_id": call_id, "content": content})


def placeholder(call_id: str, name: str = "bash") -> str:
    """What the native repair writes: its own key order, no metadata."""
    content = '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}'
    return _line({"role": "tool", "tool_call_id": call_id, "name": name, "content": content})


def event(second: float, name: str, status: str = "", **data: Any) -> str:
    """An event of the session "s", so many seconds after three o'clock."""
    head = {"ts": f"2026-01-02T03:00:{second:06.3f}+00:00", "event": name, "session_id": "s"}
    return _line(head | ({"status": status} if status else {}) | {"data": data})


def chat(second: float, id: str, role: str, text: str, **more: Any) -> str:
    """A row of a chat log, so many seconds after three o'clock."""
    return _line({"id": id, "timestamp": f"2026-01-02T03:00:{second:06.3f}+00:00", "role": role, "content": text} | more)


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
