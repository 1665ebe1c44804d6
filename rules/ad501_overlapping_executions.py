"""Two executions ran on one session at the same time.

## Why it matters
Their rows interleave: results land far from their calls, a repair takes running calls for dead ones, the last writer drops the other's
turn. Providers then refuse the session for ever, or work is silently lost.

## How it happens
A prompt was sent while a tool still ran (a forced cancel, a second launcher), or a second process resumed the session. The client has no
lock against either in most versions.

## How it is fixed
The overlap itself is history; the damage that it did has rules of its own. It is an error while the transcript bears traces of it, and a
note afterwards. Only what happens to the older execution behind the newer start counts as proof; a start alone may follow a crash.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, EventLog, Finding, Overlap, Related, Session, Severity, evidence, examples, rule

TRANSCRIPT = examples.user("slow") + examples.user("quick")
FIRST = examples.event(0, "execution:start", prompt="slow") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
SECOND = examples.event(3, "execution:start", prompt="quick")
FINISH = examples.event(4, "tool:post", tool_name="bash", tool_call_id="a", result="ok")
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + SECOND + FINISH}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + examples.event(2, "session:resume") + SECOND}


@rule(code="AD501", name="overlapping-executions", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_overlaps(session: Session) -> Iterator[Finding]:
    log = session.events
    if log is None or not log.overlaps:
        return
    at_most = None if evidence.bears_trace(session) else Severity.INFO
    for overlap in log.overlaps:
        yield describe(log, overlap, at_most)


def describe(log: EventLog, overlap: Overlap, at_most: Severity | None) -> Finding:
    older, newer = overlap.older, overlap.newer
    is_certain = overlap.confidence == "confirmed"
    verb = "ran" if is_certain else "may have run"
    message = f"two executions {verb} at the same time: "
    message += f"{evidence.describe_execution(older, log)} and {evidence.describe_execution(newer, log)}"
    if is_certain:
        ends = [part.end_time if part.end_line >= 0 else part.last_time for part in (older, newer)]
        message += f", from {evidence.clock_time(newer.start_time)} to {evidence.clock_time(min(ends))}"
    if log.source is None:
        # Nothing else shows where a store that keeps no log has it from.
        message += f": {overlap.proof}"
    related = [Related(older.start_line, "the first starts", "events"), Related(newer.start_line, "the second starts", "events")]
    related += [Related(line, "proof" if is_certain else "clue", "events") for line in overlap.proof_lines]
    related += [
        Related(part.end_line, f"the {which} ends", "events") for part, which in ((older, "first"), (newer, "second")) if part.end_line >= 0
    ]
    return Finding(
        None,
        message,
        related=tuple(sorted(set(related), key=lambda row: row.line)),
        confidence=Confidence.CONFIRMED if is_certain else Confidence.POSSIBLE,
        at_most=at_most,
        where="events",
        why=overlap.proof if log.source is not None else "",
        intervals=(evidence.draw_execution(older), evidence.draw_execution(newer)),
    )
