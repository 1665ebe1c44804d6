"""A session is stored, and the list of sessions does not show it.

## Why it matters
It seems to be lost although nothing of it is.

## How it happens
Sessions are listed by project. The project's record is missing, or the folder got a second project (its first commit changed, or a channel
made its own).

## How it is fixed
It is only reported. The session can be opened by its id, or exported and imported from within the folder.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

GOOD = {"opencode.sql": examples.database()}
BAD = {"opencode.sql": examples.database() + "DELETE FROM project;\n"}


@rule(code="AD725", name="hidden-session", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_hidden(session: Session) -> Iterator[Finding]:
    return report_problems(session, "hidden-session")
