"""Gemini generateContent, on AI Studio and on Vertex. Pairing is by number, not by id, on merged turns; errors name no place."""

from __future__ import annotations

import re

from doctor.analysis.wires.shape import (
    CALL,
    EMPTY,
    NO_SIGNATURE,
    RESULT,
    WARNING,
    History,
    Settings,
    Turn,
    Violation,
    merge_turns,
    order_violations,
)
from doctor.refusals import CALL_FIRST

_SIGNING = re.compile(r"gemini-(?:[3-9]|\d\d)(?!.*image)")


def check(history: History) -> list[Violation]:
    """What the API answers to a history, in the order in which it would find it."""
    found = list(history.problems)
    if not history.messages and not found:
        found.append(Violation("GM-08", "* GenerateContentRequest.contents: contents is not specified", 0, "contents", ()))
    for sent in history.messages:
        if not sent.blocks and sent.flags & EMPTY:
            text = f"* GenerateContentRequest.contents[{sent.index}].parts: contents.parts must not be empty."
            found.append(Violation("GM-06", text, sent.index, f"contents[{sent.index}].parts", (sent.line,)))
    turns = merge_turns(history.messages)
    _check_counts(turns, history.settings, found)
    if history.settings.as_request:
        _check_signatures(turns, history.settings, found)
    return order_violations(found)


def _check_counts(turns: list[Turn], settings: Settings, found: list[Violation]) -> None:
    """Rules GM-01 to GM-03."""
    asked = 0
    owner: Turn | None = None
    for turn in turns:
        if turn.role == "model":
            owner = turn
            asked = _count(turn, CALL)
            if asked and turn.index == 0:
                found.append(Violation("GM-02", CALL_FIRST, turn.index, f"contents[{turn.index}]", _list_lines(turn, CALL)))
            continue
        answered = _count(turn, RESULT)
        if answered and not asked:
            text = "Please ensure that function response turn comes immediately after a function call turn."
            found.append(Violation("GM-03", text, turn.index, f"contents[{turn.index}]", _list_lines(turn, RESULT)))
        elif answered != asked and owner is not None:
            _refuse_count(owner, turn.index, found, turn)
        asked = 0
    if asked and owner is not None and not settings.as_request:
        _refuse_count(owner, owner.messages[-1].index + 1, found)


def _refuse_count(owner: Turn, index: int, found: list[Violation], answer: Turn | None = None) -> None:
    text = (
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
    )
    lines = _list_lines(owner, CALL) + (_list_lines(answer, RESULT) if answer is not None else ())
    found.append(Violation("GM-01", text, index, f"contents[{index}]", lines))


def _check_signatures(turns: list[Turn], settings: Settings, found: list[Violation]) -> None:
    """Rule GM-04: in the current turn of Gemini 3 the first call of each step is signed. Older turns are not looked at."""
    if not _SIGNING.search(settings.model) or not turns or not _count(turns[-1], RESULT):
        return
    for turn in reversed(turns):
        if turn.role == "user" and not _count(turn, RESULT):
            return
        for sent in turn.messages if turn.role == "model" else ():
            first = next((block for block in sent.blocks if block.kind == CALL), None)
            if first is not None and first.flags & NO_SIGNATURE:
                text = (
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and "
                    "missing thought_signature may lead to degraded model performance. Additional data, function call "
                    f"`default_api:{first.name}` , position {sent.index}."
                )
                depends = "the model: Gemini 3 and later check it inside an open tool loop"
                found.append(Violation("GM-04", text, sent.index, f"contents[{sent.index}]", (first.line,), WARNING, depends))


def _count(turn: Turn, kind: str) -> int:
    return sum(block[0] == kind for sent in turn.messages for block in sent[1])


def _list_lines(turn: Turn, kind: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(block.line for sent in turn.messages for block in sent.blocks if block.kind == kind))
