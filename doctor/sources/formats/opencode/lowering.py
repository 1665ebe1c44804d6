"""Stored messages in the doctor's neutral shape: as views, as rows, and as the client would send them.

A tool part is a call and its result in one. It becomes a call of the assistant's view and a view of a result on the same line; while it is
open there is no such result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from doctor.model import (
    EMPTY_CONTENT,
    EMPTY_TEXT,
    SHARED_LINE,
    SPELLED_AS_BLOCK,
    SPELLED_IN_LIST,
    Message,
    ToolCall,
    ToolResult,
)
from doctor.sources.formats.amplifier_content import find_content_flags
from doctor.sources.formats.opencode.entries import Entry
from doctor.sources.formats.opencode.values import get_list, get_object, get_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SPELLING = SPELLED_AS_BLOCK | SPELLED_IN_LIST
HEALED = "client"
"""The maker of a result that the client makes up for each request, and never stores."""
_SIGNERS = ("anthropic", "bedrock", "vertex", "google-vertex-anthropic")


def lower_value(value: Any, entry: Entry, generation: int) -> list[Message]:
    """The views of one stored message: none for what is no part of the conversation."""
    row = build_row(value, entry, generation)
    if row is None:
        return []
    role = row["role"]
    flags = find_content_flags(row, role)
    if not entry.is_assistant:
        prompt = entry.prompt if entry.kind == "user" else ""
        kind = "prompt" if entry.kind == "user" and role == "user" else "system" if role == "system" else "hook"
        return [Message(entry.line, role, kind, (), (), hash(prompt) if prompt else 0, flags)]
    # What the provider ran itself has its result inside the assistant's own turn.
    tools = [tool for tool in entry.tools if not tool.is_hosted]
    calls = tuple(ToolCall(tool.call_id, tool.name, SPELLING) for tool in tools)
    says = any(block["type"] == "text" and block["text"] for block in row["content"])
    kind = "call" if calls else "reply" if says else "odd"
    views = [Message(entry.line, role, kind, calls, (), 0, flags)]
    for tool in tools:
        if not tool.is_open:
            result = ToolResult(tool.call_id, tool.name, tool.maker)
            views.append(Message(entry.line, "tool", "result", (), (result,), 0, SHARED_LINE))
    return views


def build_row(value: Any, entry: Entry, generation: int) -> dict[str, Any] | None:
    """A message in Amplifier's shape; None for what is never sent (idle marks, switches, a compaction that did not end)."""
    if entry.is_assistant:
        blocks = _list_first(value, entry) if generation == 1 else _list_second(value, entry)
        calls = [
            {"id": block["id"], "tool": block["name"], "arguments": block["input"]} for block in blocks if block["type"] == "tool_call"
        ]
        return {"role": "assistant", "content": blocks, **({"tool_calls": calls} if calls else {})}
    if generation == 1:
        return _build_first_user(value) if entry.kind in ("user", "synthetic") else None
    if entry.kind == "system":
        return {"role": "system", "content": get_text(value, "text")}
    if entry.kind in ("user", "synthetic"):
        files = [{"type": "image", "source": {}} for _ in get_list(value, "files")]
        text = get_text(value, "text")
        return {"role": "user", "content": [{"type": "text", "text": text}, *files] if files else text}
    if entry.kind == "compaction" and entry.status == "completed":
        return {"role": "user", "content": get_text(value, "summary")}
    return {"role": "user", "content": get_text(value, "command")} if entry.kind == "shell" else None


def _build_first_user(value: Any) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = []
    for part in get_list(value, "parts"):
        kind = get_text(part, "type")
        if kind == "text" and not part.get("ignored"):
            blocks.append({"type": "text", "text": get_text(part, "text")})
        elif kind == "file":
            blocks.append({"type": "image", "source": {}})
        elif kind == "compaction":
            # The client puts a question of its own in the place of these two.
            blocks.append({"type": "text", "text": "(compaction)"})
        elif kind == "subtask":
            blocks.append({"type": "text", "text": "(subtask)"})
    if len(blocks) == 1 and blocks[0]["type"] == "text":
        return {"role": "user", "content": blocks[0]["text"]}
    return {"role": "user", "content": blocks}


def _list_first(value: Any, entry: Entry) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in get_list(value, "parts"):
        kind = get_text(part, "type")
        if kind == "text":
            blocks.append({"type": "text", "text": get_text(part, "text")})
        elif kind == "reasoning":
            # Without a signature its SDK leaves it out, with a warning, whoever the provider is.
            native = get_object(part, "metadata")
            blocks += _build_thinking(part, native, entry) if _find_signature(native) else []
        elif kind == "tool" and get_object(part, "metadata").get("providerExecuted") is not True:
            state = get_object(part, "state")
            blocks.append(_build_call(get_text(part, "callID"), get_text(part, "tool"), state.get("input", {})))
    return blocks


