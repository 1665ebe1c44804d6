"""Somebody is in this session: the doctor may look, but must not touch.

## Why it matters
What looks damaged may just not be finished: a call whose tool still runs has no result yet. A repair now would make the damage permanent,
and two writers on one session lose each other's turns.

## How it happens
A client has it open, a sub-session is still at work or is being cleaned up after a timeout, or another doctor repairs it.

## How it is fixed
Wait: `fix --wait SECONDS` waits until the session is quiet. Once a sub-session has saved its end or a checkpoint, it can be resumed.
Where it leaves nothing behind, re-delegate instead of retrying the resume.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, examples, resuming, rule

TRANSCRIPT = examples.user("hi") + examples.call("a")
EVENTS = (examples.event(58, "execution:start", prompt="hi") + examples.event(59, "tool:pre", tool_name="bash", tool_call_id="a")).replace(
    "2026-01-02T03:00", "2027-01-15T07:59"
)
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": EVENTS}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": EVENTS.replace("2027", "2026")}


@rule(code="AD605", name="live-session", severity=Severity.INFO, bad=BAD, good=GOOD)
def find_live_session(session: Session) -> Iterator[Finding]:
    if not session.liveness.is_live:
        return
    message = f"somebody is in this session: {session.liveness.reason}; what looks unfinished may still come"
    if resuming.is_sub_session(session.session_id, session.metadata):
        obstacle = resuming.find_obstacle(session.session_id, session.metadata, session.metadata_problem, session.unsaved)
        message += (
            f". On disk it is not resumable yet ({obstacle}): should it end without a save, re-delegate instead of retrying the resume"
            if obstacle
            else ". Its checkpoint is on disk: once it is quiet it can be resumed"
        )
    yield Finding(None, message)
