"""AWS Bedrock Converse. Texts are Bedrock's own; `messages.{n}` is the user turn that should have held the results."""

from __future__ import annotations

import re

from doctor.analysis.wires.shape import (
    ARGUMENTS_NOT_OBJECT,
    BLANK,
    CALL,
    EMPTY,
    ERROR,
    FAILED,
    RESULT,
    TEXT,
    WARNING,
    Block,
    History,
    Sent,
    Settings,
    Turn,
    Violation,
    merge_turns,
    order_violations,
)

TOOL_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}\Z")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def check(history: History) -> list[Violation]:
    """What the API answers to a history, in the order in which it would find it."""
    found = list(history.problems)
    messages, settings = history.messages, history.settings
    if messages and messages[0].index == 0 and messages[0].role == "assistant":
        text = "A conversation must start with a user message. Try again with a conversation that starts with a user message."
        depends = "the model: Claude and Qwen accept it"
        found.append(Violation("BC-05", text, 0, "messages.0", (messages[0].line,), WARNING, depends))
    turns = merge_turns(messages)
    for sent in messages:
        _check_message(sent, found)
    _check_pairs(turns, settings, found)
    return order_violations(found)


def _check_pairs(turns: list[Turn], settings: Settings, found: list[Violation]) -> None:
    asked: dict[str, int] = {}
    end = 0
    for turn in turns:
        end = turn.messages[-1].index + 1
        blocks = [block for sent in turn.messages for block in sent.blocks if block[0] == CALL or block[0] == RESULT]
        if turn.role == "assistant":
            _refuse_missing(asked, turn.index, found)
            asked = _read_calls(turn.index, blocks, found)
        else:
            _read_answers(turn.index, blocks, asked, settings, found)
            asked = {}
    _refuse_missing(asked, end, found)


def _read_calls(index: int, blocks: list[Block], found: list[Violation]) -> dict[str, int]:
    """The calls of an assistant turn that are not answered in the turn itself, as those of the model's own tools are."""
    calls: dict[str, int] = {}
    twice: dict[str, int] = {}
    for block in blocks:
        if block.kind == RESULT:
            calls.pop(block.id, None)
        elif block.id in calls:
            twice[block.id] = block.line
        else:
            calls[block.id] = block.line
    if twice:
        text = f"The toolUse blocks at messages.{index}.content contain duplicate Ids: {', '.join(twice)}"
        found.append(Violation("BC-04", text, index, f"messages.{index}.content", tuple(dict.fromkeys(twice.values())), ids=tuple(twice)))
    return calls


def _read_answers(index: int, blocks: list[Block], asked: dict[str, int], settings: Settings, found: list[Violation]) -> None:
    results = [block for block in blocks if block.kind == RESULT]
    ids = [block.id for block in results]
    twice = {id: None for id in ids if ids.count(id) > 1} if len(set(ids)) < len(ids) else {}
    param = f"messages.{index}.content"
    lines = tuple(dict.fromkeys(block.line for block in results))
    if twice:
        text = f"The toolResult blocks at {param} contain duplicate Ids: {', '.join(twice)}"
        found.append(Violation("BC-03", text, index, param, tuple(block.line for block in results if block.id in twice), ids=tuple(twice)))
    _refuse_missing({id: line for id, line in asked.items() if id not in ids}, index, found)
    strange = [block for block in results if block.id not in asked]
    if strange and "nova" in settings.model.lower():
        text = f"Malformed input request: #/messages/{index}/content/0: extraneous key [toolResult] is not permitted"
        found.append(Violation("BC-13", text, index, param, tuple(block.line for block in strange), ids=tuple(b.id for b in strange)))
    elif len(set(ids)) > len(asked):
        text = f"The number of toolResult blocks at {param} exceeds the number of toolUse blocks of previous turn."
        where = tuple(block.line for block in strange) or lines
        found.append(Violation("BC-02", text, index, param, where, ids=tuple(block.id for block in strange)))


def _refuse_missing(asked: dict[str, int], index: int, found: list[Violation]) -> None:
    if asked:
        text = f"Expected toolResult blocks at messages.{index}.content for the following Ids: {', '.join(asked)}"
        lines = tuple(dict.fromkeys(asked.values()))
        found.append(Violation("BC-01", text, index, f"messages.{index}.content", lines, ids=tuple(asked)))


def _check_message(sent: Sent, found: list[Violation]) -> None:
    blocks, index = sent.blocks, sent.index
    if not blocks:
        if sent.flags & EMPTY:
            text = (
                f"The content field in the Message object at messages.{index} is empty. "
                "Add a ContentBlock object to the content field and try again."
            )
            found.append(Violation("BC-08", text, index, f"messages.{index}.content", (sent.line,)))
        return
    for place, block in enumerate(blocks):
        kind = block[0]
        if kind == TEXT:
            if block.flags & (EMPTY | BLANK):
                _check_blank(sent, place, block, found)
        elif kind == RESULT:
            if block.flags & FAILED and block.flags & EMPTY:
                text = f"The content field at messages.{index}.content.{place}.toolResult cannot be empty when status value is error."
                found.append(Violation("BC-10", text, index, f"messages.{index}.content.{place}", (block.line,)))
            if TOOL_ID.match(block.id) is None:
                _refuse_form(block.id, f"content.{place + 1}.member.toolResult.toolUseId", TOOL_ID.pattern, index, block, found)
        elif kind == CALL:
            if TOOL_ID.match(block.id) is None:
                _refuse_form(block.id, f"content.{place + 1}.member.toolUse.toolUseId", TOOL_ID.pattern, index, block, found)
            if TOOL_NAME.match(block.name) is None:
                _refuse_form(block.name, f"content.{place + 1}.member.toolUse.name", TOOL_NAME.pattern, index, block, found)
            if block.flags & ARGUMENTS_NOT_OBJECT:
                text = (
                    f"The format of the value at messages.{index}.content.{place}.toolUse.input is invalid. "
                    "Provide a json object for the field and try again."
                )
                found.append(Violation("BC-12", text, index, f"messages.{index}.content.{place}", (block.line,), ids=(block.id,)))


def _check_blank(sent: Sent, place: int, block: Block, found: list[Violation]) -> None:
    """Rule BC-09: a blank text is refused for sure only where it stands alone; beside other blocks it was accepted."""
    alone = len(sent.blocks) == 1
    text = (
        f"The text field in the ContentBlock object at messages.{sent.index}.content.{place} is blank. "
        "Add text to the text field, and try again."
    )
    depends = "" if alone else "the model: Claude accepts it beside other blocks"
    param = f"messages.{sent.index}.content.{place}"
    found.append(Violation("BC-09", text, sent.index, param, (block.line,), ERROR if alone else WARNING, depends))


def _refuse_form(value: str, field: str, pattern: str, index: int, block: Block, found: list[Violation]) -> None:
    """Rule BC-12, in the words in which AWS services refuse a value that breaks their model. Members are counted from 1."""
    if 0 < len(value) <= 64:
        limit = f"Member must satisfy regular expression pattern: {pattern.partition('{')[0]}+"
    else:
        limit = f"Member must have length {'less than or equal to 64' if value else 'greater than or equal to 1'}"
    text = f"1 validation error detected: Value '{value}' at 'messages.{index + 1}.member.{field}' failed to satisfy constraint: {limit}"
    found.append(Violation("BC-12", text, index, f"messages.{index}.content", (block.line,), ids=(block.id,)))
