"""Amplifier rows that are not plainly fine: other spellings, other hosts, and rows that the client's loader refuses."""

from __future__ import annotations

import json
from functools import lru_cache

from doctor.model import (
    BROKEN_SHAPE,
    MIXED_CONTENT,
    SPELLED_AS_BLOCK,
    SPELLED_FOREIGN,
    SPELLED_IN_LIST,
    SPELLINGS_DISAGREE,
    Message,
    ShapeProblem,
    ToolCall,
    ToolResult,
    Transcript,
)
from doctor.placeholders import find_maker, is_invented_reply
from doctor.sources.formats.amplifier_content import find_content_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROLES = ("system", "developer", "user", "assistant", "function", "tool")
SCHEMA = "amplifier-row.schema.json"
SCHEMA_LEVELS = 6
"""More than the schema looks into: a row, its content, a block, what is in it."""
MOST_SHAPE_PROBLEMS = 100
"""A schema run costs 35 times the parsing of its row: beyond this many, problems are only counted."""
REMINDER = "<system-reminder"
"""Opens `<system-reminder>`, `<system-reminder source="…">` and `<system-reminders>` alike."""


def find_user_kind(content: Any, metadata: Any) -> str:
    """Whether a user row is a turn of the user's: "prompt", or "reminder" / "hook" for rows that the client put there."""
    if metadata and (metadata.get("source") == "hook" or metadata.get("ephemeral") or metadata.get("persisted")):
        return "hook"
    if content.__class__ is str:
        return "reminder" if content.lstrip()[:16] == REMINDER else "prompt"
    texts = [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if texts and all(isinstance(text, str) and text.lstrip().startswith(REMINDER) for text in texts):
        return "reminder"
    return "prompt"


def read_odd_row(transcript: Transcript, row: Any, line: int) -> Message | None:
    """The view of any row, as far as it can be read; notes in the transcript what the client's loader would refuse.

    Returns None for a row that is not an object, for it is no message.
    """
    problems = _find_shape_problems(row, line, detailed=len(transcript.shape_problems) < MOST_SHAPE_PROBLEMS)
    if problems:
        transcript.shape_problem_count += len(problems)
        transcript.shape_problems += problems[: max(0, MOST_SHAPE_PROBLEMS - len(transcript.shape_problems))]
    if not isinstance(row, dict):
        return None
    return view_row(row, line, BROKEN_SHAPE if problems else 0)


def view_row(row: dict[str, Any], line: int, flags: int = 0) -> Message:
    """The view of a row in any spelling of calls and results, taken as it is."""
    role = row.get("role") if isinstance(row.get("role"), str) else ""
    flags |= find_content_flags(row, role)
    metadata = row.get("metadata") if isinstance(row.get("metadata"), dict) else None
    content = row.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    results = _read_results(row, role, content, blocks, metadata)
    if role == "assistant":
        return _read_assistant(row, content, blocks, metadata, line, flags)
    if results:
        if role != "tool" and len(results) < len(content):
            flags |= MIXED_CONTENT
        return Message(line, role, "result", (), results, 0, flags)
    if role == "user":
        text = content if isinstance(content, str) else "\n".join(b["text"] for b in blocks if isinstance(b.get("text"), str))
        return Message(line, role, find_user_kind(content, metadata), (), (), hash(text), flags)
    return Message(line, role, "system" if role in ("system", "developer") else "odd", (), (), 0, flags)


def _read_results(
    row: dict[str, Any], role: str, content: Any, blocks: list[dict[str, Any]], metadata: dict[str, Any] | None
) -> tuple[ToolResult, ...]:
    name = row.get("name") if isinstance(row.get("name"), str) else ""
    if role == "tool":
        call_id = _read_id(row.get("tool_call_id"))
        return (ToolResult(call_id, name, find_maker(_flatten(content), metadata)),)
    found = []
    for block in blocks:
        if role != "assistant" and block.get("type") == "tool_result":
            call_id = _read_id(block.get("tool_call_id", block.get("tool_use_id")))
            output = block.get("output", block.get("content"))
            found.append(ToolResult(call_id, "", find_maker(_flatten(output), metadata)))
    return tuple(found)


def _read_assistant(
    row: dict[str, Any], content: Any, blocks: list[dict[str, Any]], metadata: dict[str, Any] | None, line: int, flags: int
) -> Message:
    in_blocks = [
        ToolCall(_read_id(block.get("id")), _read_text(block.get("name")), SPELLED_AS_BLOCK)
        for block in blocks
        if block.get("type") in ("tool_call", "tool_use")
    ]
    listed = row.get("tool_calls")
    in_list = [_read_listed_call(item) for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not in_blocks and not in_list:
        text = content if isinstance(content, str) else "\n".join(b["text"] for b in blocks if isinstance(b.get("text"), str))
        kind = "invented" if not metadata and is_invented_reply(text) else "reply"
        return Message(line, "assistant", kind, (), (), 0, flags)
    calls, disagree = _merge_spellings(in_blocks, in_list)
    return Message(line, "assistant", "call", calls, (), 0, flags | (SPELLINGS_DISAGREE if disagree else 0))


def _read_listed_call(item: dict[str, Any]) -> ToolCall:
    """One item of tool_calls: `{id,tool,arguments}` is Amplifier's own; `{id,function:{…}}` and `{id,name,input}` are not."""
    function = item.get("function")
    if isinstance(item.get("tool"), str):
        return ToolCall(_read_id(item.get("id")), item["tool"], SPELLED_IN_LIST)
    name = function.get("name") if isinstance(function, dict) else item.get("name")
    return ToolCall(_read_id(item.get("id")), _read_text(name), SPELLED_IN_LIST | SPELLED_FOREIGN)


def _merge_spellings(in_blocks: list[ToolCall], in_list: list[ToolCall]) -> tuple[tuple[ToolCall, ...], bool]:
    """The calls of both spellings as one list, and whether the two name different calls."""
    if not in_blocks or not in_list:
        return tuple(in_blocks or in_list), False
    block_ids = [call.id for call in in_blocks]
    list_ids = [call.id for call in in_list]
    if sorted(block_ids) == sorted(list_ids):
        spelling = {call.id: call for call in in_list}
        merged = tuple(ToolCall(c.id, c.name or spelling[c.id].name, c.spelling | spelling[c.id].spelling) for c in in_blocks)
        return merged, any(c.name and spelling[c.id].name and c.name != spelling[c.id].name for c in in_blocks)
    extra = [call for call in in_list if call.id not in block_ids]
    return tuple(in_blocks + extra), True


def _read_id(value: Any) -> str:
    """An id as text; numbers count as their digits, so that a call and its result still meet."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _read_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _flatten(content: Any) -> Any:
    """The text of a result, also where it is stored as blocks."""
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict)]
        return texts[0] if len(texts) == 1 and len(content) == 1 else None
    return content


@lru_cache(maxsize=1)
def load_validator() -> Any:
    """The compiled JSON Schema of a row. Imported late: jsonschema costs ten times the start of Python."""
    from importlib.resources import files

    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(files("doctor.rules").joinpath(SCHEMA).read_text("utf-8")))


def _find_shape_problems(row: Any, line: int, detailed: bool) -> list[ShapeProblem]:
    if not isinstance(row, dict):
        return [ShapeProblem(line, "object", f"the row is {_name_type(row)}, not an object")]
    if is_sound_row(row):
        return []
    if not detailed:
        return [ShapeProblem(line, "role" if not isinstance(row.get("role"), str) else "content", "the row has an unknown shape")]
    found: dict[tuple[str, str], ShapeProblem] = {}
    # The validator spells each value that it minds: what lies below the schema's reach may be nested deeper than that can go.
    row = _cut_below(row, SCHEMA_LEVELS)
    for error in sorted(load_validator().iter_errors(row), key=lambda error: [str(part) for part in error.absolute_path]):
        for leaf in [error, *(error.context or ())] if error.validator != "anyOf" else [error]:
            problem = _describe(leaf, row, line)
            found.setdefault((problem.kind, problem.where), problem)
    return list(found.values())


def _cut_below(value: Any, levels: int) -> Any:
    """The value with empty ones in the place of all objects and lists that lie deeper than so many levels."""
    if isinstance(value, dict):
        return {key: _cut_below(part, levels - 1) for key, part in value.items()} if levels else {}
    if isinstance(value, list):
        return [_cut_below(part, levels - 1) for part in value] if levels else []
    return value


def is_sound_row(row: dict[str, Any]) -> bool:
    """Whether the schema would pass a row, decided without it: a schema run costs 35 times the parsing."""
    role, content, listed = row.get("role"), row.get("content"), row.get("tool_calls")
    if role not in ROLES or row.get("metadata").__class__ not in (dict, type(None)) or row.get("name").__class__ not in (str, type(None)):
        return False
    if role == "tool" and not _is_text(row.get("tool_call_id")):
        return False
    if content.__class__ is list:
        if not all(block.__class__ is dict and _is_sound_block(block) for block in content):
            return False
    elif content.__class__ is not str:
        return False
    return listed is None or (listed.__class__ is list and all(item.__class__ is dict and _is_sound_call(item) for item in listed))


def _is_text(value: Any) -> bool:
    return value.__class__ is str and bool(value)


def _is_sound_call(item: dict[str, Any]) -> bool:
    if not _is_text(item.get("id")) or any(key in item and not _is_text(item[key]) for key in ("tool", "name")):
        return False
    if "function" in item:
        return item["function"].__class__ is dict and _is_text(item["function"].get("name"))
    return "tool" in item or "name" in item


def _is_sound_block(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    if kind == "text":
        return block.get("text").__class__ is str
    if kind == "thinking":
        return block.get("thinking").__class__ is str and block.get("signature").__class__ in (str, type(None))
    if kind == "tool_call":
        return _is_text(block.get("id")) and _is_text(block.get("name")) and block.get("input").__class__ is dict
    if kind == "tool_result":
        ids = [block[key] for key in ("tool_call_id", "tool_use_id") if key in block]
        return bool(ids) and all(map(_is_text, ids))
    if kind == "image":
        return block.get("source").__class__ is dict
    if kind == "redacted_thinking":
        return block.get("data").__class__ is str
    return kind == "reasoning" and block.get("content").__class__ is list and block.get("summary").__class__ is list


def _describe(error: Any, row: dict[str, Any], line: int) -> ShapeProblem:
    """One schema error in words."""
    path = list(error.absolute_path)
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    kind = _classify(path)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if not isinstance(error.instance, dict) or name not in error.instance)
        message = f"{where or 'the row'} has no {missing!r}"
        return ShapeProblem(line, _classify_missing(kind, path, missing), message, where)
    if error.validator == "anyOf":
        return ShapeProblem(line, "call", f"{where} has no {'name' if 'tool_calls' in path else 'tool_call_id'}", where)
    subject = where or "the row"
    if error.validator == "enum":
        value = error.instance if isinstance(error.instance, str) else _name_type(error.instance)
        return ShapeProblem(line, kind, f"{subject} is {value!r}, not one of {', '.join(map(str, error.validator_value))}", where)
    if error.validator == "minLength":
        return ShapeProblem(line, kind, f"{subject} is empty", where)
    expected = error.validator_value if isinstance(error.validator_value, str) else " or ".join(error.validator_value)
    return ShapeProblem(line, kind, f"{subject} is {_name_type(error.instance)}, not {expected}", where)


def _classify(path: list[Any]) -> str:
    top = path[0] if path else ""
    if top == "role":
        return "role"
    if top == "metadata":
        return "metadata"
    if top in ("tool_calls", "tool_call_id", "name"):
        return "call"
    if top == "content" and len(path) == 3 and path[2] in ("id", "name", "tool_call_id", "tool_use_id"):
        return "call"
    return "content"


def _classify_missing(kind: str, path: list[Any], missing: str) -> str:
    if not path:
        return {"role": "role", "tool_call_id": "call"}.get(missing, "content")
    return "call" if (missing in ("id", "name") and kind == "content") or kind == "call" else kind


def _name_type(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)
