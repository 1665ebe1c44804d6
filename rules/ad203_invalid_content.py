"""A row's content or metadata is missing, or of a kind that the client does not know.

## Why it matters
The client's message model refuses the row before any provider is asked, so the session can't be resumed.

## How it happens
The client drops nulls when it saves, so that a message with `content: null` comes back without content; other tools write blocks of
their provider, such as `tool_use`, which Amplifier spells `tool_call`.

## How it is fixed
Missing or null content can be filled with `--unsafe`: with the row's calls where it has some, else with empty text. `tool_use` blocks are
respelled with `--unsafe`. The rest by hand: correct the field that the message
names, or delete the line, and check again.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, rewrites, rule, traits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CALL = '"tool_calls": [{"id": "a", "tool": "bash", "arguments": {}}]}'
BAD = '{"role": "assistant", ' + CALL + '\n{"role": "tool", "name": "bash", "tool_call_id": "a", "content": "ok"}'
GOOD = (
    '{"role": "assistant", "content": [{"type": "tool_call", "id": "a", "name": "bash", "input": {}}], ' + CALL
    + '\n{"role": "tool", "name": "bash", "tool_call_id": "a", "content": ""}'
)  # fmt: skip


@rule(code="AD203", name="invalid-content", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.REFUSED_ROWS)
def find_invalid_content(session: Session) -> Iterator[Finding]:
    for problem in session.transcript.shape_problems:
        if problem.kind in ("content", "metadata"):
            fix = None
            if problem.where in ("", "content"):
                fix = rewrites.rewrite_line(session, problem.line, f"fill the missing content of row {problem.line + 1}", fill_content)
            elif "'tool_use'" in problem.message:
                fix = rewrites.rewrite_line(
                    session, problem.line, f"spell the calls of row {problem.line + 1} as Amplifier does", rewrites.spell_calls
                )
            yield Finding(problem.line, f"{problem.message}: the client can't load this row", fix)
    hidden = session.transcript.shape_problem_count - len(session.transcript.shape_problems)
    if hidden > 0:
        yield Finding(None, f"{hidden} more rows have a shape that the client can't load")


def fill_content(row: dict[str, Any]) -> dict[str, Any] | None:
    if row.get("content") is not None or "role" not in row:
        return None
    if row.get("tool_calls"):
        return rewrites.spell_calls(row)
    head = {"role": row["role"], "content": ""}
    return head | {key: value for key, value in row.items() if key not in head}