def _list_second(value: Any, entry: Entry) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in get_list(value, "content"):
        kind = get_text(part, "type")
        if kind == "text":
            blocks.append({"type": "text", "text": get_text(part, "text")})
        elif kind == "reasoning" and not entry.error:
            native = get_object(part, "native") or get_object(part, "state") or get_object(part, "providerState")
            blocks += _build_thinking(part, native, entry)
        elif kind == "tool" and part.get("executed") is not True:
            given = get_object(part, "state").get("input", {})
            # While it streams, the input is a piece of JSON text, which is how it should be.
            streaming = get_text(get_object(part, "state"), "status") == "streaming"
            blocks.append(_build_call(get_text(part, "id"), get_text(part, "name"), {} if streaming else given))
    return blocks


def _build_call(call_id: str, name: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": given}


def _build_thinking(part: Any, native: dict[str, Any], entry: Entry) -> list[dict[str, Any]]:
    """Thinking with its signature where there is one. Without, it counts only where its provider signs: others are sent it otherwise."""
    signed = _find_signature(native)
    if not signed and not any(name in entry.provider for name in _SIGNERS):
        return []
    if native.get("redacted") or "redactedData" in get_object(native, "anthropic"):
        return [{"type": "redacted_thinking", "data": ""}]
    return [{"type": "thinking", "thinking": get_text(part, "text"), "signature": signed}]


def _find_signature(native: dict[str, Any]) -> str:
    """The signature, under whatever provider's name it is kept. A sanitized export has "redacted" in its place, which stands for one."""
    for found in (native, *(inner for inner in native.values() if isinstance(inner, dict))):
        for key in ("signature", "redactedData", "redacted", "encryptedContent", "reasoningEncryptedContent", "thoughtSignature"):
            if isinstance(found.get(key), str) and found[key]:
                return str(found[key])
    return ""


def list_sent(views: Sequence[Message], entries: Sequence[Entry], generation: int) -> list[Message]:
    """The conversation as the client sends it at its next prompt.

    Both generations end open calls before they send (V1 in the request, V2 once in the store when an execution begins), and leave out
    messages without content and what lies before the last compaction. V1 also leaves out answers that ended in an error.
    """
    by_line: dict[int, list[Message]] = {}
    for view in views:
        by_line.setdefault(view.line, []).append(view)
    sent: list[Message] = []
    for entry in entries[find_context(entries, generation) :]:
        own = by_line.get(entry.line, [])
        if not own or (entry.is_assistant and generation == 1 and _is_left_out(entry)) or own[0].flags & EMPTY_CONTENT:
            continue
        own = [_rename(view) for view in own] if generation == 1 else own
        sent.append(own[0]._replace(flags=own[0].flags & ~EMPTY_TEXT))
        healed = [tool for tool in entry.tools if tool.is_open and not tool.is_hosted]
        sent += own[1:]
        for tool in healed:
            call_id = _clean(tool.call_id) if generation == 1 else tool.call_id
            sent.append(Message(entry.line, "tool", "result", (), (ToolResult(call_id, tool.name, HEALED),), 0, SHARED_LINE))
    return sent


def _rename(view: Message) -> Message:
    """V1 sends ids of calls in letters, digits, `_` and `-` only."""
    calls = tuple(call._replace(id=_clean(call.id)) for call in view.calls)
    return view._replace(calls=calls, results=tuple(result._replace(call_id=_clean(result.call_id)) for result in view.results))


def _clean(call_id: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)


def find_context(entries: Sequence[Entry], generation: int) -> int:
    """Index of the first entry that is still sent: behind, or at, the last compaction that came to its end."""
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if generation == 2 and entry.kind == "compaction" and entry.status == "completed":
            return index
        if generation == 1 and entry.kind == "summary" and entry.finish and not entry.error:
            asked = next((at for at in range(index, -1, -1) if entries[at].id == entry.parent), index)
            kept = next((at for at, other in enumerate(entries) if other.id == entries[asked].tail), asked)
            return min(kept, asked)
    return 0


def _is_left_out(entry: Entry) -> bool:
    if not entry.error:
        return not entry.parts
    return not entry.is_aborted or all(part in ("step-start", "reasoning") for part in entry.parts)
