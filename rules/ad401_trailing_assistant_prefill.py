"""The next request would end on an assistant message although a user message waits for its answer.

## Why it matters
Newer models refuse a conversation that ends with the assistant ("does not support assistant message prefill"). At rest a transcript ends
with the assistant and all is well, since the next prompt is appended. It is not well when a user message *before* that reply was never
answered, and the client sends the list as it is to get that answer.

## How it happens
Two executions overlap: user A, user B, then the reply to A; the one for B failed.

## How it is fixed
With `--unsafe` the unanswered user message moves to the end. The reply is never dropped. With `--as-request` a transcript that ends with
the assistant is reported wherever it may go to such a model, since it is judged as the body of a request.

Chat logs: the platform stores a message when it comes and a reply when it is finished, so that user A, user B, reply to A is how two turns
one after the other are stored. Reply links, turn events or the provider's own refusal behind it prove it; the bare shape is a doubt. The
stored order is never rewritten: `fix -o FILE` writes a view for sending in which the unanswered message stands last.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Edit, Finding, Fix, LineOf, Related, Safety, Session, Severity, examples, moves, refusals, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BAD = {
    "transcript.jsonl": examples.user("A") + examples.user("B") + examples.reply("to A"),
    "events.jsonl": examples.event(0, "execution:start", prompt="A")
    + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
    + examples.event(2, "execution:start", prompt="B")
    + examples.event(3, "orchestrator:complete", "error")
    + examples.event(4, "tool:post", tool_name="bash", tool_call_id="a", result={})
    + examples.event(5, "orchestrator:complete", "success"),
}
GOOD = examples.user("A") + examples.reply("to A")


@rule(code="AD401", name="trailing-assistant-prefill", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_trailing_assistant(session: Session) -> Iterator[Finding]:
    if session.is_record:
        yield from find_in_record(session)
        return
    last = find_last(session)
    messages = session.transcript.messages
    if last < 0 or messages[last].role != "assistant" or messages[last].calls:
        return
    if last == len(messages) - 1:
        yield from find_as_request(session, None)
    yield from find_at_rest(session, last)


def find_last(session: Session) -> int:
    """Index of the last message that stands where it belongs: results of older calls behind it don't hide it, since they move."""
    messages = session.transcript.messages
    last = len(messages) - 1
    if last >= 0 and messages[last].role == "tool":
        placed = {site.index for pair in session.pairing.pairs for site in pair.placed}
        while last >= 0 and messages[last].role == "tool" and last not in placed:
            last -= 1
    return last


def find_as_request(session: Session, fix: Fix | None) -> Iterator[Finding]:
    for refused in refusals.find_refused(session, ("AN-13", "AN-14", "AN-26", "AN-27")) if session.as_request else ():
        text = f"sent as it is, the request ends with an assistant message: {refusals.name_refusing(session, refused)}"
        confidence = Confidence.CONFIRMED if refused.is_sure else Confidence.POSSIBLE
        yield Finding(refused.line, text, fix, confidence=confidence, wires=refused.answers)


def find_at_rest(session: Session, index: int) -> Iterator[Finding]:
    messages = session.transcript.messages
    last = messages[index].line
    turn = session.turns[-1] if session.turns else None
    if turn is None or len(turn.prompts) < 2 or len(turn.replies) != 1:
        return
    waiting = find_unanswered(session, turn.prompts)
    if waiting is None:
        text = f"{len(turn.prompts)} user messages stand before the last reply; it may answer only one of them"
        related = tuple(Related(messages[index].line, "user message") for index in turn.prompts)
        yield Finding(last, text, None, related, confidence=Confidence.POSSIBLE, at_most=Severity.INFO)
        return
    line = messages[waiting].line
    edits = (moves.delete_line(line), Edit(last + 1, last + 1, (LineOf(line),)))
    fix = Fix(f"move the unanswered user message (row {line + 1}) to the end", Safety.UNSAFE, edits)
    text = f"the user message in row {line + 1} was never answered: the last reply answers an earlier one"
    yield Finding(line, text, fix, (Related(line, "unanswered"), Related(last, "answers an earlier message")))


def find_unanswered(session: Session, prompts: tuple[int, ...]) -> int | None:
    """The one prompt whose execution failed while the execution of another prompt of this turn succeeded; None when nothing proves that."""
    if session.events is None:
        return None
    status = {execution.text_key: execution.status for execution in session.events.executions}
    keys = {index: status.get(session.transcript.messages[index].text_key) for index in prompts}
    failed = [index for index, state in keys.items() if state is not None and state != "success"]
    answered = [index for index, state in keys.items() if state == "success"]
    # A prompt that failed before another was answered is an ordinary second try, and stands where it belongs.
    return failed[0] if len(failed) == 1 and answered and failed[0] > answered[0] else None


