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

from doctor.rulekit import Edit, Finding, Fix, Safety, Session, Severity, moves, rule

BAD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hel'
GOOD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}'


@rule(code="AD101", name="torn-line", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_torn_line(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "torn":
            yield Finding(problem.line, f"the last line is torn: {problem.message}", fix_torn_line(session, problem.line), column=problem.column)


def fix_torn_line(session: Session, line: int) -> Fix:
    whole = moves.find_in_backup(session, line, session.transcript.read_line(line))
    if whole is not None:
        return Fix(f"restore row {line + 1} from the client's backup", Safety.SAFE, (Edit(line, line + 1, (whole,)),), (line,), "transcript.jsonl.backup")
    return Fix(f"take the torn line {line + 1} out, into the quarantine", Safety.SAFE, (moves.delete_line(line),), (line,))
