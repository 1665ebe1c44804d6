"""A Messages request as a History, with what only its raw form shows: shapes, images, cache marks."""

from __future__ import annotations

from doctor.analysis.wires.bodies.media import check_images
from doctor.analysis.wires.bodies.shapes import BAD_CONTENT, BAD_ROLE, NOT_AN_OBJECT, refuse
from doctor.analysis.wires.bodies.surrogates import find_lone_surrogate
from doctor.analysis.wires.bodies.texts import judge_text
from doctor.analysis.wires.shape import (
    ARGUMENTS_NOT_OBJECT,
    CALL,
    EMPTY,
    EMPTY_LIST,
    EMPTY_SIGNATURE,
    FAILED,
    NO_SIGNATURE,
    NULL_SIGNATURE,
    OTHER,
    REDACTED,
    RESULT,
    SERVER_CALL,
    SERVER_RESULT,
    TEXT,
    THINKING,
    UNKNOWN_TYPE,
    Block,
    History,
    Sent,
    Settings,
    Violation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOREIGN_TYPES = frozenset(
    (
        "tool_call",
        "function",
        "function_call",
        "image_url",
        "input_text",
        "output_text",
        "input_image",
        "input_audio",
        "reasoning",
        "refusal",
    )
)
"""Types of other APIs and of frameworks. The API's own list grows with every feature, so an unknown name alone proves nothing."""
FOREIGN_FIELDS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "metadata", "timestamp")
FRAMEWORK_FIELDS = ("visibility", "timestamp", "metadata")
MOST_CACHE_MARKS = 4
ROLES = ("user", "assistant", "system")


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a Messages body, `as_request`."""
    problems: list[Violation] = []
    thinking = body.get("thinking")
    mode = thinking.get("type") if isinstance(thinking, dict) else ("disabled" if "thinking" in body else "")
    model = body.get("model")
    settings = Settings(model if isinstance(model, str) else "", host, True, mode if isinstance(mode, str) else "")
    listed = body.get("messages")
    if not isinstance(listed, list):
        said = "Input should be a valid array" if "messages" in body else "Field required"
        problems.append(refuse("AN-19", f"messages: {said}", "messages", 0, BAD_CONTENT, is_listed=False))
        listed = []
    messages = [_lower_message(message, index, problems) for index, message in enumerate(listed)]
    _count_cache_marks(body, listed, problems)
    check_images(listed, problems)
    place = find_lone_surrogate(body)
    if place is not None:
        text = f"The request body is not valid JSON: no low surrogate in string: line 1 column {place + 1} (char {place})"
        problems.append(Violation("AN-39", text, 0, "", ()))
    return History(tuple(sent for sent in messages if sent is not None), settings, tuple(problems))


def _lower_message(message: Any, index: int, problems: list[Violation]) -> Sent | None:
    if not isinstance(message, dict):
        return _refuse_shape(index, problems, NOT_AN_OBJECT)
    if not isinstance(message.get("role"), str):
        return _refuse_role(message, index, problems)
    if message["role"] not in ROLES:
        text = f'messages: Unexpected role "{message["role"]}". Allowed roles are "user" or "assistant"'
        problems.append(refuse("AN-19", text, f"messages.{index}.role", index, BAD_ROLE))
    for field in FOREIGN_FIELDS:
        if field in message:
            text = f"messages.{index}.{field}: Extra inputs are not permitted"
            problems.append(Violation("AN-19", text, index, f"messages.{index}.{field}", (index,)))
    role, content = message["role"], message.get("content")
    if isinstance(content, str):
        blocks = (Block(TEXT, "", "", judge_text(content), index),) if content else ()
        return Sent(role, blocks, index, 0 if content else EMPTY, index)
    if not isinstance(content, list):
        said = "Input should be a valid array" if "content" in message else "Field required"
        param = f"messages.{index}.content"
        problems.append(refuse("AN-19", f"{param}: {said}", param, index, BAD_CONTENT))
        return None
    blocks = tuple(_lower_block(block, index, place, problems) for place, block in enumerate(content))
    return Sent(role, blocks, index, 0 if blocks else EMPTY | EMPTY_LIST, index)


def _refuse_shape(index: int, problems: list[Violation], code: str) -> None:
    text = f"messages.{index}: Input does not match the expected shape."
    problems.append(refuse("AN-19", text, f"messages.{index}", index, code))


def _refuse_role(message: dict[str, Any], index: int, problems: list[Violation]) -> None:
    if "role" in message:
        _refuse_shape(index, problems, BAD_ROLE)
    else:
        param = f"messages.{index}.role"
        problems.append(refuse("AN-19", f"{param}: Field required", param, index, BAD_ROLE))


def _lower_block(block: Any, index: int, place: int, problems: list[Violation]) -> Block:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        param = f"messages.{index}.content.{place}"
        if not isinstance(block, dict):
            problems.append(refuse("AN-19", f"{param}: Input should be an object", param, index, BAD_CONTENT))
        elif "type" not in block:
            problems.append(refuse("AN-19", f"{param}.type: Field required", f"{param}.type", index, BAD_CONTENT))
        else:
            _refuse_shape(index, problems, BAD_CONTENT)
        return Block(OTHER, line=index)
    kind = block["type"]
    for field in FRAMEWORK_FIELDS:
        if field in block:
            param = f"messages.{index}.content.{place}.{kind}.{field}"
            problems.append(Violation("AN-19", f"{param}: Extra inputs are not permitted", index, param, (index,)))
    if kind == "text":
        text = block.get("text")
        return Block(TEXT, "", "", judge_text(text) if isinstance(text, str) else 0, index)
    if kind == "tool_use":
        flags = 0 if isinstance(block.get("input"), dict) else ARGUMENTS_NOT_OBJECT
        return Block(CALL, _read(block, "id"), _read(block, "name"), flags, index)
    if kind == "tool_result":
        empty = 0 if block.get("content") else EMPTY
        return Block(RESULT, _read(block, "tool_use_id"), "", empty | (FAILED if block.get("is_error") else 0), index)
    if kind == "thinking":
        return Block(THINKING, "", "", _judge_thinking(block), index)
    if kind == "redacted_thinking":
        return Block(REDACTED, line=index)
    if kind in ("server_tool_use", "mcp_tool_use"):
        return Block(SERVER_CALL, _read(block, "id"), kind if kind == "mcp_tool_use" else _read(block, "name"), 0, index)
    if kind.endswith("_tool_result"):
        return Block(SERVER_RESULT, _read(block, "tool_use_id"), kind, 0, index)
    return Block(OTHER, "", kind, UNKNOWN_TYPE if kind in FOREIGN_TYPES else 0, index)


def _judge_thinking(block: dict[str, Any]) -> int:
    flags = 0 if block.get("thinking") else EMPTY
    if "signature" not in block:
        return flags | NO_SIGNATURE
    signature = block["signature"]
    if not isinstance(signature, str):
        return flags | NULL_SIGNATURE
    return flags if signature else flags | EMPTY_SIGNATURE


def _read(block: dict[str, Any], key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""


def _count_cache_marks(body: dict[str, Any], listed: list[Any], problems: list[Violation]) -> None:
    """Rule AN-35: marks in system, tools and messages together; null does not count."""
    blocks: list[Any] = []
    for key in ("system", "tools"):
        if isinstance(body.get(key), list):
            blocks += body[key]
    for message in listed:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            blocks.append(block)
            if isinstance(block, dict) and isinstance(block.get("content"), list):
                blocks += block["content"]
    marks = sum(isinstance(block, dict) and block.get("cache_control") is not None for block in blocks)
    if marks > MOST_CACHE_MARKS:
        text = f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
        problems.append(Violation("AN-35", text, 0, "cache_control", ()))
