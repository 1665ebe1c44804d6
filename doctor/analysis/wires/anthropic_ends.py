"""Anthropic rules about the first and the last message, and about models: who speaks first, prefill, and thinking at the end."""

from __future__ import annotations

import re

from doctor.analysis.wires.shape import (
    CALL,
    ENDS_BLANK,
    ERROR,
    REDACTED,
    RESULT,
    SERVER_CALL,
    SERVER_RESULT,
    TEXT,
    THINKING,
    WARNING,
    Sent,
    Settings,
    Turn,
    Violation,
)

_FAMILY_FIRST = re.compile(r"(opus|sonnet|haiku)-(\d+)(?:[-.](\d{1,2})(?!\d))?")
_NUMBER_FIRST = re.compile(r"claude-(?:instant|v?[123]\b|[123][-.])")
_NEW_FAMILY = re.compile(r"(?:fable|mythos)")


def refuses_prefill(model: str) -> bool | None:
    """Whether a model refuses a request that ends with the assistant; None when its name says nothing."""
    name = model.lower()
    if _NEW_FAMILY.search(name):
        return True
    match = _FAMILY_FIRST.search(name)
    if match is not None:
        version = (int(match[2]), int(match[3] or 0))
        return version >= ((5, 0) if match[1] == "haiku" else (4, 6))
    return False if _NUMBER_FIRST.search(name) else None


def check_ends(messages: tuple[Sent, ...], turns: list[Turn], settings: Settings, found: list[Violation]) -> None:
    """Rules AN-13, AN-14, AN-16, AN-25, AN-26, AN-27 and AN-34. Those about the last message are for a bare request only."""
    if messages and messages[0].index == 0 and messages[0].role == "assistant":
        text = 'messages: first message must use the "user" role'
        depends = "the model and the version of the API: the documentation forbids it, a recorded request was accepted"
        found.append(Violation("AN-16", text, 0, "messages.0", (messages[0].line,), WARNING, depends))
    for sent in messages:
        if sent.role == "system":
            text = f"messages.{sent.index}: role 'system' is not supported on this model"
            found.append(
                Violation("AN-34", text, sent.index, f"messages.{sent.index}", (sent.line,), WARNING, "the model: newer ones accept it")
            )
    if settings.as_request and turns:
        if turns[-1].role == "assistant":
            _check_last(turns[-1].messages[-1], settings, found)
        else:
            _check_tool_loop(turns, settings, found)


def _check_last(last: Sent, settings: Settings, found: list[Violation]) -> None:
    """An assistant message that nothing follows."""
    if not last.blocks or last.blocks[-1].kind in (CALL, SERVER_CALL, SERVER_RESULT):
        return
    index, lines, param = last.index, (last.line,), f"messages.{last.index}"
    refused = refuses_prefill(settings.model)
    if refused is not False:
        text = "This model does not support assistant message prefill. The conversation must end with a user message."
        depends = "" if refused else "the model: newer ones refuse it"
        found.append(Violation("AN-14", text, index, param, lines, ERROR if refused else WARNING, depends))
    block = last.blocks[-1]
    if block.kind == TEXT and block.flags & ENDS_BLANK and not refused:
        text = "messages: final assistant content cannot end with trailing whitespace"
        depends = "" if refused is False else "the model: only those with prefill look at it"
        found.append(Violation("AN-13", text, index, param, lines, ERROR if refused is False else WARNING, depends))
    if block.kind in (THINKING, REDACTED):
        text = f"messages.{index}: The final block in an assistant message cannot be `thinking`."
        found.append(Violation("AN-27", text, index, param, lines))
    if settings.thinking == "disabled" and any(block.kind in (THINKING, REDACTED) for block in last.blocks):
        text = (
            f"messages.{index}.content.0: When thinking is disabled, an `assistant` message in the final position cannot contain "
            "`thinking`. To use thinking blocks, enable `thinking` in your request."
        )
        found.append(Violation("AN-26", text, index, f"{param}.content.0", lines))


def _check_tool_loop(turns: list[Turn], settings: Settings, found: list[Violation]) -> None:
    """Manual thinking and an open tool loop: the assistant turn before the last results should start with thinking."""
    if settings.thinking != "enabled" or len(turns) < 2 or turns[-2].role != "assistant":
        return
    first = next((block for block in turns[-2].messages[0].blocks), None)
    last = turns[-1].messages[-1].blocks
    if first is None or not last or last[-1].kind != RESULT or first.kind in (THINKING, REDACTED):
        return
    index = turns[-2].index
    kind = "tool_use" if first.kind == CALL else "text"
    text = (
        f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. "
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block "
        "(preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
    )
    depends = "the thinking mode: the request enables it by hand inside a tool loop"
    found.append(Violation("AN-25", text, index, f"messages.{index}.content.0", (first.line,), WARNING, depends))
