"""Ids that hold a time say another order than the times that are stored with the messages.

## Why it matters
Versions of OpenCode go by ids where they should go by time. A prompt whose id sorts before an older answer counts as answered: it is
stored, and nothing comes. One whose id sorts behind its own answer is answered again and again.

## How it happens
The times in ids have 36 bits: they began anew at 2026-08-14T11:19:55.136Z, and every session from before fell silent. Or an id was made by
a client whose clock was wrong.

## How it is fixed
It is only reported: other messages, parts and reverts refer to the ids. Use a version that goes by time, a fork, or a new session.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

OLD, NEW = 1786706390000, 1786706400000
USER = examples.prompt("msg_fffffe9f0001AAAAAAAAAAAAAA", "before", created=OLD)
REPLY = examples.answer(
    "msg_fffffedb8001AAAAAAAAAAAAAA",
    USER["info"]["id"],
    {"type": "text", "text": "Yes."},
    created=OLD + 1000,
    completed=OLD + 2000,
    finish="stop",
)
BAD = examples.export(USER, REPLY, examples.prompt("msg_000001300001AAAAAAAAAAAAAA", "after", created=NEW))
GOOD = examples.export(USER, REPLY)


@rule(code="AD721", name="ids-against-time", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_disorder(session: Session) -> Iterator[Finding]:
    return report_problems(session, "ids-against-time")
