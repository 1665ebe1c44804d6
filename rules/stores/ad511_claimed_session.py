"""The store says that an execution of this session is claimed.

## Why it matters
A claim is no lock: it has no owner and no end. A process that starts takes a claimed session that it does not run itself for one that was
cut off, and runs it again, also while another process is still at it (AD501).

## How it happens
An execution is under way, or its process was killed or shut down: a claim is released only when an execution ends by itself or by its user.

## How it is fixed
It is only reported. Run one server for each database; a claim that was left behind is resumed at the next start.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

HEAD = examples.database("execution_claimed_at")
BAD = {"opencode.sql": HEAD + "UPDATE session SET execution_claimed_at = 1790000000000;\n"}
GOOD = {"opencode.sql": HEAD}


@rule(code="AD511", name="claimed-session", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_claim(session: Session) -> Iterator[Finding]:
    return report_problems(session, "claimed-session")
