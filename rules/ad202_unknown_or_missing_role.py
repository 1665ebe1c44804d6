"""A row has no role, or one that the client does not know.

## Why it matters
The client's message model refuses the row before any provider is asked, so the session can't be resumed.

## How it happens
A row of another tool, a hand edit, or a client of another version.

## How it is fixed
By hand, since what the row was meant to be is not known: open the transcript at the row that is named, set `role` to one of system,
developer, user, assistant, function or tool (or delete the line if it is not part of the conversation), and check again.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, rule, traits

BAD = '{"role": "robot", "content": "hi"}'
GOOD = '{"role": "developer", "content": "hi"}'


@rule(code="AD202", name="unknown-or-missing-role", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.REFUSED_ROWS)
def find_bad_role(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.shape_problems:
        if problem.kind == "role":
            # What a platform makes of such a row, only the platform knows.
            yield Finding(problem.line, problem.message, at_most=Severity.WARNING if session.is_record else None)
