"""A user message or another assistant turn stands between a call and its result.

## Why it matters
Providers look for the results right behind the call. Behind anything else a result is "unexpected", and the call counts as unanswered:
the request is refused with a 400, for ever.

## How it happens
Two executions ran on one session and their rows interleaved, a hook stored a reminder while the tool was still running, or a message was
written in before the results.

## How it is fixed
The row moves, byte for byte, directly behind its call. Nothing is replaced. A user row that holds the result beside text of its own can't
move whole: split it by hand into the result, behind the call, and the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import (
    CallPair,
    Confidence,
    Finding,
    Related,
    ResultSite,
    Session,
    Severity,
    examples,
    moves,
    rule,
    short_id,
    traits,
)

BAD = examples.call("a") + examples.user("and now?") + examples.result("a")
GOOD = examples.call("a") + examples.result("a") + examples.user("and now?")


@rule(code="AD303", name="displaced-tool-result", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS)
def find_displaced_result(session: Session) -> Iterator[Finding]:
    for pair in session.pairing.pairs:
        kept = moves.choose_kept(session, pair)
        if kept is None or kept not in pair.late or pair.placed or not pair.call.id:
            continue
        yield describe(session, pair, kept)


def describe(session: Session, pair: CallPair, site: ResultSite) -> Finding:
    line, call_line = moves.line_of(session, site), session.transcript.messages[pair.index].line
    foreign = moves.find_foreign_turn(session, pair, site)
    # Replies without calls right behind the call merge with it for Anthropic and Gemini; Chat Completions refuses them.
    only_replies = all(message.kind in ("reply", "invented") for _, message in foreign)
    between = ", ".join(moves.describe_message(session, index) for index, _ in foreign[:3]) or "results of other calls"
    more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
    text = f"the result of {pair.call.name or 'call'} ({short_id(pair.call.id)}) stands behind {between}{more}"
    related = (
        Related(call_line, "the call"),
        *(Related(message.line, "in between") for _, message in foreign[:4]),
        Related(line, f"belongs behind row {call_line + 1}"),
    )
    confidence = Confidence.POSSIBLE if only_replies else Confidence.CONFIRMED
    return Finding(line, text, moves.move_result(session, pair, site), related, (pair.call.id,), confidence=confidence)
