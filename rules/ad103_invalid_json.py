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

from doctor.rulekit import Confidence, Finding, Session, Severity, moves, rewrites, rule, traits

BAD = '{"role": "user", "content": "hi"}\n{"role": "assistant", content}\n{"role": "user", "content": "and?"}'
GOOD = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "content"}\n{"role": "user", "content": "and?"}'
TELLING_BYTES = 40
"""Two rows that begin with the same 40 bytes can be told apart by little else; fewer prove nothing."""


@rule(code="AD103", name="invalid-json", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_invalid_json(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.line_problems:
        if problem.kind == "invalid":
            prefix = session.transcript.read_line(problem.line)[: problem.column]
            fix = moves.restore_or_take_out(session, problem.line, prefix if len(prefix) >= TELLING_BYTES else b"")
            yield Finding(problem.line, f"the line is not JSON: {problem.message}", fix, column=problem.column)
        elif problem.kind == "deep":
            yield Finding(
                problem.line, f"the row is {problem.message}: another parser may read it, so it stays", confidence=Confidence.POSSIBLE
            )
        elif problem.kind == "constant":
            fix = rewrites.rewrite_line(
                session, problem.line, f"write null for the number in row {problem.line + 1}", rewrites.replace_constants
            )
            yield Finding(problem.line, f"{problem.message}: strict readers refuse the row", fix, column=problem.column)
