"""A tool result names a call that exists nowhere.

## Why it matters
OpenAI's interfaces refuse the request ("no tool call found"), Anthropic's refuses an unknown `tool_use_id`; some client versions drop
the row without a word.

## How it happens
The row of the call was lost: cut by a compaction, a rewind, a damaged line, or a save by a second writer.

## How it is fixed
Where the event log holds the call, `fix --recover` rebuilds its row in front of the result. Else only with `--unsafe`: the result goes to
the quarantine. By default it stays, since it may be the last trace of real work. A result right behind a call without an id may be that
call's: it is only shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import (
    DAMAGED_LINE,
    Finding,
    Fix,
    Related,
    ResultSite,
    Safety,
    Session,
    Severity,
    examples,
    moves,
    row_number,
    rule,
    short_id,
    traits,
)

BAD = examples.user("hi") + examples.result("z")
GOOD = examples.call("z") + examples.result("z")


@rule(code="AD302", name="orphan-tool-result", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS)
def find_orphan_result(session: Session) -> Iterator[Finding]:
    rebuilt: dict[str, Fix] = {}
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
        is_damaged = session.transcript.messages[site.index].flags & DAMAGED_LINE
        back = rebuild_call(session, site) if why and session.recover and not is_damaged else None
        if back is not None and back.source in rebuilt:
            fix = Fix("the row of its call comes back with another result of it", Safety.MANUAL)
        elif back is not None:
            fix = rebuilt[back.source] = back
        elif nameless := find_nameless_call(session, site):
            title = f"row {line + 1} may answer the call without an id in row {nameless}: give both the same id by hand"
            fix = Fix(title, Safety.MANUAL)
        elif moves.is_movable(session, site):
            delete = (moves.delete_line(line),)
            title = f"take row {line + 1} out, into the quarantine"
            fix = Fix(title, Safety.UNSAFE, delete, (line,), recoverable=bool(why) and not session.recover)
        else:
            fix = Fix(f"take the result out of row {line + 1} by hand, the row holds more", Safety.MANUAL)
        text = f"the result for {short_id(call_id)} answers a call that is nowhere in the transcript"
        yield Finding(line, text, fix, (Related(line, "no such call"),), (call_id,), why=why)


def find_nameless_call(session: Session, site: ResultSite) -> int:
    """The row of a call without an id that the result may answer, since it stands in the run behind it; 0 when there is none.

    Taking such a result out would leave its call open, which Gemini, who only counts, minds at once.
    """
    owner = moves.find_owner(session, site.index)
    is_nameless = owner >= 0 and any(not call.id for call in session.transcript.messages[owner].calls)
    return row_number(session.transcript.messages[owner].line) if is_nameless else 0


def rebuild_call(session: Session, site: ResultSite) -> Fix | None:
    """The row of the call in front of its result. A row that others need as well comes back once; they find it there."""
    from doctor.rulekit import recovery

    found = recovery.plan_call(session, site.result.call_id, site.index, "AD302")
    if not found.edits:
        return None
    title = f"put the row of its call back before row {moves.line_of(session, site) + 1}"
    return Fix(title, Safety.SAFE, found.edits, (), found.source, missing=found.missing)
