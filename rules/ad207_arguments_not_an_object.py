"""The arguments of a tool call are stored as text, a list or null instead of an object.

## Why it matters
Anthropic and Bedrock want an object and refuse the request; Amplifier's loader refuses such a content block altogether. OpenAI's APIs take
arguments as text, and most servers that speak its protocol don't look inside.

## How it happens
A converter or another client stored the arguments the way Chat Completions sends them: as JSON in a string.

## How it is fixed
With `--unsafe` the text is parsed into an object, in both spellings of the call. What does not parse is kept under the key `raw`.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Session, Severity, examples, refusals, rewrites, rule, traits

BAD = (
    examples.user("go")
    + '{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "tool": "bash", "arguments": "{\\"command\\": \\"ls\\"}"}]}\n'
    + examples.result("a")
)
GOOD = examples.user("go") + examples.call("a") + examples.result("a")
RULES = ("AN-07", "OC-07", "BC-12", "MM-04", "QW-01")
WORDS = ("tool_use.input", "arguments", "toolUse.input")


@rule(code="AD207", name="arguments-not-an-object", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.MINDED_ROWS)
def find_wrong_arguments(session: Session) -> Iterator[Finding]:
    for refused in refusals.find_refused(session, RULES, WORDS):
        title = f"write the arguments of row {refused.line + 1} as an object"
        yield Finding(
            refused.line,
            f"the arguments of a tool call are no object: {refusals.name_refusing(session, refused)}",
            rewrites.rewrite_line(session, refused.line, title, rewrites.parse_arguments),
            ids=refused.ids,
            confidence=Confidence.CONFIRMED if refused.is_sure else Confidence.POSSIBLE,
            wires=refused.answers,
        )
