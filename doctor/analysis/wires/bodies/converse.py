"""A Bedrock Converse request as a History. The type of a block is its only key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

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


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a Converse body, `as_request`. The model stands in the URL; clients also put it in `modelId`."""
    model = body.get("modelId")
    settings = Settings(model if isinstance(model, str) else "", host, True)
    lowered = (_lower_message(message, index) for index, message in enumerate(body.get("messages") or ()))
    messages = tuple(sent for sent in lowered if sent is not None)
    return History(messages, settings, tuple(_find_neighbours(messages)))


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


def _lower_message(message: Any, index: int) -> Sent | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    content = message.get("content")
    blocks = tuple(_lower_block(block, index) for block in (content if isinstance(content, list) else ()))
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
