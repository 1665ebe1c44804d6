"""A record names another session than the one that it is stored in.

## Why it matters
Nothing, as far as the client goes by the place of a record. What goes by the id inside shows the record in the wrong session.

## How it happens
An older version moved files without writing them anew; an export was edited; a bug in a plugin.

## How it is fixed
It is only reported. The place counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

GOOD = examples.export(examples.prompt("msg_1", "hi"))
BAD = GOOD.replace('"sessionID":"ses_1"', '"sessionID":"ses_2"')


@rule(code="AD722", name="foreign-session-id", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_foreign(session: Session) -> Iterator[Finding]:
    return report_problems(session, "foreign-session-id")
