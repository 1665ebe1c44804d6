"""A Chat Completions request as a History."""

from __future__ import annotations

from doctor.analysis.wires.bodies.texts import judge_arguments, judge_text
from doctor.analysis.wires.shape import (
    CALL,
    EMPTY,
    EMPTY_LIST,
    OTHER,
    RESULT,
    TEXT,
    Block,
    History,
    Sent,
    Settings,
    Violation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SPEAKS_OTHERWISE = ("tool_calls", "refusal", "audio", "function_call")
"""Fields beside which an assistant message needs no content."""
TOOL_PARTS = ("text", "image_url")


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a Chat Completions body, `as_request`."""
    problems: list[Violation] = []
    model = body.get("model")
    settings = Settings(model if isinstance(model, str) else "", host, True)
    messages = [_lower_message(message, index, problems) for index, message in enumerate(body.get("messages") or ())]
    return History(tuple(sent for sent in messages if sent is not None), settings, tuple(problems))


def _lower_message(message: Any, index: int, problems: list[Violation]) -> Sent | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    role, content, line = message["role"], message.get("content"), (index,)
    flags = 0
    blocks: list[Block] = []
    if isinstance(content, str):
        flags = EMPTY if not content else 0
        if role != "tool":
            blocks.append(Block(TEXT, "", "", judge_text(content), index))
    elif isinstance(content, list):
        flags = 0 if content else EMPTY | EMPTY_LIST
        blocks += _lower_parts(content, role, index, problems)
        if not content:
            text = (
                f"Invalid 'messages[{index}].content': empty array. "
                "Expected an array with minimum length 1, but got an empty array instead."
            )
            problems.append(Violation("OC-06", text, index, f"messages[{index}].content", line))
    elif "content" in message and not (role == "assistant" and any(message.get(field) for field in SPEAKS_OTHERWISE)):
        text = "Invalid value for 'content': expected a string, got null."
        problems.append(Violation("OC-06", text, index, f"messages.[{index}].content", line))
    calls = message.get("tool_calls")
    if role == "tool":
        call_id = message.get("tool_call_id")
        return Sent(role, (Block(RESULT, call_id if isinstance(call_id, str) else "", "", flags, index),), index, flags, index)
    if calls == []:
        text = (
            f"Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        problems.append(Violation("OC-05", text, index, f"messages[{index}].tool_calls", line))
    if role == "assistant" and isinstance(calls, list):
        blocks += [_lower_call(call, index) for call in calls if isinstance(call, dict)]
    return Sent(role, tuple(blocks), index, flags, index)


def _lower_parts(content: list[Any], role: str, index: int, problems: list[Violation]) -> list[Block]:
    blocks = []
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, dict) and kind is None:
            text = f"Missing required parameter: 'messages[{index}].content[{place}].type'."
            problems.append(Violation("OC-09", text, index, f"messages[{index}].content[{place}].type", (index,)))
        elif role == "tool" and isinstance(kind, str) and kind not in TOOL_PARTS:
            text = f"Invalid 'messages[{index}]'. Content blocks are expected to be either text or image_url type."
            problems.append(Violation("OC-09", text, index, f"messages[{index}]", (index,)))
        if role != "tool":
            text = part.get("text") if isinstance(part, dict) else None
            is_text = kind == "text" and isinstance(text, str)
            blocks.append(Block(TEXT if is_text else OTHER, "", kind or "", judge_text(text) if is_text else 0, index))
    return blocks


def _lower_call(call: dict[str, Any], index: int) -> Block:
    """A function call, or a custom tool's, whose input is free text."""
    id = call.get("id")
    function = call.get("function")
    custom = call.get("custom")
    named = function if isinstance(function, dict) else custom if isinstance(custom, dict) else {}
    name = named.get("name")
    flags = judge_arguments(function.get("arguments")) if isinstance(function, dict) else 0
    return Block(CALL, id if isinstance(id, str) else "", name if isinstance(name, str) else "", flags, index)
