"""A user message has no reply.

## Why it matters
Nothing is refused: the model sees the message with the next prompt. But the user may wait for an answer that will not come.

## How it happens
The execution failed, was cancelled or died before it replied, or a reply to another message came in its place. Stores that note which
message a reply answers (OpenCode's `parentID`) prove it.

## How it is fixed
It is only reported: ask again. It is a warning where another message of the same turn was answered instead, else information.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Related, Session, Severity, examples, report_problems, rule

BAD = {
    "transcript.jsonl": examples.user("hi"),
    "events.jsonl": examples.event(0, "execution:start", prompt="hi") + examples.event(1, "orchestrator:complete", "error"),
}
GOOD = examples.user("hi") + examples.reply("hello")


@rule(code="AD402", name="unanswered-user-message", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_unanswered_message(session: Session) -> Iterator[Finding]:
    yield from report_problems(session, "unanswered")
    messages = session.transcript.messages
    log = session.events
    ended = {execution.text_key: execution for execution in log.executions} if log is not None else {}
    last = session.turns[-1:]
    for turn in session.turns if ended else last:
        is_last = turn is last[0]
        if session.liveness.is_live and is_last:
            continue
        for index in turn.prompts:
            line = messages[index].line
            execution = ended.get(messages[index].text_key)
            if execution is not None and execution.status not in ("success", "incomplete"):
                answered_instead = bool(turn.replies) and index > turn.prompts[0]
                if turn.replies and not answered_instead:
                    continue
                how = {"": "never ended", "cancelled": "was cancelled"}.get(execution.status, f"ended in {execution.status}")
                text = f"the user message has no reply: its execution {how}"
                related = (Related(line, "unanswered"), Related(execution.start_line, "its execution starts", "events"))
                yield Finding(line, text, None, related, at_most=None if answered_instead else Severity.INFO)
            elif execution is None and is_last and not turn.replies and not turn.calls and index == turn.prompts[-1]:
                yield Finding(line, "the last user message has no reply", confidence=Confidence.POSSIBLE, at_most=Severity.INFO)
