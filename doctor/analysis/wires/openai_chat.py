"""OpenAI Chat Completions, and the many servers that speak it. The list is judged raw: nothing is merged, order is all."""

from __future__ import annotations

import re

from doctor.analysis.wires.hosts import judge_host
from doctor.analysis.wires.shape import (
    ARGUMENTS_NOT_JSON,
    ARGUMENTS_NOT_OBJECT,
    CALL,
    WARNING,
    Block,
    History,
    Sent,
    Violation,
    order_violations,
)

NAME = re.compile(r"[a-zA-Z0-9_-]+\Z")
LONGEST_NAME = 64
LONGEST_ID = 64
LONGEST_OLD_ID = 40
"""api.openai.com's own limit until early 2026; Azure and gateways may still have it."""
_NO_SYSTEM = re.compile(r"\bo1-(?:mini|preview)")


def check(history: History) -> list[Violation]:
    """What the API answers to a history, in the order in which it would find it."""
    found = list(history.problems)
    _check_order(history.messages, found)
    old_model = _NO_SYSTEM.search(history.settings.model) is not None
    for sent in history.messages:
        if old_model and sent.role in ("system", "developer"):
            text = f"Unsupported value: 'messages[{sent.index}].role' does not support '{sent.role}' with this model."
            found.append(Violation("OC-10", text, sent.index, f"messages[{sent.index}].role", (sent.line,), WARNING, "the model"))
        position = 0
        for block in sent.blocks:
            if block[0] == CALL:
                if len(block.id) > LONGEST_OLD_ID or len(block.name) > LONGEST_NAME or block.flags or NAME.match(block.name) is None:
                    _check_call(block, sent.index, position, found)
                position += 1
    return order_violations(judge_host(found, history.settings.host))


def _check_order(messages: tuple[Sent, ...], found: list[Violation]) -> None:
    """Rules OC-01 to OC-03: behind an assistant message with calls stand tool messages for all of them, once each."""
    owner: Sent | None = None
    waiting: dict[str, None] = {}
    answered: dict[str, Sent] = {}
    index = -1
    for sent in messages:
        index = sent.index
        if sent[0] == "tool":
            id = sent.blocks[0].id if sent.blocks else ""
            if id in waiting:
                del waiting[id]
                answered[id] = sent
            elif owner is not None and id in answered:
                _refuse_second(answered[id], sent, id, found)
            else:
                text = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                found.append(Violation("OC-02", text, index, f"messages.[{index}].role", (sent.line,), ids=(id,)))
            continue
        if waiting and owner is not None:
            _refuse_open(owner, waiting, index, found)
        owner, answered = None, {}
        waiting = {block[1]: None for block in sent[1] if block[0] == CALL}
        if waiting:
            owner = sent
    if waiting and owner is not None:
        _refuse_open(owner, waiting, index + 1, found)


def _refuse_open(owner: Sent, waiting: dict[str, None], index: int, found: list[Violation]) -> None:
    text = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
    )
    found.append(Violation("OC-01", text, index, f"messages.[{index}].role", (owner.line,), ids=tuple(waiting)))


def _refuse_second(first: Sent, second: Sent, id: str, found: list[Violation]) -> None:
    text = (
        f"Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first.index}] and messages[{second.index}]. "
        "Only one response message may be provided for each 'tool_call_id'."
    )
    found.append(Violation("OC-03", text, second.index, f"messages.[{second.index}].tool_call_id", (first.line, second.line), ids=(id,)))


def _check_call(block: Block, index: int, position: int, found: list[Violation]) -> None:
    """Rules OC-04, OC-07 and OC-08 for a call that is not plainly fine."""
    param = f"messages[{index}].tool_calls[{position}]"
    length, lines, ids = len(block.id), (block.line,), (block.id,)
    if length > LONGEST_OLD_ID:
        limit = LONGEST_ID if length > LONGEST_ID else LONGEST_OLD_ID
        text = (
            f"Invalid '{param}.id': string too long. Expected a string with maximum length {limit}, "
            f"but got a string with length {length} instead."
        )
        if length > LONGEST_ID:
            found.append(Violation("OC-04", text, index, f"{param}.id", lines, ids=ids))
        else:
            depends = "the server: the limit was 40 until early 2026, and may still be on Azure and behind gateways"
            found.append(Violation("OC-04", text, index, f"{param}.id", lines, WARNING, depends, ids))
    if block.flags & (ARGUMENTS_NOT_JSON | ARGUMENTS_NOT_OBJECT):
        text = f"invalid_prompt: {param}.function.arguments: arguments must be a valid JSON object string"
        depends = "the server: most don't look, chat templates and some models parse the arguments"
        found.append(Violation("OC-07", text, index, f"{param}.function.arguments", lines, WARNING, depends, ids))
    if NAME.match(block.name) is None:
        text = (
            f"Invalid '{param}.function.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
        found.append(Violation("OC-08", text, index, f"{param}.function.name", lines, ids=ids))
    elif len(block.name) > LONGEST_NAME:
        text = (
            f"Invalid '{param}.function.name': string too long. Expected a string with maximum length 64, "
            f"but got a string with length {len(block.name)} instead."
        )
        found.append(Violation("OC-08", text, index, f"{param}.function.name", lines, ids=ids))
