"""Assistant messages hold thinking without a signature: it comes from another provider.

## Why it matters
Anthropic takes thinking back only with the signature that it made for it, and refuses the request otherwise. The other providers are not
sent stored thinking at all, so for them nothing is wrong.

## How it happens
The session was run with another provider, which signs nothing or signs differently, and is resumed with Anthropic. Some clients lose the
signature on the way to disk.

## How it is fixed
Only with `--for anthropic --unsafe`: the thinking without signature is taken out, texts and calls stay. A signature can't be made up, and
another provider may still want to read that thinking.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import (
    BROKEN_SHAPE,
    DAMAGED_LINE,
    SHARED_LINE,
    UNSIGNED_THINKING,
    Confidence,
    Finding,
    Fix,
    Related,
    Safety,
    Session,
    Severity,
    examples,
    refusals,
    rewrites,
    rule,
    traits,
)

ROW = '{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": %s}, {"type": "text", "text": "Yes?"}]}\n'
BAD = examples.user("Hi.") + ROW % "null"
GOOD = examples.user("Hi.") + ROW % '"c2lnbmVk"'
MOST_NAMED = 6


@rule(code="AD405", name="unsigned-thinking", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.MINDED_ROWS)
def find_unsigned_thinking(session: Session) -> Iterator[Finding]:
    refused = refusals.find_refused(session, ("AN-20", "AN-22", "AN-23"))
    if not refused:
        return
    messages = session.transcript.messages
    unsigned = [messages[index] for index in session.transcript.unusual if messages[index].flags & UNSIGNED_THINKING]
    lines = [message.line for message in unsigned]
    rows = ", ".join(str(line + 1) for line in lines[:MOST_NAMED]) + (", …" if len(lines) > MOST_NAMED else "")
    rows = f"{'row' if len(lines) == 1 else 'rows'} {rows}"
    fix = Fix("take that thinking out with --for anthropic --unsafe", Safety.MANUAL)
    can_change = not any(message.flags & (SHARED_LINE | BROKEN_SHAPE | DAMAGED_LINE) for message in unsigned)
    # Another provider can still read it: it goes only for the one that was named.
    if session.aim == "given" and can_change:
        fix = rewrites.rewrite_later(lines, f"take the thinking without signature out of {rows}", rewrites.strip_unsigned_thinking)
    count = "an assistant message holds" if len(lines) == 1 else f"{len(lines)} assistant messages hold"
    first = refused[0]
    yield Finding(
        first.line,
        f"{count} thinking without a signature ({rows}): {refusals.name_refusing(session, first)}",
        fix,
        tuple(Related(line, "unsigned thinking") for line in lines[:3]),
        confidence=Confidence.CONFIRMED if first.is_sure else Confidence.POSSIBLE,
        wires=first.answers,
    )
