"""The same record stands twice in a row.

## Why it matters
The model sees the message twice. No provider refuses it.

## How it happens
An append was repeated after an error that came too late, or two writers saved the same row.

## How it is fixed
The copy goes to the quarantine when the rows carry the same time stamp, so that they are one recorded event. Without a time stamp the
user may well have said the same thing twice: it is only noted.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Fix, Related, Safety, Session, Severity, moves, rule, traits

ROW = '{"role": "user", "content": "hi", "metadata": {"timestamp": "2026-01-02T03:04:05.678+00:00"}}\n'
BAD = ROW + ROW
GOOD = ROW + ROW.replace("05.678", "09.012")


@rule(code="AD108", name="repeated-record", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.ODD_LINES)
def find_repeated_record(session: Session) -> Iterator[Finding]:
    for line in session.transcript.repeated_lines:
        row = session.transcript.read_row(line)
        metadata = row.get("metadata") if isinstance(row, dict) else None
        message = f"row {line + 1} repeats row {line} byte for byte"
        related = (Related(line - 1, "the same record"), Related(line, "its copy"))
        if isinstance(metadata, dict) and metadata.get("timestamp"):
            fix = Fix(f"take the copy in row {line + 1} out, into the quarantine", Safety.SAFE, (moves.delete_line(line),), (line,))
            yield Finding(line, message, fix, related)
        else:
            yield Finding(line, message, None, related, confidence=Confidence.POSSIBLE, at_most=Severity.INFO)
