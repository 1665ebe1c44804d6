"""The file starts with a UTF-8 byte order mark.

## Why it matters
Python's text reader hands the mark to the JSON parser, which refuses the first row: Amplifier silently takes
its older backup, or nothing. Some other readers take it.

## How it happens
The file went through an editor or a shell that writes the mark.

## How it is fixed
The three bytes are taken away; the row stays byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Edit, Finding, Fix, Safety, Session, Severity, rule, traits

BAD = b'\xef\xbb\xbf{"role": "user", "content": "hi"}'
GOOD = '{"role": "user", "content": "hi \ufeff"}'


@rule(code="AD106", name="byte-order-mark", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_byte_order_mark(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "bom":
            start, stop = problem.parts[0]
            record = session.transcript.read_line(problem.line)[start:stop]
            fix = Fix(
                f"take the byte order mark off row {problem.line + 1}", Safety.SAFE, (Edit(problem.line, problem.line + 1, (record,)),)
            )
            yield Finding(problem.line, problem.message, fix)
