"""One user message has the same reply twice, or was answered to the end more than once.

## Why it matters
The model reads its own answer twice, and another message may have got none.

## How it happens
Two executions answered from the same history, or a reply was saved again. Where the store notes which message a reply answers
(OpenCode's `parentID`), it is proved by that; otherwise only replies that say the same count.

## How it is fixed
It is only reported: both replies are recorded. Without such links two replies that differ say nothing; a turn may write several.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.rulekit import Finding, Related, Session, Severity, examples, report_problems, rule

USER = examples.user("where is it?")
REPLY = examples.reply("It is in the drawer.")
BAD = USER + REPLY + examples.reply("it is in the  drawer.")
GOOD = USER + REPLY + USER + REPLY


@rule(code="AD403", name="user-message-answered-twice", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_double_reply(session: Session) -> Iterator[Finding]:
    yield from report_problems(session, "answered-twice")
    messages = session.transcript.messages
    for turn in session.turns:
        if len(turn.replies) < 2:
            continue
        seen: dict[str, int] = {}
        for index in turn.replies:
            line = messages[index].line
            text = fold_text(session.transcript.read_row(line))
            if not text or line in session.transcript.repeated_lines:
                continue
            if text in seen:
                related = (Related(seen[text], "the reply"), Related(line, "the same again"))
                yield Finding(
                    line, f"the reply in row {line + 1} says the same as row {seen[text] + 1}, with no user message between", None, related
                )
            seen.setdefault(text, line)


def fold_text(row: Any) -> str:
    """The text of a reply without regard to white space and case."""
    content = row.get("content") if isinstance(row, dict) else None
    if isinstance(content, list):
        content = " ".join(block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))
    return " ".join(content.split()).casefold() if isinstance(content, str) else ""
