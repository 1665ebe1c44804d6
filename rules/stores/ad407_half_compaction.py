"""A compaction of the conversation was begun and never came to its end.

## Why it matters
The conversation is cut at the wrong place or not at all: calls lose their results, the client compacts again and again, or shows a
compaction that runs for ever.

## How it happens
The client was killed while it summarised, or the summary itself was refused. A failed summary leaves its mark in the conversation.

## How it is fixed
It is only reported. Compact again with a newer version of the client, or go on from a fork before the compaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

FIRST, NEXT = examples.prompt("msg_1", "go"), examples.prompt("msg_4", "on", created=7)
ASKED = examples.prompt("msg_2", None, {"type": "compaction", "auto": True}, created=3)
SUMMARY = {"type": "text", "text": "So far."}
BAD = examples.export(FIRST, ASKED, NEXT)
GOOD = examples.export(FIRST, ASKED, examples.answer("msg_3", "msg_2", SUMMARY, summary=True, finish="stop", created=4, completed=5), NEXT)


@rule(code="AD407", name="half-compaction", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_half_compaction(session: Session) -> Iterator[Finding]:
    return report_problems(session, "half-compaction")
