"""A line in the transcript can't be read as JSON.

## Why it matters
One such line and the client's loader refuses the whole file, or silently takes its older backup. `NaN` and `Infinity` are no JSON
either: Python's parser reads them, strict loaders and every provider do not.

## How it happens
A torn write that was continued later, an edit by hand, or a disk fault.

## How it is fixed
The row comes back whole from the client's backup where that holds it; otherwise the line goes to the quarantine, since nothing can read
it. `NaN` and `Infinity` become null only with `--unsafe`.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Edit, Finding, Fix, Safety, Session, Severity, moves, rewrites, rule

BAD = '{"role": "user", "content": "hi"}\n{"role": "assistant", content}\n{"role": "user", "content": "and?"}'
GOOD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "content"}\n{"role": "user", "content": "and?"}'


@rule(code="AD103", name="invalid-json", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_invalid_json(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "invalid":
            yield Finding(problem.line, f"the line is not JSON: {problem.message}", fix_line(session, problem.line, problem.column), column=problem.column)
        elif problem.kind == "deep":
            yield Finding(problem.line, f"the row is {problem.message}: another parser may read it, so it stays", confidence=Confidence.POSSIBLE)
        elif problem.kind == "constant":
            fix = rewrites.rewrite_line(session, problem.line, f"write null for the number in row {problem.line + 1}", rewrites.replace_constants)
            yield Finding(problem.line, f"{problem.message}: strict readers refuse the row", fix, column=problem.column)


def fix_line(session: Session, line: int, column: int) -> Fix:
    body = session.transcript.read_line(line)
    whole = moves.find_in_backup(session, line, body[:column]) if column >= 40 else None
    if whole is not None:
        return Fix(f"restore row {line + 1} from the client's backup", Safety.SAFE, (Edit(line, line + 1, (whole,)),), (line,), "transcript.jsonl.backup")
    return Fix(f"take the unreadable line {line + 1} out, into the quarantine", Safety.SAFE, (moves.delete_line(line),), (line,))
