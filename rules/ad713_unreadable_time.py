"""The time of a chat row can't be read, or not for sure.

## Why it matters
Its place in the conversation is a guess, and so is who answered whom.

## How it happens
A clock time without a date, a text in the words of a locale, a time without a zone among others that have one, a row without any.

## How it is fixed
It is only reported. A row whose time can't be read stays behind its neighbour in the file; a time without a zone counts as UTC. Where no
row has a zone, that is information: their order is sound all the same, except where the clock changed. So it is where no time at all can be
read: the platform has a spelling of its own, and the order of the file is taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, examples, rule, traits

FIRST = examples.chat(0, "m1", "user", "hi")
BAD = FIRST + examples.chat(1, "m2", "assistant", "hello").replace("2026-01-02T03:00:01.000+00:00", "three o'clock")
GOOD = FIRST + examples.chat(1, "m2", "assistant", "hello")
MOST_NAMED = 6
FEWEST = 2
"""Rows from which on the same unknown spelling of the time is a platform's habit."""


@rule(code="AD713", name="unreadable-time", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.PLATFORM_RECORD)
def find_unreadable_time(session: Session) -> Iterator[Finding]:
    if not session.is_record:
        return
    spellings = [session.note(index).spelling for index in range(len(session.transcript.messages))]
    if not any(spellings):
        # A list without times, such as the messages of a request.
        return
    bad = [index for index, spelling in enumerate(spellings) if spelling == "bad"]
    naive = [index for index, spelling in enumerate(spellings) if spelling == "naive"]
    missing = [index for index, spelling in enumerate(spellings) if not spelling]
    if bad:
        is_habit = len(bad) >= FEWEST and not any(spelling not in ("", "bad") for spelling in spellings)
        text = f"the time {session.note(bad[0]).stamp!r} can't be read"
        yield describe(
            session,
            bad,
            f"{text}, nor any other: the order of the file is taken" if is_habit else text,
            Severity.INFO if is_habit else None,
        )
    if naive and any(spelling not in ("", "bad", "naive") for spelling in spellings):
        yield describe(session, naive, "the time has no zone, and others of this log have one", None)
    elif naive:
        yield describe(session, naive, "the times have no zone; they are taken for UTC", Severity.INFO)
    if missing:
        yield describe(session, missing, "the row has no time", Severity.INFO)


def describe(session: Session, indexes: list[int], text: str, at_most: Severity | None) -> Finding:
    lines = [session.transcript.messages[index].line for index in indexes]
    named = ", ".join(str(line + 1) for line in lines[:MOST_NAMED]) + (", …" if len(lines) > MOST_NAMED else "")
    text += f" (rows {named})" if len(lines) > 1 else f" (row {named})"
    return Finding(
        lines[0],
        text,
        None,
        tuple(Related(line, session.note(index).stamp) for line, index in zip(lines[:3], indexes, strict=False)),
        at_most=at_most,
    )
