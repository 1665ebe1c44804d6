"""A session lies in the older store of files, and the database that took its place does not have it.

## Why it matters
The client shows what is in its database: the session seems to be gone.

## How it happens
The one-time import passed it over (its project was missing, a file could not be read, it was interrupted), or a newer client of another
channel wrote to a database of its own. The import leaves the files where they are.

## How it is fixed
`fix -o FILE` writes the session as an export, and `opencode import FILE` brings it into the database.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

FILES = {
    "storage/session/global/ses_1.json": '{"id": "ses_1", "projectID": "global", "time": {"created": 1, "updated": 1}}',
    "storage/message/ses_1/msg_1.json": '{"role": "user", "time": {"created": 2}}',
    "storage/part/msg_1/prt_1.json": '{"type": "text", "text": "hi"}',
}
BAD = {"opencode.sql": examples.database().replace("ses_1", "ses_2"), **FILES}
GOOD = FILES


@rule(code="AD724", name="unmigrated-session", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_unmigrated(session: Session) -> Iterator[Finding]:
    return report_problems(session, "unmigrated-session")
