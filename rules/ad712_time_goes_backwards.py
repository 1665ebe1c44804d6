"""A row of a chat log is older than the row before it.

## Why it matters
Who sorts by time reads another conversation than who reads the file from top to bottom.

## How it happens
Two writers, a clock that was set back, a row that is stored at its end and stamped at its start, exports put together by hand.

## How it is fixed
It is only reported. The doctor judges who answers whom in the order of time. A last user message that is older than the reply before it is
how a view for sending looks (`fix -o`), and only information. So is a log that is kept newest first throughout, as many APIs hand it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, examples, rule, traits

FIRST = examples.chat(5, "m1", "user", "hi")
BAD = FIRST + examples.chat(2, "m2", "assistant", "hello")
GOOD = FIRST + examples.chat(5, "m2", "assistant", "hello")
MOST_NAMED = 6


@rule(code="AD712", name="time-goes-backwards", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.PLATFORM_RECORD)
def find_backward_times(session: Session) -> Iterator[Finding]:
    if not session.is_record:
        return
    messages = session.transcript.messages
    newest: dict[str, int] = {}
    found: dict[str, list[tuple[int, int]]] = {}
    for index in range(len(messages)):
        note = session.note(index)
        if note.time is None:
            continue
        before = newest.get(note.thread)
        if before is not None and note.time < (session.note(before).time or 0.0):
            found.setdefault(note.thread, []).append((before, index))
        else:
            newest[note.thread] = index
    if not found:
        return
    from doctor.rulekit import conversations

    kept = {one.thread: one for one in conversations.list_conversations(session)}
    for thread, pairs in found.items():
        if kept[thread].is_reversed:
            before, after = (messages[index].line for index in pairs[0])
            text = "the log is kept newest first" + (f" in {thread}" if thread and len(kept) > 1 else "") + ": it is judged from its end"
            yield Finding(after, text, None, (Related(before, "newer"), Related(after, "older")), at_most=Severity.INFO)
        else:
            yield describe(session, pairs, thread)


def describe(session: Session, pairs: list[tuple[int, int]], thread: str) -> Finding:
    from doctor.rulekit import notes

    messages = session.transcript.messages
    before, after = pairs[0]
    clocks = [notes.write_clock(session.note(index).time) for index in (before, after)]
    text = f"row {messages[after].line + 1} ({clocks[1]}) is older than row {messages[before].line + 1} before it ({clocks[0]})"
    text += f" in {thread}" if thread and len(session.transcript.notes.threads) > 1 else ""
    more = [messages[index].line + 1 for _, index in pairs[1:]]
    if more:
        named = ", ".join(map(str, more[:MOST_NAMED])) + (", …" if len(more) > MOST_NAMED else "")
        text += f", and so {'are rows' if len(more) > 1 else 'is row'} {named}"
    tail = messages[pairs[0][1] :]
    is_view = all(message.kind == "prompt" for message in tail) and pairs[0][1] > 0
    related = (Related(messages[before].line, clocks[0]), Related(messages[after].line, clocks[1]))
    if is_view:
        text += ": a question that waits for its reply was moved last"
    return Finding(messages[after].line, text, None, related, at_most=Severity.INFO if is_view else None)
