"""Within one step of an assistant message, text or reasoning follows a tool call.

## Why it matters
The client sends a step as one assistant message, and its results behind it. Some of its versions then send a call that has a result on
disk without that result ("tool_use ids were found without tool_result blocks"), and the session is refused from then on.

## How it happens
A model goes on talking behind a call; or two processes wrote into one message.

## How it is fixed
It is only reported: the store holds what was said in the order in which it was said. A newer version of the client sends it soundly; else
go on from a fork before that message.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

USER, STEP, TEXT = examples.prompt("msg_1", "go"), {"type": "step-start"}, {"type": "text", "text": "Done."}
TOOL = examples.tool("a")
BAD = examples.export(USER, examples.answer("msg_2", "msg_1", STEP, TOOL, TEXT, finish="stop", completed=9))
GOOD = examples.export(USER, examples.answer("msg_2", "msg_1", STEP, TOOL, STEP, TEXT, finish="stop", completed=9))


@rule(code="AD309", name="interleaved-step", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_interleaved(session: Session) -> Iterator[Finding]:
    return report_problems(session, "interleaved-step")
