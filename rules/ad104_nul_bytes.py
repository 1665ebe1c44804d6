"""A line holds NUL bytes.

## Why it matters
NUL bytes are not JSON: the loader refuses the file.

## How it happens
A power cut after the file was made longer and before its blocks were written: the file system fills the gap with NULs.

## How it is fixed
NULs around a whole record are taken away and the record stays byte for byte; a line of nothing but NULs goes. NULs inside a record
destroyed a part of it: the row comes back from the client's backup, or the line goes to the quarantine.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Edit, Finding, Fix, Safety, Session, Severity, moves, rule, traits

BAD = b'{"role": "user", "content": "hi"}\n\x00\x00\x00\x00'
GOOD = b'{"role": "user", "content": "hi \\u0000"}'


@rule(code="AD104", name="nul-bytes", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_nul_bytes(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "nul":
            yield Finding(problem.line, problem.message, fix_nul_bytes(session, problem.line, problem.parts), column=problem.column)


def fix_nul_bytes(session: Session, line: int, parts: tuple[tuple[int, int], ...]) -> Fix:
    body = session.transcript.read_line(line)
    if parts:
        records = tuple(body[start:stop] for start, stop in parts)
        quarantined = (line,) if moves.has_debris(body, parts) else ()
        return Fix(f"take the NUL bytes around row {line + 1} away", Safety.SAFE, (Edit(line, line + 1, records),), quarantined)
    first, last = body.index(0), body.rindex(0)
    return moves.restore_or_take_out(session, line, body[:first], body[last + 1 :])
