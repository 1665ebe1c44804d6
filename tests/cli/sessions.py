"""Small sessions on disk, sound and damaged in ways that need no event log to be seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PROMPT: dict[str, Any] = {"role": "user", "content": "list the files"}
REPLY: dict[str, Any] = {"role": "assistant", "content": [{"type": "text", "text": "two files"}]}


def call(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_call", "id": call_id, "name": "bash", "input": {}} for call_id in ids]
    return {"role": "assistant", "content": blocks, "tool_calls": [{"id": call_id, "tool": "bash", "arguments": {}} for call_id in ids]}


def result(call_id: str, content: str = "a.txt b.txt") -> dict[str, Any]:
    return {"role": "tool", "name": "bash", "tool_call_id": call_id, "content": content}


SOUND = (PROMPT, call("call_1"), result("call_1"), REPLY)
MISSING = (PROMPT, call("call_1"), PROMPT, REPLY)
DISPLACED = (PROMPT, call("call_1"), {"role": "user", "content": "hurry up"}, result("call_1"), REPLY)


def encode(rows: Any) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def write_session(folder: Path, rows: Any, name: str = "session") -> Path:
    """A session folder with a transcript; returns the transcript's path."""
    path = folder / name / "transcript.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode(rows))
    return path
