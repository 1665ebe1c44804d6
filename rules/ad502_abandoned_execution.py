"""An execution started and never ended, and nothing shows that it lived on.

## Why it matters
It explains what else is found: calls without results, a turn that stops in the middle. By itself it does no harm.

## How it happens
The client was killed or crashed, or an exception or a forced cancel left without writing an end.

## How it is fixed
There is nothing to fix here. What the execution left behind in the transcript has rules of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, evidence, examples, rule, traits

TRANSCRIPT = examples.user("one") + examples.user("two")
FIRST = examples.event(0, "execution:start", prompt="one")
REST = (
    examples.event(2, "session:resume")
    + examples.event(3, "execution:start", prompt="two")
    + examples.event(4, "orchestrator:complete", "success")
)
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + REST}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + examples.event(1, "orchestrator:complete", "success") + REST}


@rule(code="AD502", name="abandoned-execution", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.EVENTS)
def find_abandoned(session: Session) -> Iterator[Finding]:
    log = session.events
    if log is None:
        return
    left = log.open_execution
    for execution in (*log.abandoned, *((left,) if left is not None and not session.liveness.is_live else ())):
        start, last = execution.start_line, execution.last_line
        message = (
            f"{evidence.quote(execution.prompt)} started ({evidence.name_line(log, start)}, {evidence.clock_time(execution.start_time)}) "
            f"and never ended: its last sign of life is {evidence.name_line(log, last)} ({evidence.clock_time(execution.last_time)})"
        )
        related = [Related(start, "it starts", "events")]
        if last != start:
            related.append(Related(last, "its last sign of life", "events"))
        yield Finding(start, message, related=tuple(related), where="events", intervals=(evidence.draw_execution(execution),))
