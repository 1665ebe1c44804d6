"""Whose events a log holds, and what is damaged in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from doctor.eventlog import EventProblem
from doctor.sources.events.boiling import Event
from doctor.sources.events.envelope import Scan


def select_own(events: list[Event], session_id: str, alias: str = "", guess: bool = False) -> tuple[list[Event], list[Event]]:
    """(own, foreign) events. Rows without a session id are own.

    Of a log that does not know `session_id`, the events of `alias` are taken, and with `guess` those of the session that most of them
    name. Without a `session_id` it is guessed too.
    """
    ids = Counter(event.session_id for event in events if event.session_id)
    if not ids:
        return events, []
    if session_id not in ids:
        session_id = alias if alias in ids else ids.most_common(1)[0][0] if guess or not session_id else session_id
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
