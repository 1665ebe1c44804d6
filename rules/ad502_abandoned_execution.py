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

from doctor.rulekit import Finding, Related, Session, Severity, evidence, rule

TRANSCRIPT = '{"role": "user", "content": "one"}\n{"role": "user", "content": "two"}\n'
FIRST = '{"ts": "2026-01-02T03:04:05.1Z", "event": "execution:start", "data": {"prompt": "one"}}\n'
RESUME = '{"ts": "2026-01-02T03:04:06.1Z", "event": "session:resume", "data": {}}\n'
SECOND = (
    '{"ts": "2026-01-02T03:04:07.1Z", "event": "execution:start", "data": {"prompt": "two"}}\n'
    '{"ts": "2026-01-02T03:04:08.1Z", "event": "execution:end", "data": {}}\n'
)
END = '{"ts": "2026-01-02T03:04:05.9Z", "event": "orchestrator:complete", "status": "success", "data": {}}\n'
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + RESUME + SECOND}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + END + RESUME + SECOND}


@rule(code="AD502", name="abandoned-execution", severity=Severity.INFO, bad=BAD, good=GOOD)
def find_abandoned(session: Session) -> Iterator[Finding]:
    log = session.events
    if log is None:
        return
    left = log.open_execution
    for execution in (*log.abandoned, *((left,) if left is not None and not session.liveness.is_live else ())):
        start, last = execution.start_line, execution.last_line
        message = (
            f"{evidence.quote(execution.prompt)} started (event {start + 1}, {evidence.clock_time(execution.start_time)}) and never ended: "
            f"its last sign of life is event {last + 1} ({evidence.clock_time(execution.last_time)})"
        )
        related = [Related(start, "it starts", "events")]
        if last != start:
            related.append(Related(last, "its last sign of life", "events"))
        yield Finding(start, message, related=tuple(related), where="events", intervals=(evidence.draw_execution(execution),))
