"""Two messages of one log or session have one id.

## Why it matters
A store that keeps one message a key loses one of them (OpenCode's import keeps the first, without a word), and a reply link to the id
says nothing any more.

## How it happens
Ids made of a time stamp or a counter that starts again, a row that was copied into another conversation, a merge of two exports.

## How it is fixed
It is only reported: which of them a link means can't be told. Later versions of the same message (an edit, a streamed text that grew) are
no defect, and neither are short ids that each conversation counts for itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, evidence, examples, report_problems, rule, traits

FIRST = examples.chat(0, "m1", "user", "hi")
BAD = FIRST + examples.chat(1, "m1", "assistant", "hello")
GOOD = FIRST + examples.chat(1, "m2", "assistant", "hello")
SHORTEST_GLOBAL_ID = 16
"""Characters from which on an id is meant to be the only one of its kind: `m1` may well stand in every conversation."""

NEEDED = traits.STORE_PROBLEMS | traits.PLATFORM_RECORD


@rule(code="AD711", name="duplicate-message-id", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=NEEDED)
def find_duplicate_id(session: Session) -> Iterator[Finding]:
    for finding in report_problems(session, "duplicate-message-id"):
        yield finding._replace(at_most=Severity.WARNING)
    if not session.is_record:
        return
    messages = session.transcript.messages
    first: dict[tuple[str, str], int] = {}
    elsewhere: dict[str, int] = {}
    for index, message in session.messages():
        note = session.note(index)
        if not note.id or message.line in session.transcript.repeated_lines:
            continue
        key = (note.thread, note.id)
        if key in first:
            yield from compare(session, first[key], index)
        elif note.id in elsewhere and len(note.id) >= SHORTEST_GLOBAL_ID:
            other = messages[elsewhere[note.id]].line
            text = (
                f"the id {note.id} stands in two conversations: {session.note(elsewhere[note.id]).thread or '?'} and {note.thread or '?'}"
            )
            related = (Related(other, "the id"), Related(message.line, "the same id in another conversation"))
            yield Finding(message.line, text, None, related, (note.id,), at_most=Severity.WARNING)
        first.setdefault(key, index)
        elsewhere.setdefault(note.id, index)


def compare(session: Session, first: int, second: int) -> Iterator[Finding]:
    messages = session.transcript.messages
    one, other = (evidence.join_text(session.transcript, messages[index]) for index in (first, second))
    lines = messages[first].line, messages[second].line
    note = session.note(second)
    related = (Related(lines[0], "the id"), Related(lines[1], "the same id"))
    same_role = messages[first].role == messages[second].role
    if same_role and one == other:
        text = f"the message {note.id} stands twice (rows {lines[0] + 1} and {lines[1] + 1})"
        yield Finding(lines[1], text, None, related, (note.id,), at_most=Severity.WARNING)
    elif same_role and (other.startswith(one) or session.note(first).time == note.time):
        text = f"the message {note.id} stands in two versions (rows {lines[0] + 1} and {lines[1] + 1}): the later one replaces the earlier"
        yield Finding(lines[1], text, None, related, (note.id,), at_most=Severity.INFO)
    else:
        text = f"two messages have the id {note.id}: a store with one message a key keeps one of them only"
        yield Finding(lines[1], text, None, related, (note.id,))
