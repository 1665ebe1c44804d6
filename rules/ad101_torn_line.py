"""The last line of the transcript is cut short.

## Why it matters
The client's loader refuses the whole file, or falls back to its backup, which is one save older, and loses every later row.

## How it happens
A crash or a full disk in the middle of an append, or a copy that was broken off.

## How it is fixed
Every good row stays. If the client's backup holds the row whole, it is put back; otherwise the cut bytes go to the quarantine.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, moves, rule, traits

BAD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hel'
GOOD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}'


@rule(code="AD101", name="torn-line", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_torn_line(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "torn":
            fix = moves.restore_or_take_out(session, problem.line, session.transcript.read_line(problem.line))
            yield Finding(problem.line, f"the last line is torn: {problem.message}", fix, column=problem.column)
