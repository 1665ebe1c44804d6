"""A stored transcript lowered to the messages that a client would send: from the compact views, without reading a row again.

Two steps: `lower_message` makes a neutral message of a view (roles as stored: system, user, assistant, tool), and `arrange_*` puts
neutral messages in the order and the roles of one wire. Rows with no usable role are left out: the client's loader refuses the file
before any provider sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from doctor.analysis.wires import shape
from doctor.analysis.wires.shape import ANTHROPIC, CALL, CONVERSE, GEMINI, OPENAI_CHAT, OTHER, RESULT, TEXT, THINKING, Block, Sent
from doctor.model import (
    ARGUMENTS_NOT_OBJECT,
    BLANK_TEXT,
    EMPTY_CONTENT,
    EMPTY_LIST,
    EMPTY_TEXT,
    ENDS_BLANK,
    ENDS_IN_THINKING,
    MIXED_CONTENT,
    SIGNED_THINKING,
    TEXT_AFTER_CALL,
    TEXT_BEFORE_RESULT,
    UNSIGNED_THINKING,
    Message,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYSTEM = ("system", "developer")
SENT_ROLES = ("system", "developer", "user", "assistant", "tool")
Layout = Callable[[Message], Sequence[tuple[str, str]] | None]
"""For a message its blocks as (kind, id), where the caller knows them; None where the view must do."""
_NEW = tuple.__new__
_THINKS = SIGNED_THINKING | UNSIGNED_THINKING


def lower_message(message: Message, layout: Layout | None = None) -> Sent:
    """A view as a neutral message; `index` is set later, by the wire. Texts that the view does not mention are one block each."""
    line, role, _, calls, results, _, flags = message
    if role == "tool":
        return _NEW(Sent, (role, tuple([_NEW(Block, (RESULT, result[0], result[1], 0, line)) for result in results]), 0, 0, line, ""))
    if not flags & ~_THINKS and not results:
        return Sent(role, _lower_plain(message) if layout is None else _lower_exactly(message, layout), 0, 0, line)
    if flags & EMPTY_CONTENT and not calls:
        return Sent(role, (), 0, shape.EMPTY | (shape.EMPTY_LIST if flags & EMPTY_LIST else 0), line)
    blocks = _lower_flagged(message) if layout is None else _lower_exactly(message, layout)
    return Sent(role, blocks, 0, 0, line)


def _lower_plain(message: Message) -> tuple[Block, ...]:
    line, flags = message[0], message[6]
    blocks = [_NEW(Block, (CALL, call[0], call[1], 0, line)) for call in message[3]]
    if not blocks:
        blocks.append(_NEW(Block, (TEXT, "", "", 0, line)))
    if flags:
        blocks.insert(0, Block(THINKING, "", "", shape.NO_SIGNATURE if flags & UNSIGNED_THINKING else 0, line))
    return tuple(blocks)


def _lower_flagged(message: Message) -> tuple[Block, ...]:
    """Blocks in the usual order: thinking, text, calls; or text and results in the order that the flags tell."""
    line, flags = message.line, message.flags
    blocks: list[Block] = []
    if flags & _THINKS and not flags & ENDS_IN_THINKING:
        blocks.append(Block(THINKING, "", "", shape.NO_SIGNATURE if flags & UNSIGNED_THINKING else 0, line))
    text = Block(TEXT, "", "", _find_text_flags(flags), line)
    results = [Block(RESULT, result.call_id, result.name, 0, line) for result in message.results]
    if results:
        if flags & TEXT_BEFORE_RESULT:
            return (text, *results)
        return (*results, text) if flags & MIXED_CONTENT else tuple(results)
    if text.flags & (shape.EMPTY | shape.BLANK) or not message.calls:
        blocks.append(text)
    arguments = shape.ARGUMENTS_NOT_OBJECT if flags & ARGUMENTS_NOT_OBJECT else 0
    blocks += [Block(CALL, call.id, call.name, arguments, line) for call in message.calls]
    if flags & TEXT_AFTER_CALL:
        blocks.append(Block(TEXT, "", "", 0, line))
    if flags & ENDS_IN_THINKING:
        blocks.append(Block(THINKING, "", "", shape.NO_SIGNATURE if flags & UNSIGNED_THINKING else 0, line))
    return tuple(blocks)


def _lower_exactly(message: Message, layout: Layout) -> tuple[Block, ...]:
    """As `_lower_flagged`, with each block at its own place, so that the indexes in error texts are right."""
    kinds = layout(message)
    if kinds is None or [id for kind, id in kinds if kind == CALL] != [call.id for call in message.calls]:
        # A row that can't be read the same way again, such as one of several on a line: the view counts.
        return _lower_flagged(message)
    line, flags = message.line, message.flags
    names = {call.id: call.name for call in message.calls}
    arguments = shape.ARGUMENTS_NOT_OBJECT if flags & ARGUMENTS_NOT_OBJECT else 0
    blocks = []
    for kind, id in kinds:
        if kind == CALL:
            blocks.append(Block(CALL, id, names.get(id, ""), arguments, line))
        elif kind == THINKING:
            blocks.append(Block(THINKING, "", "", shape.NO_SIGNATURE if id == "unsigned" else 0, line))
        elif kind == TEXT:
            blocks.append(
                Block(TEXT, "", "", {"empty": shape.EMPTY, "blank": shape.BLANK}.get(id, 0) | _find_text_flags(flags & ENDS_BLANK), line)
            )
        else:
            blocks.append(Block(kind, id, "", 0, line))
    return tuple(blocks)


def _find_text_flags(flags: int) -> int:
    return (
        (shape.EMPTY if flags & EMPTY_TEXT else 0)
        | (shape.BLANK if flags & BLANK_TEXT else 0)
        | (shape.ENDS_BLANK if flags & ENDS_BLANK else 0)
    )


def arrange(wire: str, messages: Iterable[Sent], first: int = 0) -> list[Sent]:
    """Neutral messages as one wire counts them, the first of them at index `first`."""
    if wire == OPENAI_CHAT:
        return _arrange_chat(messages, first)
    if wire in (ANTHROPIC, GEMINI, CONVERSE):
        arranged = _arrange_turns(messages, first, "model" if wire == GEMINI else "assistant")
        return arranged if wire == ANTHROPIC else [_spell_out(sent) if sent[3] else sent for sent in arranged]
    return _arrange_items(messages, first)


def _arrange_turns(messages: Iterable[Sent], first: int, assistant: str) -> list[Sent]:
    """System rows go elsewhere, runs of tool rows become one user message, all else stays."""
    arranged: list[Sent] = []
    run: list[Sent] = []
    for sent in messages:
        role = sent[0]
        if role == "tool":
            run.append(sent)
            continue
        if role in SYSTEM:
            continue
        if run:
            arranged.append(_join_results(run, first + len(arranged)))
            run = []
        arranged.append(_NEW(Sent, (assistant if role == "assistant" else role, sent[1], first + len(arranged), sent[3], sent[4], "")))
    if run:
        arranged.append(_join_results(run, first + len(arranged)))
    return arranged


def _spell_out(sent: Sent) -> Sent:
    """These two have no string as content: an empty one becomes an empty text block, an empty list stays one."""
    if sent.flags & shape.EMPTY_LIST:
        return sent
    return sent._replace(blocks=(Block(TEXT, "", "", shape.EMPTY, sent.line),), flags=0)


def _join_results(run: list[Sent], index: int) -> Sent:
    blocks = run[0][1] if len(run) == 1 else tuple([block for sent in run for block in sent[1]])
    return _NEW(Sent, ("user", blocks, index, 0, run[0][4], ""))


def _arrange_chat(messages: Iterable[Sent], first: int) -> list[Sent]:
    """The raw list. A row that holds several results, or results beside a text, becomes a tool message for each and a user message."""
    arranged: list[Sent] = []
    for sent in messages:
        results = [block for block in sent[1] if block[0] == RESULT] if sent[0] in ("tool", "user") else ()
        if not results:
            arranged.append(_NEW(Sent, (sent[0], sent[1], first + len(arranged), sent[3], sent[4], "")))
            continue
        for block in results:
            arranged.append(_NEW(Sent, ("tool", (block,), first + len(arranged), 0, sent[4], "")))
        rest = tuple(block for block in sent[1] if block[0] != RESULT)
        if rest:
            arranged.append(Sent("user", rest, first + len(arranged), 0, sent.line))
    return arranged


def _arrange_items(messages: Iterable[Sent], first: int) -> list[Sent]:
    """One item for each call and each result, and one for the rest of a message in front of them. Thinking is not sent without its id."""
    arranged: list[Sent] = []
    for sent in messages:
        rest = tuple(block for block in sent[1] if block[0] not in (CALL, RESULT, THINKING))
        if rest or not sent[1]:
            arranged.append(_NEW(Sent, (sent[0], rest, first + len(arranged), sent[3], sent[4], "")))
        for block in sent[1]:
            if block[0] == CALL:
                arranged.append(_NEW(Sent, ("function_call", (block,), first + len(arranged), 0, block[4], "")))
            elif block[0] == RESULT:
                arranged.append(_NEW(Sent, ("function_call_output", (block,), first + len(arranged), 0, block[4], "")))
    return arranged


def count_sent(wire: str, messages: Sequence[Message], start: int, stop: int) -> int:
    """How many messages a wire makes of `messages[start:stop]`, as `arrange` would.

    An estimate for Responses, whose texts name no place.
    """
    count = 0
    if wire in (ANTHROPIC, GEMINI, CONVERSE):
        in_run = False
        for index in range(start, stop):
            role = messages[index][1]
            if role == "tool":
                count += not in_run
                in_run = True
            elif role == "user" or role == "assistant":
                count += 1
                in_run = False
        return count
    for index in range(start, stop):
        message = messages[index]
        if message[1] in SENT_ROLES:
            count += max(1, len(message[4]) + (message[6] & MIXED_CONTENT != 0)) if message[4] else 1
            if wire != OPENAI_CHAT and message[3]:
                count += len(message[3]) - 1
    return count


def lay_out_row(row: Any) -> list[tuple[str, str]] | None:
    """The blocks of a stored row in their order, for a Layout: calls that stand in the list only come last."""
    if not isinstance(row, dict):
        return None
    content = row.get("content")
    if not isinstance(content, list):
        blocks = [(TEXT, _judge(content))] if isinstance(content, str) and content else []
    else:
        blocks = [_lay_out_block(block) for block in content if isinstance(block, dict)]
    seen = {id for kind, id in blocks if kind == CALL}
    listed = row.get("tool_calls")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict) and str(item.get("id")) not in seen:
            blocks.append((CALL, str(item.get("id", ""))))
    return blocks


def _lay_out_block(block: dict[str, Any]) -> tuple[str, str]:
    kind = block.get("type")
    if kind == "text":
        return TEXT, _judge(block.get("text"))
    if kind in ("tool_call", "tool_use"):
        return CALL, str(block.get("id", ""))
    if kind == "tool_result":
        return RESULT, str(block.get("tool_call_id", block.get("tool_use_id", "")))
    if kind in ("thinking", "reasoning"):
        return THINKING, "" if block.get("signature") else "unsigned"
    return shape.REDACTED if kind == "redacted_thinking" else OTHER, ""


def _judge(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    return "empty" if not text else "blank" if text.isspace() else ""
