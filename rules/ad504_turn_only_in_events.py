"""A whole turn is missing from the transcript, though the event log shows that it took place.

## Why it matters
The user's prompt, the tools' work and the reply are gone from the conversation. The session still loads and sends, so nothing else
says that they are lost.

## How it happens
Two processes had the session open and the last one to save won; or saving failed from some point on and only the log went on. A prompt
whose turn failed before anything was done is not reported.

## How it is fixed
By default it is only shown, with the sources that still hold it: later turns were written without it. `fix --recover` puts it back in the
order in which the turns began: the rows of the client's backup byte for byte, if it holds them, else rows rebuilt from the event log and
marked. Redacted values are never used. The backup is overwritten by the client's next save: recover first, or copy it.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Fix, Related, Safety, Session, Severity, evidence, examples, rule, traits

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


@rule(code="AD504", name="turn-only-in-events", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.EVENTS)
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
        what = "the prompt of the turn" if has_calls(session, execution.start_line) else "the turn"
        message = f"{what} {evidence.describe_execution(execution)}{calls}, {begin} to {end}, is missing; it is still in {source}"
        yield Finding(
            None,
            message,
            offer_fix(session, lost, what, source),
            tuple(related),
            tuple(run.call_id for run in lost.runs),
            confidence=Confidence.CONFIRMED if lost.is_certain else Confidence.POSSIBLE,
            why=explain(session, execution.start_line),
            intervals=(evidence.draw_execution(execution),),
        )


def has_calls(session: Session, start_line: int) -> bool:
    """Whether the transcript has a call of an execution although its prompt is gone."""
    runs = session.events.runs.values() if session.events is not None else ()
    own = {run.call_id for run in runs if run.execution == start_line}
    return bool(own & evidence.collect_call_ids(session))


def offer_fix(session: Session, lost: evidence.LostTurn, what: str, source: str) -> Fix:
    if not session.recover:
        title = f"put {what.removesuffix(' of the turn')} back with --recover, or by hand from there"
        return Fix(title, Safety.MANUAL, source=source, recoverable=True)
    from doctor.rulekit import recovery

    found = recovery.plan_turn(session, lost, "AD504")
    if not found.edits:
        return Fix(f"put it back by hand: {found.reason}", Safety.MANUAL, (), (), source, missing=found.missing)
    line = found.edits[0].start
    place = f"before row {line + 1}" if line < session.transcript.line_count else "at the end"
    rows = f" ({found.rows} rows)" if found.rows > 1 else ""
    title = f"put {what.removesuffix(' of the turn')} {evidence.quote(lost.execution.prompt)} back {place}{rows}"
    return Fix(title, Safety.SAFE, found.edits, (), found.source, missing=found.missing)


def explain(session: Session, start_line: int) -> str:
    for overlap in session.events.overlaps if session.events else ():
        if overlap.confidence == "confirmed" and start_line in (overlap.older.start_line, overlap.newer.start_line):
            return "another execution ran on the session at the same time (AD501) and saved its own view last"
    return ""
