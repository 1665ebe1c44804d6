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

from collections.abc import Iterator, Sequence
from itertools import pairwise

from doctor.rulekit import Finding, Related, RuleOption, Session, Severity, examples, moves, rule, short_id, traits

FIRST = examples.call("a") + examples.result("a") + examples.user("again")
BAD = FIRST + examples.call("a") + examples.result("a")
GOOD = FIRST + examples.call("b") + examples.result("b")
EXPECTED = RuleOption(
    "expected",
    "strings",
    (),
    "Ids that the recording host uses again on purpose, with * for any characters: call_* where it counts anew in every turn.",
)


@rule(code="AD308", name="reused-tool-id", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS, options=(EXPECTED,))
def find_reused_id(session: Session, expected: Sequence[str]) -> Iterator[Finding]:
    messages = session.transcript.messages
    for call_id, indexes in session.pairing.reused:
        copies = (moves.is_same_row(session, earlier, later) for earlier, later in pairwise(indexes))
        if not call_id or all(copies) or is_expected(call_id, expected):
            continue
        lines = [messages[index].line for index in indexes]
        rows = ", ".join(str(line + 1) for line in lines[:-1])
        text = f"the id {short_id(call_id)} of row {lines[-1] + 1} was used before (row{'s' if len(lines) > 2 else ''} {rows})"
        related = tuple(Related(line, "uses the id") for line in lines[-4:])
        yield Finding(lines[-1], text, None, related, (call_id,))


def is_expected(call_id: str, patterns: Sequence[str]) -> bool:
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    return any(fnmatchcase(call_id, pattern) for pattern in patterns)
