"""A line is JSON but not an object.

## Why it matters
Every reader of the transcript expects an object a line; older clients load such a line and crash later.

## How it happens
A script or a hand edit that wrote a bare value.

## How it is fixed
Only with `--unsafe`: the line goes to the quarantine. It is readable, so it is not taken out by default.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Fix, Safety, Session, Severity, moves, rule, traits

BAD = '{"role": "user", "content": "hi"}\n"hello"'
GOOD = '{"role": "user", "content": "hi"}'


@rule(code="AD201", name="not-an-object", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.REFUSED_ROWS)
def find_value_without_object(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.shape_problems:
        if problem.kind == "object":
            line = problem.line
            fix = Fix(f"take line {line + 1} out, into the quarantine", Safety.UNSAFE, (moves.delete_line(line),), (line,))
            yield Finding(line, problem.message, fix, at_most=Severity.WARNING if session.is_record else None)
