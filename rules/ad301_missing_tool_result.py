"""A tool call has no result anywhere.

## Why it matters
Every provider refuses a conversation in which a call has no result: the session can't be resumed.

## How it happens
The client was killed, or its turn was cancelled, while the tool ran. The client saves the call before it knows the result.

## How it is fixed
A result that the event log holds is AD503 and comes back as it was. Only where nobody knows the result, a placeholder goes right behind
the call, in the client's own words, marked in its metadata. Should the real result turn up later, it replaces the placeholder (AD305).
A call that names no tool can't be sent at all: it is only shown.
OpenCode keeps a call and its result in one part and tells the model of its own accord that an open one was interrupted: there it is a
warning, and the part is ended as an error, marked, with all that was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.rulekit import (
    CallPair,
    Confidence,
    Finding,
    Fix,
    Related,
    ResultSite,
    Safety,
    Session,
    Severity,
    evidence,
    examples,
    moves,
    placeholders,
    read_style,
    rule,
    short_id,
    traits,
    write_row,
)

BAD = examples.user("hi") + examples.call("a")
GOOD = BAD + examples.result("a")


@rule(code="AD301", name="missing-tool-result", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS)
def find_missing_result(session: Session) -> Iterator[Finding]:
    messages, strays = session.transcript.messages, moves.find_strays(session)
    for pair in session.pairing.pairs:
        if not evidence.is_unanswered(session, pair):
            continue
        message = messages[pair.index]
        recorded = session.recorded_result(pair.call.id, pair.call.name)
        if recorded is not None and not recorded.refusal:
            continue
        at_tail = moves.find_answer_line(session, pair.index) >= session.transcript.line_count
        text = f"{pair.call.name or 'call'} ({short_id(pair.call.id)}) has no result"
        if at_tail and session.liveness.is_live:
            yield Finding(
                message.line, f"{text} yet: the session is live", ids=(pair.call.id,), confidence=Confidence.POSSIBLE, at_most=Severity.INFO
            )
            continue
        why = f"the event log can't give it back: {recorded.refusal}" if recorded is not None else ""
        text += ": the turn was interrupted" if at_tail else ""
        yield Finding(
            message.line, text, insert_placeholder(session, strays, pair), (Related(message.line, "the call"),), (pair.call.id,), why=why
        )


def insert_placeholder(session: Session, strays: Mapping[int, ResultSite], pair: CallPair) -> Fix:
    line = session.transcript.messages[pair.index].line
    if not pair.call.name:
        # Every API refuses the call itself, and a result under an empty name.
        return Fix(f"by hand: the call in row {line + 1} names no tool; name it, or take it out", Safety.MANUAL)
    row = placeholders.build_row(pair.call.id, pair.call.name, "AD301")
    body = write_row(row, read_style(session.transcript, line))
    title = f"put a marked placeholder behind row {line + 1}"
    fix = Fix(title, Safety.SAFE, (moves.insert_result(session, pair, body),), (), "placeholder")
    return moves.refuse_guess(pair, moves.wait_for_stray(session, strays, pair, fix))
