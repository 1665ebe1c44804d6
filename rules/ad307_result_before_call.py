"""A tool result stands before its call.

## Why it matters
Every provider reads the conversation in order: the result is unexpected, and the call behind it is unanswered.

## How it happens
Rows of two writers merged in the wrong order, or a repair that put a result in the wrong place.

## How it is fixed
The row moves, byte for byte, directly behind its call.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, examples, moves, rule, short_id, traits

BAD = examples.result("a") + examples.call("a")
GOOD = examples.call("a") + examples.result("a")


@rule(code="AD307", name="result-before-call", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS)
def find_early_result(session: Session) -> Iterator[Finding]:
    for pair in session.pairing.pairs:
        kept = moves.choose_kept(session, pair)
        if kept is None or kept not in pair.early or pair.placed or not pair.call.id:
            continue
        line, call_line = moves.line_of(session, kept), session.transcript.messages[pair.index].line
        text = f"the result of {pair.call.name or 'call'} ({short_id(pair.call.id)}) stands before its call (row {call_line + 1})"
        related = (Related(line, f"belongs behind row {call_line + 1}"), Related(call_line, "the call"))
        yield Finding(line, text, moves.move_result(session, pair, kept), related, (pair.call.id,))
