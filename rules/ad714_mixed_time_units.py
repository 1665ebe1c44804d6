"""A chat log counts its times in seconds in some rows and in milliseconds in others.

## Why it matters
Whoever sorts by the numbers puts all rows in seconds before all others, a factor of a thousand apart.

## How it happens
Two writers: `Date.now()` here, `time.time()` there.

## How it is fixed
It is only reported. The doctor tells the unit of each number by its size.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, rule, traits

ROW = '{"id": "%s", "timestamp": %s, "role": "%s", "content": "hi"}\n'
BAD = ROW % ("m1", "1767322800000", "user") + ROW % ("m2", "1767322803", "assistant")
GOOD = ROW % ("m1", "1767322800000", "user") + ROW % ("m2", "1767322803000", "assistant")
UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


@rule(code="AD714", name="mixed-time-units", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.PLATFORM_RECORD)
def find_mixed_units(session: Session) -> Iterator[Finding]:
    if not session.is_record:
        return
    rows: dict[str, list[int]] = {}
    for index, message in session.messages():
        spelling = session.note(index).spelling
        if spelling in UNITS:
            rows.setdefault(spelling, []).append(message.line)
    if len(rows) < 2:
        return
    rare = min(rows, key=lambda unit: len(rows[unit]))
    usual = max(rows, key=lambda unit: len(rows[unit]))
    if rare == usual:
        usual, rare = sorted(rows, key=lambda unit: rows[unit][0])[:2]
    line = rows[rare][0]
    text = f"times count {UNITS[rare]} in {len(rows[rare])} of the rows (first in row {line + 1}) and {UNITS[usual]} in {len(rows[usual])}"
    yield Finding(line, text, None, (Related(rows[usual][0], UNITS[usual]), Related(line, UNITS[rare])))
