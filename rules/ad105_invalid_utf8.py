"""A row holds bytes that are not UTF-8, or half of a surrogate pair.

## Why it matters
Bytes that are not UTF-8 crash the client on resume although its backup may be fine. A lone surrogate escape such as `\\ud83d` loads, but
every later save fails on it, so that the transcript silently stays as it is while the work goes on.

## How it happens
A tool's output cut in the middle of a character, or a client that splits text by UTF-16 units.

## How it is fixed
From the client's backup where that holds the row whole. Otherwise only with `--unsafe`: U+FFFD is written for what can't be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Edit, Finding, Fix, Safety, Session, Severity, moves, rewrites, rule, traits

BAD = b'{"role": "user", "content": "caf\xe9"}'
GOOD = b'{"role": "user", "content": "caf\xc3\xa9 \\ud83d\\ude00"}'


@rule(code="AD105", name="invalid-utf8", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_invalid_utf8(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "utf8":
            yield Finding(problem.line, problem.message, fix_bytes(session, problem.line, problem.column), column=problem.column)
        elif problem.kind == "surrogate":
            title = f"write U+FFFD for the lone surrogates of row {problem.line + 1}"
            fix = rewrites.rewrite_line(session, problem.line, title, rewrites.replace_surrogates)
            yield Finding(problem.line, f"{problem.message}: the client can't save this session any more", fix, column=problem.column)


def fix_bytes(session: Session, line: int, column: int) -> Fix:
    body = session.transcript.read_line(line)
    fix = moves.restore_or_take_out(session, line, body[:column])
    if fix.source:
        return fix
    from doctor.rulekit import jsontext

    readable = body.decode("utf-8", "replace").encode("utf-8")
    try:
        jsontext.read_json(readable)
    except (ValueError, RecursionError):
        return fix
    return Fix(
        f"write U+FFFD for the bytes of row {line + 1} that are not UTF-8", Safety.UNSAFE, (Edit(line, line + 1, (readable,)),), (line,)
    )
