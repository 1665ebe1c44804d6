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

Chat logs: two turns of one conversation. Their events, rows of two turn ids that take turns, or a reply that was written without one that
was finished before it, are proof; it is an error where both replied, since neither saw the other's reply. From a bare transcript it can't
be told: two user messages and two replies look the same whether the turns overlapped or waited for one another. That is a hint, no more,
and where the two replies come within two seconds a stronger one.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, EventLog, Finding, Overlap, Related, Session, Severity, Turn, evidence, examples, rule

TRANSCRIPT = examples.user("slow") + examples.user("quick")
FIRST = examples.event(0, "execution:start", prompt="slow") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
SECOND = examples.event(3, "execution:start", prompt="quick")
FINISH = examples.event(4, "tool:post", tool_name="bash", tool_call_id="a", result="ok")
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + SECOND + FINISH}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": FIRST + examples.event(2, "session:resume") + SECOND}


@rule(code="AD501", name="overlapping-executions", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_overlaps(session: Session) -> Iterator[Finding]:
    log = session.events
    if log is None or not log.runs:
        yield from find_hints(session)
    if log is None or not log.overlaps:
        return
    at_most = None if evidence.bears_trace(session) else Severity.INFO
    for overlap in log.overlaps:
        wrote_blind = session.is_record and overlap.older.response and overlap.newer.response
        yield describe(log, overlap, None if wrote_blind else at_most)


def find_hints(session: Session) -> Iterator[Finding]:
    """Stretches of at least two user messages and two replies of which nothing tells which turn wrote what."""
    if not any(len(turn.prompts) > 1 and len(turn.replies) > 1 for turn in session.turns):
        return
    from doctor.rulekit import conversations, replies

    log = session.events
    if log is not None and (log.turns or not session.is_record):
        return
    parts = [part for found in log.overlaps for part in (found.older, found.newer)] if log is not None else []
    proved = {line for part in parts for line in (part.start_line, part.end_line)}
    for conversation in conversations.list_conversations(session):
        links = replies.read_answers(session, conversation).links if session.is_record else {}
        for turn in conversation.turns:
            resolved = len({links[index] for index in turn.prompts if index in links}) == len(turn.prompts)
            timed = replies.is_timed(session, (*turn.prompts, *turn.replies))
            if len(turn.prompts) < 2 or len(turn.replies) < 2 or resolved or not timed or conversations.is_ambiguous(session, turn):
                continue
            is_known = any(session.transcript.messages[index].line in proved for index in turn.replies)
            if not is_known and len({session.note(index).turn or index for index in turn.replies}) > 1:
                yield describe_hint(session, turn)


def describe_hint(session: Session, turn: Turn) -> Finding:
    from doctor.rulekit import conversations

    first, second = turn.replies[:2]
    gap = conversations.measure_gap(session.note(first), session.note(second)) or 0.0
    rows = [conversations.name_rows(session, indexes) for indexes in (turn.prompts, turn.replies)]
    text = (
        f"two turns may have run at the same time: {len(turn.prompts)} user messages, {rows[0]}, stand before {len(turn.replies)} replies, "
        f"{rows[1]}; the rows alone can't tell that from turns that waited for one another"
    )
    if 0 < gap < conversations.SAME_TURN_SECONDS:
        text += f", but replies only {gap:.1f} s apart are a stronger hint"
    messages = session.transcript.messages
    related = [Related(messages[index].line, "user message") for index in turn.prompts]
    related += [Related(messages[index].line, "reply") for index in turn.replies]
    return Finding(messages[first].line, text, None, tuple(related), confidence=Confidence.POSSIBLE, at_most=Severity.INFO)


def describe(log: EventLog, overlap: Overlap, at_most: Severity | None) -> Finding:
    older, newer = overlap.older, overlap.newer
    is_certain = overlap.confidence == "confirmed"
    verb = "ran" if is_certain else "may have run"
    parts = [evidence.describe_execution(part, log) for part in (older, newer)]
    message = f"two executions {verb} at the same time: {parts[0]} and {parts[1]}"
    if is_certain:
        ends = [part.end_time if part.end_line >= 0 else part.last_time for part in (older, newer)]
        if newer.start_time and all(ends) and (not log.rows or newer.start_time < min(ends)):
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
        related=tuple(sorted(join_labels(related) if log.rows else set(related), key=lambda row: row.line)),
        confidence=Confidence.CONFIRMED if is_certain else Confidence.POSSIBLE,
        at_most=at_most,
        where="events",
        why=overlap.proof if log.source is not None else "",
        intervals=(evidence.draw_execution(older), evidence.draw_execution(newer)),
    )


def join_labels(related: list[Related]) -> list[Related]:
    """One entry a line: rows that are drawn with their words need no second drawing."""
    labels: dict[int, list[str]] = {}
    for row in related:
        labels.setdefault(row.line, []).append(row.label)
    return [Related(line, ", ".join(dict.fromkeys(words)), "events") for line, words in labels.items()]
