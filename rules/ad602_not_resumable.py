"""The client refuses to resume this session, whatever its rows say.

## Why it matters
A session id that a timed-out or failed delegate left behind reads like an invitation. Whoever retries the resume fails every time, and
the work is done nowhere.

## How it happens
A client that saves a sub-session only after its success leaves no transcript when it is killed or times out: there are events only. So
do runs without checkpoints (a sub-session in a process of its own, `AMPLIFIER_SPAWN_CHECKPOINT_INTERVAL_S` below zero). A sub-session is
rebuilt from the configuration in its metadata, so that it is lost without it.

## How it is fixed
The right move is to re-delegate: start a fresh session instead of retrying the resume. What the events hold is not lost:
`fix --recover -o FILE` writes a transcript from them. A root session needs only its transcript and is resumed without metadata.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Fix, Safety, Session, Severity, examples, resuming, rule

CHILD = '{"parent_id": "p", "agent_name": "explorer", "child_span": "0f"'
TRANSCRIPT = examples.user("look around") + examples.reply("done")
BAD = {"transcript.jsonl": TRANSCRIPT, "metadata.json": CHILD + ', "config": {}}'}
GOOD = {"transcript.jsonl": TRANSCRIPT, "metadata.json": CHILD + ', "config": {"tools": []}}'}


@rule(code="AD602", name="not-resumable", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_obstacle(session: Session) -> Iterator[Finding]:
    if session.liveness.is_live:
        return
    # A transcript that was rebuilt from the events counts as one.
    unsaved = session.unsaved and not session.transcript.messages
    obstacle = resuming.find_obstacle(session.session_id, session.metadata, session.metadata_problem, unsaved)
    if not obstacle:
        return
    kind = "sub-session" if resuming.is_sub_session(session.session_id, session.metadata) else "session"
    move = resuming.name_move(session.session_id, session.metadata)
    events = session.events.path if unsaved and session.events is not None else ""
    title = f"{move}; what the events hold, fix --recover -o FILE writes as a transcript" if events else move
    yield Finding(
        None, f"this {kind} is NOT resumable: {obstacle}; {move}", Fix(title, Safety.MANUAL, source="events.jsonl" if events else "")
    )
