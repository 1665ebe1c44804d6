"""The conversation starts with the assistant.

## Why it matters
Some providers want a user message first and refuse the request; others accept it.

## How it happens
The first rows were lost, or a host stores a greeting.

## How it is fixed
It is only reported: no message can be made up.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, refusals, rule

BAD = '{"role": "assistant", "content": "hello"}\n{"role": "user", "content": "hi"}'
GOOD = '{"role": "system", "content": "be kind"}\n{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}'


@rule(code="AD406", name="leading-assistant", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_leading_assistant(session: Session) -> Iterator[Finding]:
    stray = -1
    for index, message in session.messages():
        if message.kind in ("system", "failure") or not message.role:
            continue
        if message.kind == "result" and message.role == "tool":
            # It answers nothing that stands before it, so it goes, or moves behind its call.
            stray = message.line if stray < 0 else stray
            continue
        if message.role == "assistant" and stray >= 0:
            if is_call_turn(session, index) and refusals.GEMINI in session.targets and (session.as_request or not session.is_record):
                why = f"the result in row {stray + 1} answers no call before it, and does not count"
                text = f"the first message is the assistant's: {refusals.GEMINI} refuses it"
                yield Finding(message.line, text, why=why, wires=((refusals.GEMINI, refusals.CALL_FIRST),))
        elif message.role == "assistant":
            opening = find_opening_lines(session)
            refused = [one for one in refusals.find_refused(session, ("AN-16", "BC-05", "GM-02")) if one.line in opening and one.is_sure]
            said = f": {refusals.name_refusing(session, refused[0])}" if refused else ""
            at_most = None if refused else Severity.WARNING
            if session.is_record and not session.as_request:
                # Where a platform keeps the log, it says how a conversation was opened, or that an export begins in the middle.
                said, at_most = ": a greeting, or an export that begins in the middle", Severity.INFO
            wires = refused[0].answers if refused else ()
            yield Finding(message.line, f"the first message is the assistant's{said}", at_most=at_most, wires=wires)
        return


def is_call_turn(session: Session, index: int) -> bool:
    """Whether a call is made in the messages of the assistant from here on, up to anybody else's."""
    for message in session.transcript.messages[index:]:
        if message.role != "assistant":
            return False
        if message.calls:
            return True
    return False


def find_opening_lines(session: Session) -> set[int]:
    """The lines before the first user message: a provider that merges neighbours names whichever of them makes a call."""
    lines = set()
    for _, message in session.messages():
        if message.role == "user":
            break
        lines.add(message.line)
    return lines
