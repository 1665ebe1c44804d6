"""A delegate's result names a session that is not on disk, or that can't be resumed.

## Why it matters
The model reads the id as an offer to go on there. The resume fails each time, with a message that reads like "try again".

## How it happens
Clients that save a sub-session only after its success advertise its id all the same when it times out. Sub-sessions that run in a process
of their own are not checkpointed. Sessions are also pruned by age, or copied without their sub-sessions.

## How it is fixed
There is nothing to repair in the parent: it resumes and sends. The right move is to re-delegate: start a fresh session instead of
retrying the resume. A result that says `resumable: false`, or names no session, is not reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Message, Related, Session, Severity, examples, resuming, row_number, rule, short_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOLS = frozenset({"delegate", "task"})
"""The tool that delegates; `task` is its older name."""
CHILD = "0000000000000000-00000000000000aa_explorer"
OFFER = '{"error": null, "output": {"agent": "explorer", "session_id": "%s"%s}, "success": %s}'


def write_transcript(more: str, success: str) -> str:
    return examples.user("look") + examples.call("a", name="delegate") + examples.result("a", OFFER % (CHILD, more, success), "delegate")


EVENTS = examples.event(0, "execution:start", prompt="look") + examples.event(1, "orchestrator:complete", "success")
BAD = {"transcript.jsonl": write_transcript("", "true"), "events.jsonl": EVENTS}
GOOD = {"transcript.jsonl": write_transcript(', "status": "timed_out", "resumable": false', "false"), "events.jsonl": EVENTS}


@rule(code="AD604", name="advertised-session-missing", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_missing_sessions(session: Session) -> Iterator[Finding]:
    if session.find_sibling is None:
        return
    offers: dict[str, list[tuple[Message, str]]] = {}
    for message, call_id in list_delegate_results(session.transcript.messages):
        named = find_offer(session.transcript.read_row(message.line), call_id)
        if named and named != session.session_id:
            offers.setdefault(named, []).append((message, call_id))
    for named, rows in offers.items():
        sibling = session.find_sibling(named)
        if not sibling.obstacle:
            continue
        message, call_id = rows[-1]
        text = (
            f"row {row_number(message.line)} offers session {named}, which is NOT resumable: {sibling.obstacle}; "
            f"{resuming.name_move(named, None) if sibling.folder else resuming.RE_DELEGATE}"
        )
        if not sibling.is_certain:
            text += " (unless this is a copy without its sub-sessions)"
        # While somebody is in the parent, its sub-session may still be at work and be saved later.
        is_sure = sibling.is_certain and not session.liveness.is_live
        yield Finding(
            message.line,
            text,
            related=tuple(Related(row.line, f"result of {short_id(row_id)}", "transcript") for row, row_id in rows),
            ids=tuple(row_id for _, row_id in rows),
            confidence=Confidence.CONFIRMED if is_sure else Confidence.POSSIBLE,
            at_most=None if is_sure else Severity.INFO,
        )


def list_delegate_results(messages: list[Message]) -> list[tuple[Message, str]]:
    """(message, call id) of all real results of delegations. Long transcripts have few: the loop over all rows does next to nothing."""
    ids = {call[0] for message in messages if message[3] for call in message[3] if call[1] in TOOLS}
    if not ids:
        return []
    return [(message, result.call_id) for message in messages for result in message[4] if result.call_id in ids and not result.maker]


def find_offer(row: Any, call_id: str) -> str:
    """The session id that a result offers for a resume, "" when it offers none or says that it can't be resumed."""
    content = row.get("content") if isinstance(row, dict) and row.get("tool_call_id") == call_id else None
    try:
        value = json.loads(content) if isinstance(content, str) else None
    except (ValueError, RecursionError):
        return ""
    # A hook that answers behind the tool makes the client store the bare output.
    output = value.get("output", value) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(output, dict) or output.get("resumable", value.get("resumable")) is False:
        return ""
    named = output.get("session_id")
    return named if isinstance(named, str) else ""
