"""A Chat Completions request as a History."""

from __future__ import annotations

from doctor.analysis.wires.bodies.shapes import BAD_CONTENT, BAD_ROLE, NOT_AN_OBJECT, refuse, refuse_absence, refuse_kind
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
ROLES = ("system", "assistant", "user", "function", "tool", "developer")


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a Chat Completions body, `as_request`."""
    problems: list[Violation] = []
    model = body.get("model")
    settings = Settings(model if isinstance(model, str) else "", host, True)
    listed = body.get("messages")
    if not isinstance(listed, list) or not listed:
        problems.append(_refuse_list(body))
    messages = [_lower_message(message, index, problems) for index, message in enumerate(listed if isinstance(listed, list) else ())]
    return History(tuple(sent for sent in messages if sent is not None), settings, tuple(problems))


def _refuse_list(body: dict[str, Any]) -> Violation:
    if "messages" not in body:
        return refuse_absence("OC-12", "messages", 0, BAD_CONTENT, False)
    if body["messages"] == []:
        text = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        return refuse("OC-13", text, "messages", 0, "", "messages is empty", False)
    return refuse_kind("OC-12", "messages", 0, "an array of objects", body["messages"], BAD_CONTENT, False)


def _check_shape(message: Any, index: int, problems: list[Violation]) -> bool:
    """Whether it is a message, as far as its form goes; what is not is noted."""
    place = f"messages[{index}]"
    if not isinstance(message, dict):
        problems.append(refuse_kind("OC-12", place, index, "an object", message, NOT_AN_OBJECT))
        return False
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if "role" not in message:
        problems.append(refuse_absence("OC-12", f"{place}.role", index, BAD_ROLE))
    elif not isinstance(role, str):
        problems.append(refuse("OC-12", "", f"{place}.role", index, BAD_ROLE, "the role is no text"))
    elif role not in ROLES:
        text = f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."
        problems.append(refuse("OC-14", text, f"{place}.role", index, BAD_ROLE))
    if role == "developer" and "content" not in message:
        problems.append(refuse_absence("OC-12", f"{place}.content", index, BAD_CONTENT))
    elif (content is not None or role == "developer") and not isinstance(content, (str, list)):
        problems.append(refuse_kind("OC-12", f"{place}.content", index, "one of a string or array of objects", content, BAD_CONTENT))
    if role == "assistant" and calls is not None and not isinstance(calls, list):
        problems.append(refuse_kind("OC-12", f"{place}.tool_calls", index, "an array of objects", calls, BAD_CONTENT))
    return isinstance(role, str)


def _lower_message(message: Any, index: int, problems: list[Violation]) -> Sent | None:
    if not _check_shape(message, index, problems):
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
    elif content is None and role != "developer" and not (role == "assistant" and any(message.get(field) for field in SPEAKS_OTHERWISE)):
        # Absent or null is the same to the API.
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
        blocks += _lower_calls(calls, index, problems)
    return Sent(role, tuple(blocks), index, flags, index)


def _lower_parts(content: list[Any], role: str, index: int, problems: list[Violation]) -> list[Block]:
    blocks = []
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict):
            problems.append(refuse_kind("OC-12", f"messages[{index}].content[{place}]", index, "an object", part, BAD_CONTENT))
        elif kind is None:
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


def _lower_calls(calls: list[Any], index: int, problems: list[Violation]) -> list[Block]:
    blocks = []
    for place, call in enumerate(calls):
        if isinstance(call, dict):
            blocks.append(_lower_call(call, index))
        else:
            param = f"messages[{index}].tool_calls[{place}]"
            problems.append(refuse_kind("OC-12", param, index, "an object", call, BAD_CONTENT)._replace(text=""))
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
