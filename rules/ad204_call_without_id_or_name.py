"""A tool call or a tool result has no usable id, or a call has no name.

## Why it matters
Without an id no result can be paired with the call, and every provider refuses the request. The client's own model wants ids that are
strings.

## How it happens
A provider that makes no ids, a conversion between two clients, or a number where a string belongs.

## How it is fixed
Numeric ids become strings with `--unsafe`, on call and result alike. An id that was never recorded can't be made up: give the call an id
of your own by hand, in both spellings and in its result, or delete the call and its result, and check again.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, rewrites, rule, traits

RESULT = '\n{"role": "tool", "name": "bash", "tool_call_id": "7", "content": "ok"}'
BAD = '{"role": "assistant", "content": "", "tool_calls": [{"id": 7, "tool": "bash", "arguments": {}}]}' + RESULT
GOOD = '{"role": "assistant", "content": "", "tool_calls": [{"id": "7", "tool": "bash", "arguments": {}}]}' + RESULT


@rule(code="AD204", name="call-without-id-or-name", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.REFUSED_ROWS)
def find_nameless_call(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.shape_problems:
        if problem.kind == "call":
            title = f"write the numeric ids of row {problem.line + 1} as strings"
            fix = rewrites.rewrite_line(session, problem.line, title, rewrites.stringify_ids)
            yield Finding(problem.line, problem.message, fix)
