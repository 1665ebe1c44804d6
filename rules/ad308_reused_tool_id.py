"""Two calls in different turns share an id.

## Why it matters
Anthropic and others accept a request in which an id comes again in a later turn, as long as each use is answered; OpenAI's Responses
interface and some gateways do not. A result can be given to the wrong call.

## How it happens
Models or hosts that number their calls anew in every turn (`call_0`, `call_1`), or a row that was copied.

## How it is fixed
It is only reported: a new id would change recorded rows, and most providers take the session as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from doctor.rulekit import Finding, Related, Session, Severity, examples, moves, rule, short_id

FIRST = examples.call("a") + examples.result("a") + examples.user("again")
BAD = FIRST + examples.call("a") + examples.result("a")
GOOD = FIRST + examples.call("b") + examples.result("b")


@rule(code="AD308", name="reused-tool-id", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_reused_id(session: Session) -> Iterator[Finding]:
    messages = session.transcript.messages
    for call_id, indexes in session.pairing.reused:
        copies = (moves.is_same_row(session, earlier, later) for earlier, later in pairwise(indexes))
        if not call_id or all(copies):
            continue
        lines = [messages[index].line for index in indexes]
        rows = ", ".join(str(line + 1) for line in lines[:-1])
        text = f"the id {short_id(call_id)} of row {lines[-1] + 1} was used before (row{'s' if len(lines) > 2 else ''} {rows})"
        related = tuple(Related(line, "uses the id") for line in lines[-4:])
        yield Finding(lines[-1], text, None, related, (call_id,))
