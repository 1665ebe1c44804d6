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
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Edit, Finding, Fix, LineOf, Related, Safety, Session, Severity, examples, moves, refusals, rule

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
    messages = session.transcript.messages
    if not messages or messages[-1].role != "assistant" or messages[-1].calls:
        return
    last = messages[-1].line
    for refused in refusals.find_refused(session, ("AN-13", "AN-14", "AN-26", "AN-27")) if session.as_request else ():
        text = f"sent as it is, the request ends with an assistant message: {refusals.name_refusing(session, refused)}"
        confidence = Confidence.CONFIRMED if refused.is_sure else Confidence.POSSIBLE
        yield Finding(refused.line, text, confidence=confidence, wires=refused.answers)
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
