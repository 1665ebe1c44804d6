"""Anthropic Messages: direct, on Vertex, and on Bedrock's InvokeModel.

Neighbours of one role are merged before calls and results are paired; the index in an error text counts messages as they were sent.
"""

from __future__ import annotations

import re

from doctor.analysis.wires import anthropic_ends, anthropic_server
from doctor.analysis.wires.shape import (
    ARGUMENTS_NOT_OBJECT,
    BLANK,
    CALL,
    EMPTY,
    EMPTY_SIGNATURE,
    NO_SIGNATURE,
    NULL_SIGNATURE,
    OTHER,
    REDACTED,
    RESULT,
    SERVER_CALL,
    TEXT,
    THINKING,
    UNKNOWN_TYPE,
    WARNING,
    Block,
    History,
    Sent,
    Turn,
    Violation,
    merge_turns,
    order_violations,
)

MOST_MESSAGES = 100_000
LONGEST_NAME = 200
CLIENT_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_PATTERN = "String should match pattern '^[a-zA-Z0-9_-]+$'"
_TYPES = {CALL: "tool_use", SERVER_CALL: "server_tool_use", THINKING: "thinking", REDACTED: "redacted_thinking", RESULT: "tool_result"}
_SPEAKER = {CALL: "assistant", SERVER_CALL: "assistant", THINKING: "assistant", REDACTED: "assistant", RESULT: "user"}
_TEXT_BEHIND_CALL = "the model: reports and recordings disagree on text behind a tool call"


def check(history: History) -> list[Violation]:
    """What the API answers to a history, in the order in which it would find it."""
    found = list(history.problems)
    messages = history.messages
    if (not messages and not found) or len(messages) > MOST_MESSAGES:
        text = "messages: at least one message is required" if not messages else "messages: List should have at most 100000 items"
        found.append(Violation("AN-18", text, 0, "messages", ()))
    for sent in messages:
        _check_message(sent, found)
    turns = merge_turns(sent for sent in messages if sent[0] != "system")
    _check_pairs(turns, found)
    anthropic_server.check_server_tools(turns, found)
    anthropic_ends.check_ends(messages, turns, history.settings, found)
    return order_violations(found)


def _check_pairs(turns: list[Turn], found: list[Violation]) -> None:
    asked: dict[str, tuple[int, int]] = {}
    for turn in turns:
        if turn.role == "assistant":
            _refuse_missing(asked, found)
            asked = _read_calls(turn, found)
        else:
            _read_answers(turn, asked, found)
            asked = {}
    _refuse_missing(asked, found)


def _read_calls(turn: Turn, found: list[Violation]) -> dict[str, tuple[int, int]]:
    """The ids that a turn calls, with the message index and the line of each."""
    asked: dict[str, tuple[int, int]] = {}
    thinks = False
    for sent in turn.messages:
        called_before = not any(block[0] == CALL for block in sent.blocks)
        for place, block in enumerate(sent.blocks):
            kind = block[0]
            if kind == CALL:
                called_before = True
                if block.id in asked:
                    param = f"messages.{sent.index}.content.{place}"
                    lines = (asked[block.id][1], block.line)
                    found.append(Violation("AN-04", f"{param}: `tool_use` ids must be unique", sent.index, param, lines, ids=(block.id,)))
                asked.setdefault(block.id, (sent.index, block.line))
            elif kind in (THINKING, REDACTED):
                thinks = True
            elif kind == TEXT and asked and called_before:
                _doubt_text_behind_call(sent, place, block, thinks, found)
    return asked


def _doubt_text_behind_call(sent: Sent, place: int, block: Block, thinks: bool, found: list[Violation]) -> None:
    text = "This model does not support assistant message prefill. The conversation must end with a user message."
    depends = _TEXT_BEHIND_CALL if thinks else f"{_TEXT_BEHIND_CALL}; without thinking in the turn it was accepted"
    found.append(Violation("AN-15", text, sent.index, f"messages.{sent.index}.content.{place}", (block.line,), WARNING, depends))


