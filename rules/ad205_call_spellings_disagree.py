"""A row's content blocks and its tool_calls list name different calls, or spell them in only one of the two ways.

## Why it matters
Amplifier stores each call twice. Its Anthropic side reads the list and the OpenAI side reads the blocks: where they differ, one provider
sees a call that the other does not, and refuses its result. A row with only one spelling, or with the `function` or `name`/`input`
shape of another client, is refused by some versions and providers and put right by others: that is reported as possible.

## How it happens
Rows written by another host or by a context module that keeps only blocks, conversions, or edits by hand.

## How it is fixed
With `--unsafe` the row is written in both of Amplifier's spellings. Where the two disagree about the ids, the side whose ids have results
is taken, if exactly one side has.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from doctor.rulekit import (
    BROKEN_SHAPE,
    SPELLED_AS_BLOCK,
    SPELLED_FOREIGN,
    SPELLED_IN_LIST,
    SPELLINGS_DISAGREE,
    Confidence,
    Finding,
    Fix,
    Message,
    Session,
    Severity,
    rewrites,
    rule,
    traits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RESULT = '\n{"role": "tool", "name": "bash", "tool_call_id": "b", "content": "ok"}'
BLOCK = '{"role": "assistant", "content": [{"type": "tool_call", "id": "%s", "name": "bash", "input": {}}], '
BAD = BLOCK % "a" + '"tool_calls": [{"id": "b", "tool": "bash", "arguments": {}}]}' + RESULT
GOOD = BLOCK % "b" + '"tool_calls": [{"id": "b", "tool": "bash", "arguments": {}}]}' + RESULT


@rule(code="AD205", name="call-spellings-disagree", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNUSUAL_ROWS)
def find_disagreeing_spellings(session: Session) -> Iterator[Finding]:
    for index in session.transcript.unusual:
        message = session.transcript.messages[index]
        if not message.calls:
            continue
        ids = tuple(call.id for call in message.calls)
        if message.flags & SPELLINGS_DISAGREE:
            text = "content blocks and tool_calls name different calls: " + describe_sides(message)
            yield Finding(message.line, text, adopt_answered_side(session, index), ids=ids)
            continue
        if message.flags & BROKEN_SHAPE:
            continue
        shapes = {shape for call in message.calls if (shape := describe_shape(call.spelling))}
        if shapes:
            fix = rewrites.rewrite_line(session, message.line, f"spell the calls of row {message.line + 1} both ways", rewrites.spell_calls)
            text = f"calls are spelled {' and '.join(sorted(shapes))}: some providers will not see them"
            yield Finding(message.line, text, fix, ids=ids, confidence=Confidence.POSSIBLE)


def describe_shape(spelling: int) -> str:
    if spelling & SPELLED_FOREIGN:
        return "in another client's shape"
    if not spelling & SPELLED_IN_LIST:
        return "as content blocks only"
    return "" if spelling & SPELLED_AS_BLOCK else "in tool_calls only"


def describe_sides(message: Message) -> str:
    blocks = [call.id or "?" for call in message.calls if call.spelling & SPELLED_AS_BLOCK]
    listed = [call.id or "?" for call in message.calls if call.spelling & SPELLED_IN_LIST]
    return f"{', '.join(blocks)} against {', '.join(listed)}"


def adopt_answered_side(session: Session, index: int) -> Fix | None:
    message = session.transcript.messages[index]
    answered = set()
    for later in islice(session.transcript.messages, index + 1, index + 1 + len(message.calls)):
        answered |= {result.call_id for result in later.results}
    sides = [{call.id for call in message.calls if call.spelling & side} for side in (SPELLED_AS_BLOCK, SPELLED_IN_LIST)]
    full = [side for side in sides if side and side <= answered]
    if len(full) != 1 or len(sides[0]) != len(sides[1]):
        return None
    take_blocks = full[0] is sides[0]

    def change(row: dict[str, Any]) -> dict[str, Any] | None:
        changed = dict(row)
        if take_blocks:
            changed.pop("tool_calls", None)
        return rewrites.spell_calls(changed)

    return rewrites.rewrite_line(session, message.line, f"take the answered ids of row {message.line + 1} in both spellings", change)
