"""OpenAI Responses. `input` is a flat list of items; calls and outputs find each other by id, not by place."""

from __future__ import annotations

from doctor.analysis.wires.hosts import find_host, judge_host
from doctor.analysis.wires.shape import (
    CALL,
    ERROR,
    RESULT,
    THINKING,
    WARNING,
    Block,
    History,
    Sent,
    Settings,
    Violation,
    order_violations,
)

LONGEST_ID = 64
LONGEST_NAME = 128
NAMED_CALLS = ("function_call", "custom_tool_call")
"""Calls of the server's own tools have a type, and no name."""
_TWO_OUTPUTS = "whether two outputs for one call are taken: nothing is recorded either way, and no text is known"


def check(history: History) -> list[Violation]:
    """What the API answers to a history, in the order in which it would find it. Roles of items are their types."""
    found = list(history.problems)
    messages, settings = history.messages, history.settings
    _check_pairs(messages, settings, found)
    items: dict[str, Sent] = {}
    for position, sent in enumerate(messages):
        if sent.id:
            if sent.id in items:
                text = f"Duplicate item found with id {sent.id}. Remove duplicate items from your input and try again."
                found.append(Violation("OR-05", text, sent.index, f"input[{sent.index}].id", (items[sent.id].line, sent.line)))
            items.setdefault(sent.id, sent)
            if sent.blocks and sent.blocks[0].kind == THINKING:
                _check_reasoning(sent, messages[position + 1] if position + 1 < len(messages) else None, settings, found)
        for block in sent.blocks:
            if block[0] == CALL and not block.name and sent.role in NAMED_CALLS:
                text = (
                    f"Invalid 'input[{sent.index}].name': empty string. Expected a string with minimum length 1, "
                    "but got an empty string instead."
                )
                found.append(Violation("OR-17", text, sent.index, f"input[{sent.index}].name", (block.line,), ids=(block.id,)))
            if (block[0] == CALL or block[0] == RESULT) and (len(block.id) > LONGEST_ID or len(block.name) > LONGEST_NAME):
                _check_lengths(block, sent.index, found)
    if (host := find_host(settings.host)) is not None and host.name == "DeepSeek":
        _check_interleaving(messages, found)
    return order_violations(judge_host(found, settings.host))


def _check_pairs(messages: tuple[Sent, ...], settings: Settings, found: list[Violation]) -> None:
    """Rules OR-01, OR-02 and OR-05: an output needs an earlier call, a call needs an output anywhere."""
    calls: dict[str, Sent] = {}
    outputs: set[str] = set()
    for sent in messages:
        for block in sent.blocks:
            if block[0] == CALL:
                if block.id in calls:
                    _judge_second_call(calls[block.id], sent, block, block.id in outputs, found)
                calls.setdefault(block.id, sent)
            elif block[0] == RESULT:
                if block.id in outputs:
                    found.append(Violation("OR-14", "", sent.index, "input", (block.line,), WARNING, _TWO_OUTPUTS, (block.id,)))
                outputs.add(block.id)
                if block.id not in calls and not settings.chained:
                    noun = sent.role.replace("_", " ") if sent.role.endswith("_output") else "function call output"
                    text = f"No tool call found for {noun} with call_id {block.id}."
                    found.append(Violation("OR-02", text, sent.index, "input", (block.line,), ids=(block.id,)))
    for id, sent in calls.items():
        if id not in outputs:
            noun = sent.role.replace("_", " ") if sent.role.endswith("_call") else "function call"
            text = f"No tool output found for {noun} {id}."
            found.append(Violation("OR-01", text, sent.index, "input", (sent.line,), ids=(id,)))


def _judge_second_call(first: Sent, second: Sent, block: Block, was_answered: bool, found: list[Violation]) -> None:
    text, lines = f"Duplicate call_ids submitted: ['{block.id}']", (first.line, block.line)
    if was_answered:
        depends = "whether an id may be used again after it was answered: nothing is recorded either way"
        found.append(Violation("OR-05", text, second.index, "input", lines, WARNING, depends, (block.id,)))
    else:
        found.append(Violation("OR-05", text, second.index, "input", lines, ids=(block.id,)))


def _check_reasoning(sent: Sent, following: Sent | None, settings: Settings, found: list[Violation]) -> None:
    """Rule OR-03: reasoning sent with its id is followed by the item that it produced, with its id too."""
    if following is not None and following.id:
        return
    text = f"Item '{sent.id}' of type 'reasoning' was provided without its required following item."
    if settings.stored is False:
        depends = "whether it is checked for requests with store: false; one report says no"
        found.append(Violation("OR-03", text, sent.index, "input", (sent.line,), WARNING, depends))
    else:
        found.append(Violation("OR-03", text, sent.index, "input", (sent.line,), ERROR))


def _check_lengths(block: Block, index: int, found: list[Violation]) -> None:
    for rule, field, value, limit in (("OR-08", "call_id", block.id, LONGEST_ID), ("OR-13", "name", block.name, LONGEST_NAME)):
        if len(value) > limit:
            text = (
                f"Invalid 'input[{index}].{field}': string too long. Expected a string with maximum length {limit}, "
                f"but got a string with length {len(value)} instead."
            )
            found.append(Violation(rule, text, index, f"input[{index}].{field}", (block.line,), ids=(block.id,)))


def _check_interleaving(messages: tuple[Sent, ...], found: list[Violation]) -> None:
    """Rule DS-03, DeepSeek's own: an assistant message between two calls of one step."""
    waiting: dict[str, Sent] = {}
    spoken = False
    for sent in messages:
        for block in sent.blocks:
            if block.kind == CALL:
                if spoken and waiting:
                    id, owner = next(iter(waiting.items()))
                    text = f"No tool output found for tool call {id}."
                    found.append(Violation("DS-03", text, sent.index, "input", (owner.line,), ids=(id,)))
                waiting[block.id] = sent
                spoken = False
            elif block.kind == RESULT:
                waiting.pop(block.id, None)
        if sent.role == "assistant" and waiting:
            spoken = True
        elif not waiting:
            spoken = False
