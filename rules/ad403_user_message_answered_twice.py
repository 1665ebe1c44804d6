"""One user message has the same reply twice, or was answered to the end more than once.

## Why it matters
The model reads its own answer twice, and another message may have got none.

## How it happens
Two executions answered from the same history, or a reply was saved again. Where the store notes which message a reply answers
(OpenCode's `parentID`), it is proved by that; otherwise only replies that say the same count.

## How it is fixed
It is only reported: both replies are recorded. Without links two replies that differ say nothing by themselves; a turn may write several.

Chat logs: two turns that both name a message as what they answer are proof. Without links more replies than messages are a doubt; rows of
one turn (text, tool, text; balloons), greetings and scheduled messages, versions of a reply, another try after an error and a person who
took over count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Related, Session, Severity, Turn, examples, report_problems, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

USER = examples.user("where is it?")
REPLY = examples.reply("It is in the drawer.")
BAD = USER + REPLY + examples.reply("it is in the  drawer.")
GOOD = USER + REPLY + USER + REPLY
LONGEST_GAP = 600.0
"""Seconds after which the same words are said again rather than written twice."""
LONGEST_COURTESY = 24
"""Characters of a reply that two different messages may well both get."""
HABIT = 3
"""So many stretches with a surplus, if they are at least half of all, are how the platform writes."""


@rule(code="AD403", name="user-message-answered-twice", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_double_reply(session: Session) -> Iterator[Finding]:
    yield from report_problems(session, "answered-twice")
    form = session.transcript.form
    if (form is not None and form.links_replies) or not any(len(turn.replies) > 1 for turn in session.turns):
        return
    apart: set[int] = set()
    if session.is_record:
        yield from find_in_record(session, apart)
    elif session.events is None:
        yield from find_surplus(session)
    yield from find_same_words(session, apart)


def find_same_words(session: Session, apart: set[int]) -> Iterator[Finding]:
    """Replies of one stretch with the same words. `apart`: replies of which it is known that each answers a message of its own."""
    messages = session.transcript.messages
    for turn in session.turns:
        if len(turn.replies) < 2:
            continue
        seen: dict[str, int] = {}
        for index in turn.replies:
            line = messages[index].line
            text = fold_text(session.transcript.read_row(line))
            if not text or line in session.transcript.repeated_lines or (index in apart):
                continue
            if text in seen and not may_be_meant(session, turn, text, seen[text], index):
                first = messages[seen[text]].line
                related = (Related(first, "the reply"), Related(line, "the same again"))
                names = [f"row {line + 1}", f"row {first + 1}"]
                if session.is_record:
                    from doctor.rulekit import conversations

                    names = [conversations.name_row(session, one) for one in (index, seen[text])]
                message = f"the reply in {names[0]} says the same as {names[1]}, with no user message between"
                yield Finding(line, message, None, related, why="proof: the words are the same" if session.is_record else "")
            seen.setdefault(text, index)


def may_be_meant(session: Session, turn: Turn, text: str, first: int, second: int) -> bool:
    """Two messages that are both answered "Done.", or a reminder that comes again much later. Only in logs that keep no better record."""
    if not session.is_record:
        return False
    one, other = session.note(first).time, session.note(second).time
    is_late = one is not None and other is not None and abs(other - one) > LONGEST_GAP
    return is_late or (len(text) <= LONGEST_COURTESY and len(turn.prompts) >= len(turn.replies))


def find_in_record(session: Session, apart: set[int]) -> Iterator[Finding]:
    from doctor.rulekit import conversations, replies

    messages = session.transcript.messages
    for conversation in conversations.list_conversations(session):
        answers = replies.read_answers(session, conversation)
        double = replies.list_double(session, conversation, answers)
        for prompt, found in double:
            line = messages[prompt].line
            rows = conversations.name_rows(session, found)
            text = f"the user message in {conversations.name_row(session, prompt)} was answered by {len(found)} turns: {rows}"
            related = (Related(line, "answered twice"), *(Related(messages[index].line, "a reply to it") for index in found))
            ids = tuple(filter(None, (session.note(prompt).id,)))
            yield Finding(line, text, None, related, ids, why="proof: the rows or events of this log say that each of them answers it")
        twice = {index for _, found in double for index in found}
        alone = [found[0] for found in answers.links.values() if len(found) == 1]
        apart.update(index for index in alone if index not in twice)
        if not answers.is_linked:
            yield from report_surplus(session, replies.count_stretches(session, conversation))


def find_surplus(session: Session) -> Iterator[Finding]:
    """Other transcripts, as far as their rows carry times: information at most."""
    if not any(len(turn.replies) > len(turn.prompts) > 0 for turn in session.turns):
        return
    from doctor.rulekit import conversations, replies

    (conversation,) = conversations.list_conversations(session)
    counts = []
    for number, turn in enumerate(conversation.turns):
        if len(turn.replies) > len(turn.prompts) > 0 and replies.is_timed(session, turn.replies):
            counts.append(replies.count_stretch(session, conversation, number))
    for finding in report_surplus(session, [count for count in counts if count is not None], len(session.turns)):
        yield finding._replace(at_most=Severity.INFO)


def report_surplus(session: Session, counts: list[Any], stretches: int = 0) -> Iterator[Finding]:
    """Stretches with more replies than messages. A platform that always writes several rows a turn does not answer everything twice."""
    from doctor.rulekit import conversations, replies

    messages = session.transcript.messages
    surplus = [count for count in counts if count.prompts and len(count.answers) > len(count.prompts) + len(count.failures)]
    surplus = [count for count in surplus if replies.is_timed(session, count.turn.replies)]
    if len(surplus) >= HABIT and 2 * len(surplus) >= max(stretches, len(counts)):
        share = f"{len(surplus)} of {max(stretches, len(counts))} stretches"
        text = f"{share} hold more replies than user messages: the turns of this log seem to write several rows each"
        yield Finding(messages[surplus[0].answers[0][0]].line, text, confidence=Confidence.POSSIBLE, at_most=Severity.INFO)
        return
    for count in surplus:
        left = len(count.answers) - len(count.prompts)
        first = [answer[0] for answer in count.answers]
        asked = "1 user message" if len(count.prompts) == 1 else f"{len(count.prompts)} user messages"
        text = f"{len(first)} replies ({conversations.name_rows(session, first)}) follow {asked}: {left} more than there is to answer"
        related = [Related(messages[index].line, "user message") for index in count.prompts]
        related += [Related(messages[index].line, "reply") for index in first]
        why = "a hint: one turn may write several rows"
        yield Finding(messages[first[-1]].line, text, None, tuple(related), confidence=Confidence.POSSIBLE, why=why)


def fold_text(row: Any) -> str:
    """The text of a reply without regard to white space and case."""
    content = row.get("content") if isinstance(row, dict) else None
    if isinstance(content, list):
        content = " ".join(block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))
    return " ".join(content.split()).casefold() if isinstance(content, str) else ""
