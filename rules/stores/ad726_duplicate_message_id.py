"""Two messages of one session have the same id.

## Why it matters
An import keeps the first of them and passes over the other, without a word. Links by id are ambiguous.

## How it happens
Two exports were joined by hand, or a tool wrote an export.

## How it is fixed
It is only reported: which of the two is meant, only a person can say.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule

BAD = examples.export(examples.prompt("msg_1", "hi"), examples.prompt("msg_1", "hello", created=3))
GOOD = examples.export(examples.prompt("msg_1", "hi"), examples.prompt("msg_2", "hello", created=3))


@rule(code="AD726", name="duplicate-message-id", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_duplicates(session: Session) -> Iterator[Finding]:
    return report_problems(session, "duplicate-message-id")
