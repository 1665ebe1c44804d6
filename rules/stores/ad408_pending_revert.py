"""A revert was asked for and is still pending: messages are on disk that the client does not show.

## Why it matters
The next prompt throws them away, and files that the client kept a copy of are put back. Nothing is lost before that.

## How it happens
`/undo` was used, and no prompt was sent since; or a compaction or a crash came between.

## How it is fixed
It is only reported: `/redo` brings the messages back, the next prompt removes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

MESSAGES = (examples.prompt("msg_1", "go"), examples.prompt("msg_2", "on", created=5))
BAD = examples.export(*MESSAGES, revert={"messageID": "msg_2"})
GOOD = examples.export(*MESSAGES)


@rule(code="AD408", name="pending-revert", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_revert(session: Session) -> Iterator[Finding]:
    return report_problems(session, "pending-revert")
