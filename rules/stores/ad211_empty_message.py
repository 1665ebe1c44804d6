"""An assistant message holds nothing that could be sent.

## Why it matters
Servers that speak OpenAI's protocol refuse an empty assistant message ("must not be empty"), and each retry stores another one. Most
versions of the client leave such a message out; some send it because of parts that say nothing to a model.

## How it happens
An abort before the first word, with a snapshot or a patch stored all the same; an answer that ended without content.

## How it is fixed
It is only reported. Where the session is refused for it, go on from a fork before that message, or with a newer version of the client.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

ABORTED = {"error": {"name": "MessageAbortedError", "data": {"message": "aborted"}}, "completed": 9}
PARTS = [{"type": "step-start"}, {"type": "reasoning", "text": "Hm.", "time": {"start": 3}}, {"type": "patch", "hash": "a", "files": []}]
BAD = examples.export(examples.prompt("msg_1", "hi"), examples.answer("msg_2", "msg_1", *PARTS, **ABORTED))
GOOD = examples.export(examples.prompt("msg_1", "hi"), examples.answer("msg_2", "msg_1", *PARTS[:2], **ABORTED))


@rule(code="AD211", name="empty-message", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_empty(session: Session) -> Iterator[Finding]:
    return report_problems(session, "empty-message")
