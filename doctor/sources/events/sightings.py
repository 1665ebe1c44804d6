"""Whose events a log holds, and what is damaged in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from doctor.eventlog import EventProblem
from doctor.sources.events.boiling import Event
from doctor.sources.events.envelope import Scan


def select_own(events: list[Event], session_id: str) -> tuple[list[Event], list[Event]]:
    """(own, foreign) events. Rows without a session id are own. Without `session_id` the one that most events name is taken."""
    ids = Counter(event.session_id for event in events if event.session_id)
    if not ids:
        return events, []
    session_id = session_id or ids.most_common(1)[0][0]
    own = [event for event in events if not event.session_id or event.session_id == session_id]
    foreign = [event for event in events if event.session_id and event.session_id != session_id]
    return own, foreign


def list_problems(scan: Scan, foreign: Sequence[Event]) -> tuple[EventProblem, ...]:
    """One problem for each kind of damage, at its first line."""
    problems = []
    if scan.torn:
        problems.append(EventProblem("torn", scan.torn[0], len(scan.torn), f"{_count(scan.torn, 'line')} cut short"))
    if scan.glued:
        message = f"{_count(scan.glued, 'line')} with a record glued to another one, usually to one that was cut short"
        problems.append(EventProblem("glued", scan.glued[0], len(scan.glued), message))
    if scan.invalid:
        problems.append(EventProblem("invalid", scan.invalid[0], len(scan.invalid), f"{_count(scan.invalid, 'line')} that can't be read"))
    if scan.copies:
        message = f"{scan.copies} {'copy' if scan.copies == 1 else 'copies'} of other lines: the logging hook was probably registered twice"
        problems.append(EventProblem("duplicate", scan.first_copy, scan.copies, message))
    if foreign:
        ids = sorted({event.session_id for event in foreign})
        message = f"{_count(foreign, 'event')} of {'another session' if len(ids) == 1 else 'other sessions'} ({', '.join(ids[:3])})"
        problems.append(EventProblem("foreign", foreign[0].line, len(foreign), message))
    return tuple(problems)


def _count(things: Sequence[object], noun: str) -> str:
    return f"1 {noun}" if len(things) == 1 else f"{len(things)} {noun}s"
