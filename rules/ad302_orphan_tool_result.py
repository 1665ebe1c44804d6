"""A tool result names a call that exists nowhere.

## Why it matters
OpenAI's interfaces refuse the request ("no tool call found"), Anthropic's refuses an unknown `tool_use_id`; some client versions drop
the row without a word.

## How it happens
The row of the call was lost: cut by a compaction, a rewind, a damaged line, or a save by a second writer.

## How it is fixed
Only with `--unsafe`: the result goes to the quarantine. By default it stays, since it may be the last trace of real work.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Fix, Related, Safety, Session, Severity, examples, moves, row_number, rule, short_id

BAD = examples.user("hi") + examples.result("z")
GOOD = examples.call("z") + examples.result("z")


@rule(code="AD302", name="orphan-tool-result", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_orphan_result(session: Session) -> Iterator[Finding]:
    for site in session.pairing.orphans:
        call_id = site.result.call_id
        if not call_id:
            continue
        line = moves.line_of(session, site)
        run = session.events.runs.get(call_id) if session.events is not None else None
        why = (
            f"its call is in the event log (line {row_number(run.pre_line)}), its row was lost"
            if run is not None and run.pre_line >= 0
            else ""
        )
        if moves.is_movable(session, site):
            fix = Fix(f"take row {line + 1} out, into the quarantine", Safety.UNSAFE, (moves.delete_line(line),), (line,))
        else:
            fix = Fix(f"take the result out of row {line + 1} by hand, the row holds more", Safety.MANUAL)
        text = f"the result for {short_id(call_id)} answers a call that is nowhere in the transcript"
        yield Finding(line, text, fix, (Related(line, "no such call"),), (call_id,), why=why)