def _read_answers(turn: Turn, asked: dict[str, tuple[int, int]], found: list[Violation]) -> None:
    """Pairs the leading run of results with what was asked; the run may cross messages and ends at the first other block."""
    answered: dict[str, int] = {}
    leading = True
    for sent in turn.messages:
        for place, block in enumerate(sent.blocks):
            if block[0] != RESULT:
                leading = False
                continue
            param = f"messages.{sent.index}.content.{place}"
            if block.id not in asked:
                text = (
                    f"{param}: unexpected `tool_use_id` found in `tool_result` blocks: {block.id}. "
                    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
                found.append(Violation("AN-02", text, sent.index, param, (block.line,), ids=(block.id,)))
            elif block.id in answered:
                text = f"{param}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {block.id}"
                found.append(Violation("AN-03", text, sent.index, param, (answered[block.id], block.line), ids=(block.id,)))
            elif leading:
                answered[block.id] = block.line
    _refuse_missing({id: place for id, place in asked.items() if id not in answered}, found)


def _refuse_missing(asked: dict[str, tuple[int, int]], found: list[Violation]) -> None:
    """One error for each message whose calls are not answered."""
    missing: dict[int, list[tuple[str, int]]] = {}
    for id, (index, line) in asked.items():
        missing.setdefault(index, []).append((id, line))
    for index, calls in missing.items():
        ids = tuple(id for id, _ in calls)
        text = (
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}. "
            "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
        lines = tuple(dict.fromkeys(line for _, line in calls))
        found.append(Violation("AN-01", text, index, f"messages.{index}", lines, ids=ids))


def _check_message(sent: Sent, found: list[Violation]) -> None:
    role, blocks, index, flags, line, _ = sent
    if not blocks and flags & EMPTY:
        if role == "user":
            text = f"messages.{index}: user messages must have non-empty content"
            found.append(Violation("AN-12", text, index, f"messages.{index}", (line,)))
        elif role == "assistant":
            text = f"messages.{index}: all messages must have non-empty content except for the optional final assistant message"
            depends = "the version of the API: refused in 2025, accepted in 2026"
            found.append(Violation("AN-12", text, index, f"messages.{index}", (line,), WARNING, depends))
        return
    blank = len(blocks) > 0
    for place, block in enumerate(blocks):
        kind, id, name, flags, line = block
        if kind == TEXT:
            if flags & EMPTY:
                param = f"messages.{index}.content.{place}"
                found.append(Violation("AN-10", "messages: text content blocks must be non-empty", index, param, (line,)))
            blank = blank and flags & BLANK != 0
            continue
        blank = False
        if _SPEAKER.get(kind, role) != role and role != "system":
            text = f"messages.{index}: `{_TYPES[kind]}` blocks can only be in `{_SPEAKER[kind]}` messages"
            found.append(Violation("AN-05", text, index, f"messages.{index}.content.{place}", (line,)))
        if kind in (CALL, RESULT):
            if CLIENT_ID.match(id) is None or flags or (kind == CALL and not 0 < len(name) <= LONGEST_NAME):
                _check_call(kind, block, f"messages.{index}.content.{place}", index, found)
        elif flags:
            _check_other(kind, block, f"messages.{index}.content.{place}", index, found)
    if blank:
        text = "messages: text content blocks must contain non-whitespace text"
        found.append(Violation("AN-11", text, index, f"messages.{index}", (sent.line,)))


def _check_call(kind: str, block: Block, param: str, index: int, found: list[Violation]) -> None:
    """What the schema says to a call or a result that is not plainly fine."""
    if CLIENT_ID.match(block.id) is None:
        field = "tool_use.id" if kind == CALL else "tool_result.tool_use_id"
        found.append(Violation("AN-06", f"{param}.{field}: {_PATTERN}", index, f"{param}.{field}", (block.line,), ids=(block.id,)))
    if kind != CALL:
        return
    if block.flags & ARGUMENTS_NOT_OBJECT:
        text = f"{param}.tool_use.input: Input should be a valid dictionary"
        found.append(Violation("AN-07", text, index, f"{param}.tool_use.input", (block.line,), ids=(block.id,)))
    if not 0 < len(block.name) <= LONGEST_NAME:
        limit = "at most 200 characters" if block.name else "at least 1 character"
        text = f"{param}.tool_use.name: String should have {limit}"
        found.append(Violation("AN-08", text, index, f"{param}.tool_use.name", (block.line,), ids=(block.id,)))


def _check_other(kind: str, block: Block, param: str, index: int, found: list[Violation]) -> None:
    """Thinking without a signature, and blocks of a type that the API does not have."""
    lines = (block.line,)
    if kind == THINKING:
        if block.flags & NO_SIGNATURE:
            found.append(Violation("AN-22", f"{param}.thinking.signature: Field required", index, f"{param}.thinking.signature", lines))
        elif block.flags & NULL_SIGNATURE:
            text = f"{param}.thinking.signature.str: Input should be a valid string"
            found.append(Violation("AN-22", text, index, f"{param}.thinking.signature", lines))
        elif block.flags & EMPTY_SIGNATURE and block.flags & EMPTY:
            found.append(Violation("AN-23", f"{param}.thinking: each thinking block must contain thinking", index, param, lines))
        elif block.flags & EMPTY_SIGNATURE:
            text, depends = f"{param}: Invalid `signature` in `thinking` block", "whether this model takes thinking with an empty signature"
            found.append(Violation("AN-20", text, index, param, lines, WARNING, depends))
    elif kind == OTHER and block.flags & UNKNOWN_TYPE:
        text = f"{param}: Input tag '{block.name}' found using 'type' does not match any of the expected tags"
        found.append(Violation("AN-19", text, index, param, lines))
