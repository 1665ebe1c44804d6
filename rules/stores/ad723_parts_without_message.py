"""Parts of a message are stored, and the message is not.

## Why it matters
The client does not show them, and its clean-up may stop at them ("FOREIGN KEY constraint failed"). What they say is lost to the session.

## How it happens
A part was written after its message was removed, by a second process or by a revert that overtook a running answer.

## How it is fixed
It is only reported: what the message said of itself is not recorded anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

HEAD = examples.database()
BAD = {"opencode.sql": HEAD + "INSERT INTO part VALUES ('prt_1', 'msg_gone', 'ses_1', '{\"type\": \"text\", \"text\": \"hi\"}');\n"}
GOOD = {"opencode.sql": HEAD}


@rule(code="AD723", name="parts-without-message", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_orphans(session: Session) -> Iterator[Finding]:
    return report_problems(session, "parts-without-message")