def find_in_record(session: Session) -> Iterator[Finding]:
    from doctor.rulekit import conversations, replies

    found = conversations.list_conversations(session)
    for conversation in found:
        tail = conversations.find_tail(session, conversation)
        waiting: list[int] = []
        is_sure, refusal = False, None
        if tail is not None and replies.wants_reply(session, conversation, tail.prompts[-1]):
            answers = replies.read_answers(session, conversation)
            refusal = find_prefill_error(session, tail.failures)
            waiting = list_waiting(session, conversation, tail, answers)
            is_sure = bool(waiting) or (refusal is not None and len(tail.prompts) > len(tail.replies))
            if not waiting and (is_sure or (not answers.is_linked and len(tail.prompts) > len(tail.replies) + len(tail.failures))):
                waiting = list(tail.prompts[-1:])
        fix = move_last(session, waiting, Safety.SAFE if is_sure else Safety.UNSAFE) if waiting else None
        if session.as_request:
            yield from find_as_request(session, fix) if len(found) == 1 else ()
        elif tail is not None and waiting and not session.liveness.is_live:
            yield describe_waiting(session, waiting, tail.replies[-1], refusal, fix, is_sure)


def list_waiting(session: Session, conversation: Any, tail: Any, answers: Any) -> list[int]:
    """The user messages of the tail that nobody answered although an earlier one was. One that was passed over before another was answered
    stands where it belongs."""
    from doctor.rulekit import replies

    answered = [index for index in tail.prompts if index in answers.links or index in answers.taken_up]
    unanswered = replies.list_unanswered(session, conversation, answers)
    return [index for index in unanswered if index in tail.prompts and answered and index > answered[0]]


def find_prefill_error(session: Session, failures: tuple[int, ...]) -> int | None:
    """The row behind the tail in which the provider refuses a request that ends with the assistant."""
    from doctor.rulekit import evidence

    for index in failures if session.explain_error is not None else ():
        meaning = session.explain_error(evidence.join_text(session.transcript, session.transcript.messages[index]))
        if meaning is not None and "AD401" in meaning.codes:
            return index
    return None


def describe_waiting(session: Session, waiting: list[int], last: int, refusal: int | None, fix: Fix | None, is_sure: bool) -> Finding:
    """`last` and `refusal` are message indexes: the last reply, and the error row in which the provider says it."""
    from doctor.rulekit import conversations

    messages = session.transcript.messages
    rows, reply = conversations.name_rows(session, waiting), conversations.name_row(session, last)
    related = [Related(messages[index].line, "unanswered" if is_sure else "perhaps unanswered") for index in waiting]
    related.append(Related(messages[last].line, "answers an earlier message" if is_sure else "may answer an earlier message only"))
    why = "proof: what the rows and events of this log say about who answers whom"
    if refusal is not None:
        related.append(Related(messages[refusal].line, "the provider's refusal"))
        text = f"a request for the user message in {rows} ended with the assistant and was refused"
        why = f"proof: the provider's words in {conversations.name_row(session, refusal)}"
    elif is_sure:
        one = len(waiting) == 1
        subject = f"the user message{'' if one else 's'} in {rows} {'was' if one else 'were'} never answered"
        text = f"{subject}, and a request sent for {'it' if one else 'them'} would end with the assistant, {reply}"
    else:
        text = f"more user messages than replies at the end: if {rows} still waits, a request for it would end with the assistant, {reply}"
        why = "a hint: rows without links can't tell a message that waits from one that the reply took up"
    confidence = Confidence.CONFIRMED if is_sure else Confidence.POSSIBLE
    return Finding(messages[waiting[0]].line, text, fix, tuple(related), ids_of(session, waiting), confidence=confidence, why=why)


def ids_of(session: Session, indexes: list[int]) -> tuple[str, ...]:
    return tuple(filter(None, (session.note(index).id for index in indexes)))


def move_last(session: Session, waiting: list[int], safety: Safety) -> Fix:
    """The stored rows stay as they are: what is written is a view for sending."""
    lines = [session.transcript.messages[index].line for index in waiting]
    end = session.transcript.line_count
    edits = (*(moves.delete_line(line) for line in lines), Edit(end, end, tuple(LineOf(line) for line in lines)))
    rows = ", ".join(str(line + 1) for line in lines)
    many = f"messages (rows {rows})" if len(lines) > 1 else f"message (row {rows})"
    return Fix(f"in a view of the log (fix -o FILE), move the unanswered user {many} last", safety, edits)
