"""The rows of a transcript as texts to read beside the time line, read again from disk and cut to a size that a page can hold."""

from __future__ import annotations

import json
from collections.abc import Collection

from doctor.model import Transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_ROWS = 2_000
LONGEST_ROW = 4_000
MOST_CHARACTERS = 2_000_000
LEAST_ROW = 400


def choose_rows(transcript: Transcript, wanted: Collection[int]) -> tuple[list[int], int]:
    """(lines to show in order, characters that each may take). Lines in `wanted` come first, then those from the top."""
    lines = range(transcript.line_count)
    if len(lines) <= MOST_ROWS:
        chosen = list(lines)
    else:
        kept = sorted(line for line in wanted if 0 <= line < len(lines))[:MOST_ROWS]
        known = set(kept)
        spare = (line for line in lines if line not in known)
        chosen = sorted([*kept, *(line for line, _ in zip(spare, range(MOST_ROWS - len(kept)), strict=False))])
    return chosen, max(LEAST_ROW, min(LONGEST_ROW, MOST_CHARACTERS // max(1, len(chosen))))


def write_row_text(transcript: Transcript, line: int, longest: int) -> str:
    """What a row says: its texts, its calls with their arguments, its results. The raw line where it can't be understood."""
    row = transcript.read_row(line)
    if not isinstance(row, dict) or ("content" not in row and "message" not in row and "tool_calls" not in row):
        return _cut(transcript.read_line(line)[: 4 * longest].decode("utf-8", "backslashreplace"), longest)
    inner = row["message"] if isinstance(row.get("message"), dict) else row
    parts = _list_parts(inner.get("content"))
    spelled = isinstance(inner.get("content"), list) and any(
        isinstance(block, dict) and block.get("type") in ("tool_call", "tool_use") for block in inner["content"]
    )
    if not spelled and isinstance(inner.get("tool_calls"), list):
        parts += [_write_call(call) for call in inner["tool_calls"]]
    call_id = inner.get("tool_call_id")
    if isinstance(call_id, str):
        parts.insert(0, f"result of {inner.get('name') or 'a call'} {call_id}")
    return _cut("\n".join(part for part in parts if part), longest)


def _list_parts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return [] if content is None else [_dump(content)]
    return [_write_block(block) for block in content]


def _write_block(block: Any) -> str:
    if not isinstance(block, dict):
        return block if isinstance(block, str) else _dump(block)
    kind = block.get("type")
    if kind in ("tool_call", "tool_use"):
        return _write_call(block)
    if kind == "tool_result":
        call_id = block.get("tool_call_id", block.get("tool_use_id", ""))
        return "\n".join([f"result of {call_id}", *_list_parts(block.get("output", block.get("content")))])
    if isinstance(block.get("text"), str):
        return block["text"]
    if isinstance(block.get("thinking"), str):
        return f"[thinking] {block['thinking']}"
    return f"[{kind}]" if isinstance(kind, str) else _dump(block)


def _write_call(call: Any) -> str:
    if not isinstance(call, dict):
        return _dump(call)
    function = call["function"] if isinstance(call.get("function"), dict) else {}
    name = call.get("name") or call.get("tool") or function.get("name") or "?"
    arguments = next((part[key] for part, key in _places_of_arguments(call, function) if key in part), None)
    return f"calls {name} {call.get('id', '')}\n{arguments if isinstance(arguments, str) else _dump(arguments)}"


def _places_of_arguments(call: dict[str, Any], function: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    return [(call, "input"), (call, "arguments"), (function, "arguments")]


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}\n… {len(text) - longest:,} more characters"
