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

from doctor.rulekit import Finding, Session, Severity, rule

BAD = '{"role": "assistant", "content": "hello"}\n{"role": "user", "content": "hi"}'
GOOD = '{"role": "system", "content": "be kind"}\n{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}'


@rule(code="AD406", name="leading-assistant", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_leading_assistant(session: Session) -> Iterator[Finding]:
    for _, message in session.messages():
        if message.kind == "system":
            continue
        if message.role == "assistant":
            yield Finding(message.line, "the first message is the assistant's")
        return
