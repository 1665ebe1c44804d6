"""A database of sessions fails SQLite's own check.

## Why it matters
What can still be read may be incomplete, and the next write can make it worse. The client stops with "database disk image is malformed".

## How it happens
A full disk, a network file system without locks, a copy taken while somebody wrote, or a sandbox that keeps the write-ahead log elsewhere.

## How it is fixed
Not here: bring the file back from a backup, or save what can be saved with `sqlite3 FILE .recover`. `fix -o FILE` writes a session that can
still be read as an export.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

HEAD = examples.database()
BAD = {"opencode.sql": HEAD + "INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{}');\nINSERT INTO todo VALUES ('ses_gone', 'x');\n"}
GOOD = {"opencode.sql": HEAD}


@rule(code="AD112", name="damaged-database", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_damage(session: Session) -> Iterator[Finding]:
    return report_problems(session, "damaged-database")
