"""A call was ended as failed while its tool still ran, and the result that came later was discarded.

## Why it matters
The model was told that the tool was interrupted, although its work was done. The event order still holds the real result.

## How it happens
A second process on the same database takes the running calls of the first one for left over, and ends them (AD501). The store keeps the
first end of a call.

## How it is fixed
It is only reported: messages of this store are made from its events, and a message that is changed alone would no longer agree with them.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, report_problems, rule, traits

HEAD = examples.database("time_suspended")
FAILED = '(\'evt_1\', \'ses_1\', 1, \'session.tool.failed.1\', \'{"callID": "a", "error": {"type": "aborted"}}\')'
SUCCESS = "('evt_2', 'ses_1', 2, 'session.tool.success.1', '{\"callID\": \"a\"}')"
BAD = {"opencode.sql": HEAD + f"INSERT INTO event VALUES {FAILED}, {SUCCESS};\n"}
GOOD = {"opencode.sql": HEAD + f"INSERT INTO event VALUES {FAILED};\n"}


@rule(code="AD512", name="discarded-result", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.STORE_PROBLEMS)
def find_discarded(session: Session) -> Iterator[Finding]:
    return report_problems(session, "discarded-result")
