"""A whole turn is missing from the transcript, though the event log shows that it took place.

## Why it matters
The user's prompt, the tools' work and the reply are gone from the conversation. The session still loads and sends, so nothing else
says that they are lost.

## How it happens
Two processes had the session open and the last one to save won; or saving failed from some point on and only the log went on. A prompt
whose turn failed before anything was done is not reported.

## How it is fixed
It is shown, with the sources that still hold it; where it goes back only the user can say, since later turns were written without it.
The client's backup, if it holds the turn, is overwritten by the next save: copy it first.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Fix, Related, Safety, Session, Severity, evidence, examples, rule

MOST_RELATED = 6
EVENTS = (
    examples.event(0, "execution:start", prompt="one")
    + examples.event(1, "orchestrator:complete", "success")
    + examples.event(2, "execution:start", prompt="two")
    + examples.event(3, "orchestrator:complete", "success")
)
FIRST = examples.user("one") + examples.reply("1")
BAD = {"transcript.jsonl": FIRST, "events.jsonl": EVENTS}
GOOD = {"transcript.jsonl": FIRST + examples.user("two") + examples.reply("2"), "events.jsonl": EVENTS}


@rule(code="AD504", name="turn-only-in-events", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_lost_turns(session: Session) -> Iterator[Finding]:
    for lost in evidence.find_lost_turns(session):
        execution = lost.execution
        begin, end = evidence.clock_time(execution.start_time), evidence.clock_time(execution.end_time or execution.last_time)
        calls = f" with {len(lost.runs)} finished tool call{'s' if len(lost.runs) != 1 else ''}" if lost.runs else ""
        if lost.backup_lines is not None:
            first, last = lost.backup_lines
            source = f"transcript.jsonl.backup, {f'row {first + 1}' if first == last else f'rows {first + 1}-{last + 1}'}"
            related = [Related(line, "the lost turn", "backup") for line in range(first, min(last + 1, first + MOST_RELATED))]
        else:
            source = f"the event log from event {execution.start_line + 1} on"
            related = []
        related.insert(0, Related(execution.start_line, "the prompt", "events"))
        message = f"the turn {evidence.describe_execution(execution)}{calls}, {begin} to {end}, is missing; it is still in {source}"
        yield Finding(
            None,
            message,
            Fix("put the turn back by hand from there", Safety.MANUAL, source=source),
            tuple(related),
            tuple(run.call_id for run in lost.runs),
            confidence=Confidence.CONFIRMED if lost.is_certain else Confidence.POSSIBLE,
            why=explain(session, execution.start_line),
            intervals=(evidence.draw_execution(execution),),
        )


def explain(session: Session, start_line: int) -> str:
    for overlap in session.events.overlaps if session.events else ():
        if overlap.confidence == "confirmed" and start_line in (overlap.older.start_line, overlap.newer.start_line):
            return "another execution ran on the session at the same time (AD501) and saved its own view last"
    return ""
