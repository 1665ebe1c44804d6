"""A Bedrock Converse request as a History. The type of a block is its only key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from doctor.analysis.wires.bodies.shapes import BAD_CONTENT, BAD_ROLE, NOT_AN_OBJECT, name_kind, refuse
from doctor.analysis.wires.bodies.texts import judge_text
from doctor.analysis.wires.shape import (
    ARGUMENTS_NOT_OBJECT,
    CALL,
    EMPTY,
    EMPTY_LIST,
    FAILED,
    OTHER,
    RESULT,
    TEXT,
    THINKING,
    WARNING,
    Block,
    History,
    Sent,
    Settings,
    Violation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROLES = ("user", "assistant", "system")
"""The last is for the models that take instructions in the middle of a conversation; the others refuse it."""


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a Converse body, `as_request`. The model stands in the URL; clients also put it in `modelId`."""
    model = body.get("modelId")
    settings = Settings(model if isinstance(model, str) else "", host, True)
    problems: list[Violation] = []
    listed = body.get("messages")
    if listed is not None and not isinstance(listed, list):
        problems.append(refuse("BC-15", "", "messages", 0, BAD_CONTENT, f"messages is {name_kind(listed)}, not an array", False))
        listed = []
    lowered = (_lower_message(message, index, problems) for index, message in enumerate(listed or ()))
    messages = tuple(sent for sent in lowered if sent is not None)
    return History(messages, settings, (*problems, *_find_neighbours(messages)))


def _find_neighbours(messages: tuple[Sent, ...]) -> Iterator[Violation]:
    """Rule BC-06. Only a body shows neighbours of one role as they are sent: whoever sends a stored transcript merges them."""
    for before, sent in pairwise(messages):
        if before.role == sent.role:
            text = (
                "A conversation must alternate between user and assistant roles. "
                "Make sure the conversation alternates between user and assistant roles and try again."
            )
            depends = "the model: several families merge neighbours"
            yield Violation("BC-06", text, sent.index, f"messages.{sent.index}", (sent.line,), WARNING, depends)


def _lower_message(message: Any, index: int, problems: list[Violation]) -> Sent | None:
    place = f"messages[{index}]"
    if not isinstance(message, dict):
        problems.append(refuse("BC-15", "", place, index, NOT_AN_OBJECT, f"{place} is {name_kind(message)}, not an object"))
        return None
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        reason = f"{place} has no role" if role is None else f"the role of {place} is neither user nor assistant"
        problems.append(refuse("BC-15", "", f"{place}.role", index, BAD_ROLE, reason))
    if not isinstance(content, list):
        reason = f"{place} has no content" if content is None else f"the content of {place} is {name_kind(content)}, not an array"
        problems.append(refuse("BC-15", "", f"{place}.content", index, BAD_CONTENT, reason))
    if not isinstance(content, list) or not isinstance(role, str):
        return None
    for number, block in enumerate(content):
        if not isinstance(block, dict):
            reason = f"{place}.content[{number}] is {name_kind(block)}, not an object"
            problems.append(refuse("BC-15", "", f"{place}.content[{number}]", index, BAD_CONTENT, reason))
    blocks = tuple(_lower_block(block, index) for block in content)
    return Sent(message["role"], blocks, index, 0 if blocks else EMPTY | EMPTY_LIST, index)


def _lower_block(block: Any, index: int) -> Block:
    if not isinstance(block, dict):
        return Block(OTHER, line=index)
    if isinstance(block.get("text"), str):
        return Block(TEXT, "", "", judge_text(block["text"]), index)
    use, result = block.get("toolUse"), block.get("toolResult")
    if isinstance(use, dict):
        flags = 0 if isinstance(use.get("input"), dict) else ARGUMENTS_NOT_OBJECT
        return Block(CALL, _read(use, "toolUseId"), _read(use, "name"), flags, index)
    if isinstance(result, dict):
        empty = 0 if result.get("content") else EMPTY
        return Block(RESULT, _read(result, "toolUseId"), "", empty | (FAILED if result.get("status") == "error" else 0), index)
    return Block(THINKING if "reasoningContent" in block else OTHER, line=index)


def _read(block: dict[str, Any], key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
