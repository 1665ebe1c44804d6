"""Several records stand on one physical line.

## Why it matters
The client's loader reads a line as one JSON value and refuses the file. The records themselves are mostly whole.

## How it happens
An append was torn before its line end, and the next append continued on the same line.

## How it is fixed
Each whole record gets a line of its own, byte for byte. A piece of a cut record between them goes to the quarantine.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Edit, Finding, Fix, Safety, Session, Severity, moves, rule, traits

BAD = '{"role": "user", "content": "hi"}{"role": "assistant", "content": "hello"}'
GOOD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}'


@rule(code="AD102", name="glued-records", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_glued_records(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind != "glued":
            continue
        if not problem.parts:
            fix = Fix("tell them apart by hand", Safety.MANUAL)
            yield Finding(problem.line, problem.message, fix, column=problem.column)
            continue
        body = session.transcript.read_line(problem.line)
        records = tuple(body[start:stop] for start, stop in problem.parts)
        torn = moves.has_debris(body, problem.parts)
        title = f"split line {problem.line + 1} into {len(records)} row{'s' if len(records) > 1 else ''}"
        fix = Fix(title, Safety.SAFE, (Edit(problem.line, problem.line + 1, records),), (problem.line,) if torn else ())
        yield Finding(problem.line, problem.message, fix, column=problem.column)
