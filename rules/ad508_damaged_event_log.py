"""The event log itself is damaged: lines cut short, glued together, unreadable, written twice, or of another session.

## Why it matters
What the log proves about executions and lost results may be incomplete. The session loads and sends all the same.

## How it happens
The client was killed, or the disk was full, in the middle of a line, and the next event was appended right behind the torn one. A logging
hook that is registered twice writes each event twice. A forked or copied session carries events of its parent.

## How it is fixed
The event log is never changed. Copies and foreign events are left out of account, glued records are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.rulekit import Finding, Related, RuleOption, Session, Severity, examples, rule, traits

START, END = examples.event(0, "execution:start", prompt="hi"), examples.event(1, "execution:end")
BAD = {"transcript.jsonl": examples.user("hi"), "events.jsonl": START[:60] + END}
GOOD = {"transcript.jsonl": examples.user("hi"), "events.jsonl": START + END}
HARMLESS = RuleOption(
    "harmless",
    "strings",
    ("duplicate", "foreign"),
    "Kinds of damage that are only information. Recordings of killed clients end in a torn line as a matter of course, for instance.",
    choices=("torn", "glued", "invalid", "duplicate", "foreign"),
)


@rule(code="AD508", name="damaged-event-log", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.EVENTS, options=(HARMLESS,))
def find_damage(session: Session, harmless: Sequence[str]) -> Iterator[Finding]:
    log = session.events
    for problem in log.problems if log is not None else ():
        if problem.kind == "torn" and session.liveness.is_live and problem.count == 1 and problem.line == log.line_count - 1:
            continue  # somebody is writing it
        at_most = Severity.INFO if problem.kind in harmless else None
        message = f"the event log has {problem.message}"
        related = (Related(problem.line, "the first of them", "events"),)
        yield Finding(problem.line, message, related=related, at_most=at_most, where="events")
