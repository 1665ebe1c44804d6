"""A user message has no reply.

## Why it matters
Nothing is refused: the model sees the message with the next prompt. But the user may wait for an answer that will not come.

## How it happens
The execution failed, was cancelled or died before it replied, or a reply to another message came in its place. Stores that note which
message a reply answers (OpenCode's `parentID`) prove it.

## How it is fixed
It is only reported: ask again. It is a warning where another message of the same turn was answered instead, else information.

Chat logs: where replies name what they answer, a message that no reply names and no later turn had in its context is unanswered. Without
links only the end of a log decides; of several messages before fewer replies some were folded into a reply or lost, which is information.
A mere "thanks", a group, a person who took over and a question that is still fresh are no finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Related, Session, Severity, Turn, evidence, examples, report_problems, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BAD = {
    "transcript.jsonl": examples.user("hi"),
    "events.jsonl": examples.event(0, "execution:start", prompt="hi") + examples.event(1, "orchestrator:complete", "error"),
}
GOOD = examples.user("hi") + examples.reply("hello")
MOST_NOTES = 10
CANCELLED = "was cancelled"


@rule(code="AD402", name="unanswered-user-message", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_unanswered_message(session: Session) -> Iterator[Finding]:
    yield from report_problems(session, "unanswered")
    if session.is_record:
        yield from find_in_record(session)
        return
    messages = session.transcript.messages
    log = session.events
    if log is None:
        yield from find_folded(session)
    ended = {execution.text_key: execution for execution in log.executions} if log is not None else {}
    turns = join_steered(session, log.steered) if log is not None and ended else session.turns[-1:]
    last = turns[-1:]
    for turn in turns:
        is_last = turn.prompts == last[0].prompts
        if session.liveness.is_live and is_last:
            continue
        for index in turn.prompts:
            line = messages[index].line
            execution = ended.get(messages[index].text_key)
            if execution is not None and execution.status not in ("success", "incomplete"):
                earlier = [ended.get(messages[other].text_key) for other in turn.prompts if other < index]
                answered_instead = bool(turn.replies) and any(one is not None and one.status == "success" for one in earlier)
                if turn.replies and not answered_instead:
                    continue
                how = {"": "never ended", "cancelled": "was cancelled"}.get(execution.status, f"ended in {execution.status}")
                text = f"the user message has no reply: its execution {how}"
                related = (Related(line, "unanswered"), Related(execution.start_line, "its execution starts", "events"))
                yield Finding(line, text, None, related, at_most=None if answered_instead else Severity.INFO)
            elif execution is None and is_last and not turn.replies and not turn.calls and index == turn.prompts[-1]:
                yield Finding(line, "the last user message has no reply", confidence=Confidence.POSSIBLE, at_most=Severity.INFO)


def join_steered(session: Session, steered: frozenset[int]) -> list[Turn]:
    """The turns, with those that begin with a text steered into the one before counted as part of it."""
    joined: list[Turn] = []
    for turn in session.turns:
        texts = [session.transcript.messages[index].text_key for index in turn.prompts]
        if joined and texts and steered.issuperset(texts):
            before = joined.pop()
            turn = before._replace(replies=before.replies + turn.replies, calls=before.calls + turn.calls)
        joined.append(turn)
    return joined


def find_in_record(session: Session) -> Iterator[Finding]:
    """By links where there are any, else by counting."""
    from doctor.rulekit import conversations, replies

    for conversation in conversations.list_conversations(session):
        answers = replies.read_answers(session, conversation)
        proved = set(replies.list_unanswered(session, conversation, answers))
        newest = conversation.turns[-1].prompts if conversation.turns else ()
        for index in sorted(proved):
            if not (session.liveness.is_live and index in newest):
                yield describe_unlinked(session, index, answers.failed.get(index), newest)
        counts = replies.count_stretches(session, conversation)
        unclear = [one for one in counts if not (proved.intersection(one.turn.prompts) or (answers.is_linked and one.answers))]
        found = [finding for one in unclear for finding in describe_count(session, one)]
        yield from sum_up(found)


def sum_up(found: list[Finding]) -> Iterator[Finding]:
    """A platform that takes several messages up together does so all the time: that is one note, not hundreds."""
    notes = [finding for finding in found if finding.at_most is Severity.INFO]
    yield from (finding for finding in found if finding.at_most is not Severity.INFO)
    if len(notes) <= MOST_NOTES:
        yield from notes
        return
    rows = ", ".join(str((finding.line or 0) + 1) for finding in notes[:MOST_NOTES])
    text = f"{len(notes)} times more user messages than replies stand together (rows {rows}, …): folded into one reply each, or lost"
    yield notes[0]._replace(message=text, related=())


def find_folded(session: Session) -> Iterator[Finding]:
    """Other transcripts with times in their rows, where no event log tells more: what is counted is information at most."""
    if not any(len(turn.prompts) > len(turn.replies) > 0 for turn in session.turns):
        return
    from doctor.rulekit import conversations, replies

    (conversation,) = conversations.list_conversations(session)
    # Of the last stretch AD401 speaks.
    for number, turn in enumerate(conversation.turns[:-1]):
        if len(turn.prompts) > len(turn.replies) > 0 and replies.is_timed(session, turn.prompts):
            count = replies.count_stretch(session, conversation, number)
            yield from describe_count(session, count) if count is not None else ()


def describe_unlinked(session: Session, index: int, failure: int | None, newest: tuple[int, ...]) -> Finding:
    from doctor.rulekit import conversations, replies

    messages = session.transcript.messages
    line = messages[index].line
    turn = replies.find_turn(session, index)
    ended = describe_end(turn) if turn is not None else ""
    name = conversations.name_row(session, index)
    related = [Related(line, "unanswered")]
    if failure is not None:
        text = f"the user message in {name} has no reply: its turn ended in an error, {conversations.name_row(session, failure)}"
        related.append(Related(messages[failure].line, "the error"))
    elif ended:
        text = f"the user message in {name} has no reply: its turn {ended}"
    elif index in newest:
        text = f"the user message in {name} has no reply"
    else:
        text = f"the user message in {name} was passed over"
    why = "proof: replies of this log say what they answer; none names it, and no later turn had it in its context"
    ids = tuple(filter(None, (session.note(index).id,)))
    return Finding(line, text, None, tuple(related), ids, at_most=Severity.INFO if ended == CANCELLED else None, why=why)


def describe_count(session: Session, count: Any) -> Iterator[Finding]:
    """`count`: a replies.Count."""
    from doctor.rulekit import conversations, replies

    messages = session.transcript.messages
    waiting, given = len(count.prompts), len(count.answers) + len(count.failures)
    if not waiting:
        return
    last = messages[count.prompts[-1]].line
    related = [Related(messages[index].line, "user message") for index in count.prompts]
    related += [Related(messages[answer[0]].line, "reply") for answer in count.answers]
    related += [Related(messages[index].line, "an error in the place of a reply") for index in count.failures]
    name = conversations.name_row(session, count.prompts[-1])
    is_over = count.is_last and not session.liveness.is_live
    if is_over and count.failures and (not count.answers or (waiting > len(count.answers) and is_behind(session, count))):
        said = evidence.quote(evidence.join_text(session.transcript, messages[count.failures[-1]]))
        error = conversations.name_row(session, count.failures[-1])
        text = f"the user message in {name} has no reply: an error came in its place, {error}: {said}"
        yield Finding(last, text, None, tuple(related), why="proof: the log ends without a reply behind the error")
    elif is_over and not count.answers:
        turn = replies.find_turn(session, count.prompts[-1])
        ended = describe_end(turn) if turn is not None else ""
        text = f"the user message in {name} has no reply" + (f": its turn {ended}" if ended else "")
        at_most = Severity.INFO if ended == CANCELLED else None
        yield Finding(last, text, None, tuple(related) if waiting > 1 else (), at_most=at_most, why="proof: the log ends behind it")
    elif count.answers and waiting > given:
        left = waiting - given
        rows = conversations.name_rows(session, count.prompts)
        text = (
            f"{left} of {waiting} user messages ({rows}) {'has' if left == 1 else 'have'} no reply of "
            f"{'its' if left == 1 else 'their'} own: folded into another reply, or lost"
        )
        yield Finding(last, text, None, tuple(related), confidence=Confidence.POSSIBLE, at_most=Severity.INFO)


def describe_end(turn: Any) -> str:
    """How a turn without a reply ended, "" where that says nothing. `turn`: an eventlog.TurnRecord."""
    if turn.end is None and not turn.status:
        return "never ended"
    return {"cancelled": CANCELLED, "success": ""}.get(turn.status, f"ended in {turn.status}")


def is_behind(session: Session, count: Any) -> bool:
    """Whether the last error came after the last reply."""
    keys = [(session.note(index).time or 0.0, index) for index in (count.failures[-1], count.answers[-1][-1])]
    return keys[0] > keys[1]
