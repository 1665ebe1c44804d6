"""The session says that it is in progress, but nobody is in it.

## Why it matters
It was cut off: what it did since its last checkpoint is not in the transcript. It is no damage. The checkpoint is whole, and the session
can be resumed from it, which is cheaper than doing the work again.

## How it happens
The client checkpoints a sub-session when it starts and before requests, at most every 30 seconds, and marks it `in_progress` until the
save at its end. A timeout, a kill or a crash in between leaves the mark.

## How it is fixed
There is nothing to fix. Resume it, and it goes on from the checkpoint; the next save replaces the mark.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, evidence, examples, resuming, rule

CHILD = '{"parent_id": "p", "agent_name": "explorer", "config": {"tools": []}, "status": '
TRANSCRIPT = examples.user("look around") + examples.call("a") + examples.result("a")
BAD = {"transcript.jsonl": TRANSCRIPT, "metadata.json": CHILD + '"in_progress"}'}
GOOD = {"transcript.jsonl": TRANSCRIPT, "metadata.json": CHILD + '"complete"}'}


@rule(code="AD603", name="stale-in-progress", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_stale_progress(session: Session) -> Iterator[Finding]:
    metadata = session.metadata
    if metadata is None or metadata.get("status") != resuming.IN_PROGRESS or session.liveness.is_live:
        return
    updated = metadata.get("last_updated")
    when = f" of {evidence.clock_time(updated)}" if isinstance(updated, str) and updated else ""
    obstacle = resuming.find_obstacle(session.session_id, metadata, session.metadata_problem, session.unsaved)
    if obstacle:
        # AD602 says why, and what to do.
        yield Finding(None, "it says that it is in progress, but nobody is in it: it was cut off")
        return
    sound = session.pairing.is_sound
    balance = "balanced (every call has its result)" if sound else "not balanced (not every call has its result)"
    lead = describe_lead(session)
    end = "can be resumed" if sound else "can be resumed once that is put right"
    message = (
        f"it says that it is in progress, but nobody is in it: it was cut off at the checkpoint{when}. "
        f"The checkpoint is {balance}, {f'behind its events by {lead}, ' if lead else ''}and {end}"
    )
    yield Finding(None, message)


def describe_lead(session: Session) -> str:
    """What the events know of work behind the checkpoint: `2 calls (bash, 1 of them finished)`, "" for nothing."""
    log = session.events
    ids = evidence.collect_call_ids(session) if log is not None else set()
    later = [run for run in log.runs.values() if run.call_id not in ids] if log is not None else []
    if not later:
        return ""
    names = ", ".join(dict.fromkeys(run.name or "a tool" for run in later))
    finished = sum(1 for run in later if run.end_line >= 0)
    if len(later) == 1:
        return f"1 call ({names}, {'finished' if finished else 'not finished'})"
    return f"{len(later)} calls ({names}, {finished} of them finished)"
