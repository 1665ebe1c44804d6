"""One JSON object of a row has the same key twice.

## Why it matters
Parsers disagree about which of the two counts: most keep the last, some the first, strict ones refuse. The client takes the last.

## How it happens
A row was put together as text, by a script or by hand.

## How it is fixed
It is only noted: which value was meant is not known, and the client reads the row.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, rule, traits

BAD = '{"role": "user", "role": "user", "content": "hi"}'
GOOD = '{"role": "user", "content": "\\"role\\": \\"role\\""}'


@rule(code="AD109", name="duplicate-key", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_duplicate_key(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "duplicate-key":
            yield Finding(problem.line, problem.message, column=problem.column)
