"""A message, or a text block in it, is empty or holds nothing but white space.

## Why it matters
Anthropic refuses an empty user message and an empty text block anywhere, Bedrock any message without a text to read, Gemini an empty list
of parts. OpenAI's APIs take them. Amplifier loads them all, so the session opens, and its next request fails.

## How it happens
Models return empty text blocks beside tool calls, and clients store them. A prompt sent by mistake, a hook that had nothing to say, or a
turn that was cut off before its first word leave empty messages.

## How it is fixed
With `--unsafe` an empty block is taken out; where nothing would be left, `(empty)` is written in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import EMPTY_CONTENT, Confidence, Finding, Session, Severity, examples, refusals, rewrites, rule, traits

BAD = examples.user("") + examples.reply("Yes?")
GOOD = examples.user("Hi.") + examples.reply("Yes?")
RULES = ("AN-10", "AN-11", "AN-12", "GM-06", "BC-08", "BC-09", "BC-10")


@rule(code="AD208", name="empty-text", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.MINDED_ROWS)
def find_empty_text(session: Session) -> Iterator[Finding]:
    transcript = session.transcript
    for refused in refusals.find_refused(session, RULES):
        index = transcript.message_at(refused.line)
        role = transcript.messages[index].role if index is not None else ""
        is_block = index is not None and not transcript.messages[index].flags & EMPTY_CONTENT
        what = f"a text of this {role} message is empty" if is_block else f"this {role} message is empty"
        yield Finding(
            refused.line,
            f"{what}: {refusals.name_refusing(session, refused)}",
            rewrites.rewrite_line(session, refused.line, f"take the empty text out of row {refused.line + 1}", rewrites.fill_empty_text),
            confidence=Confidence.CONFIRMED if refused.is_sure else Confidence.POSSIBLE,
            wires=refused.answers,
        )
