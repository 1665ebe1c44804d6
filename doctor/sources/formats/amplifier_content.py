"""What of a row's content some provider minds: empty and blank texts, unsigned thinking, blocks out of order, wrong arguments."""

from __future__ import annotations

from doctor.model import (
    ARGUMENTS_NOT_OBJECT,
    BLANK_TEXT,
    EMPTY_CONTENT,
    EMPTY_LIST,
    EMPTY_TEXT,
    ENDS_BLANK,
    ENDS_IN_THINKING,
    SIGNED_THINKING,
    TEXT_AFTER_CALL,
    TEXT_BEFORE_RESULT,
    UNSIGNED_THINKING,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALLS = ("tool_call", "tool_use")
LINE_SEPARATOR = b"\xe2\x80\xa8"
"""U+2028 in UTF-8."""
LEAST_HUGE, MOST_NEGATIVE = 2.0**64, -(2.0**63)
"""From here on a whole number is beyond 64 bits, with or without a sign."""
THINKING = ("thinking", "redacted_thinking", "reasoning")


def find_content_flags(row: dict[str, Any], role: str) -> int:
    """The flags for a row's content; 0 for one that no provider minds."""
    content = row.get("content")
    flags = _judge_listed(row.get("tool_calls")) if role == "assistant" else 0
    if content.__class__ is str:
        if role != "tool":
            flags |= EMPTY_CONTENT if not content else BLANK_TEXT if content.isspace() else 0
        return flags
    if content.__class__ is not list or role == "tool":
        return flags
    if not content:
        return flags | EMPTY_CONTENT | EMPTY_LIST
    is_blank, has_call, has_result, has_other = True, False, False, False
    for block in content:
        kind = block.get("type") if block.__class__ is dict else None
        if kind == "text":
            text = block.get("text")
            if text == "":
                flags |= EMPTY_TEXT
            if has_call:
                flags |= TEXT_AFTER_CALL
            is_blank = is_blank and text.__class__ is str and text.isspace()
            has_other = True
            continue
        is_blank = False
        if kind in CALLS:
            has_call = True
            if block.get("input").__class__ is not dict:
                flags |= ARGUMENTS_NOT_OBJECT
        elif kind == "tool_result":
            has_result = True
            if has_other:
                flags |= TEXT_BEFORE_RESULT
        elif kind in THINKING:
            flags |= judge_thinking(block)
        else:
            has_other = True
    return flags | BLANK_TEXT if is_blank and not has_result else flags


def judge_thinking(block: dict[str, Any]) -> int:
    """Signed or not. A redacted block is opaque and counts as signed; reasoning of another API has no signature."""
    if block.get("type") == "redacted_thinking":
        return SIGNED_THINKING
    signature = block.get("signature")
    return SIGNED_THINKING if signature.__class__ is str and signature else UNSIGNED_THINKING


def _judge_listed(listed: Any) -> int:
    """Arguments in the calls list: an object, or JSON text in the spelling of Chat Completions."""
    for item in listed if listed.__class__ is list else ():
        if item.__class__ is dict and "function" not in item:
            given = item.get("arguments", item.get("input"))
            if given is not None and given.__class__ is not dict:
                return ARGUMENTS_NOT_OBJECT
    return 0


def find_end_flags(row: Any) -> int:
    """How an assistant row ends, for the last row of a file: it is what a model would have to go on from."""
    content = row.get("content") if row.__class__ is dict else None
    last = content[-1] if content.__class__ is list and content else content
    if last.__class__ is dict and last.get("type") in THINKING:
        return ENDS_IN_THINKING
    text = last.get("text") if last.__class__ is dict else last
    return ENDS_BLANK if text.__class__ is str and text[-1:].isspace() else 0


def has_huge_number(suspects: list[Any]) -> bool:
    """Whether one of these objects and lists, which are taken off the list, holds a float beyond 64 bits, at any depth. The fast parser
    makes one of a whole number that it can't hold; one that was written as 1e20 looks the same."""
    while suspects:
        holder = suspects.pop()
        for item in holder.values() if holder.__class__ is dict else holder:
            kind = item.__class__
            if kind is dict or kind is list:
                suspects.append(item)
            elif kind is float and (item >= LEAST_HUGE or item <= MOST_NEGATIVE):
                suspects.clear()
                return True
    return False


def holds_separator(raw: bytes) -> bool:
    """Whether U+2028, U+2029 or U+0085 is in the bytes of a row. One byte first: most rows have none of them."""
    return (0xA8 in raw and LINE_SEPARATOR in raw) or (0xA9 in raw and b"\xe2\x80\xa9" in raw) or (0x85 in raw and b"\xc2\x85" in raw)
