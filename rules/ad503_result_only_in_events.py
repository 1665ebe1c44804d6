"""A tool finished, but only the event log knows its result.

## Why it matters
A call without a result makes every provider refuse the session, and the work that the tool did is not in the conversation.

## How it happens
The client saves a call before it knows the result, and all results of a group together. Whoever kills it in between loses results that
the event log has already. A failed save or a second writer can lose whole rows of a turn.

## How it is fixed
Where the call stands in the transcript, the result is rebuilt from the event log, byte for byte as the client would have written it,
marked, and put behind its call. Where the call's row is missing as well, the calls are only listed; `fix --recover` rebuilds their rows
and the reply. A result that a hook changed before it was stored comes back as the tool gave it: the log does not show the change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.rulekit import (
    CallPair,
    Confidence,
    Execution,
    Finding,
    Fix,
    Related,
    ResultSite,
    Safety,
    Session,
    Severity,
    ToolRun,
    evidence,
    examples,
    moves,
    placeholders,
    read_style,
    rule,
    short_id,
    traits,
    write_row,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_RELATED = 8
OFFER = Fix("put the lost rows back with --recover", Safety.MANUAL, recoverable=True)
TRANSCRIPT = examples.user("hi") + examples.call("a")
PRE = examples.event(0, "execution:start", prompt="hi") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
POST = examples.event(2, "tool:post", tool_name="bash", tool_call_id="a", result="ok")
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": PRE + POST}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": PRE}


@rule(code="AD503", name="result-only-in-events", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.EVENTS)
def find_results(session: Session) -> Iterator[Finding]:
    strays = moves.find_strays(session)
    for pair in session.pairing.pairs:
        if evidence.is_unanswered(session, pair):
            yield from find_lost_result(session, strays, pair)
    yield from find_lost_rows(session)
    yield from find_lost_replies(session)


def find_lost_result(session: Session, strays: Mapping[int, ResultSite], pair: CallPair) -> Iterator[Finding]:
    recorded = session.recorded_result(pair.call.id, pair.call.name)
    if recorded is None or recorded.refusal or session.events is None:
        return
    run = session.events.runs[pair.call.id]
    line = session.transcript.messages[pair.index].line
    name = f"{pair.call.name or 'call'} ({short_id(pair.call.id)})"
    text = f"{name} finished at event {run.end_line + 1}, but the transcript has no result for it"
    related = (Related(line, "the call"), Related(run.end_line, "the result", "events"))
    at_tail = moves.find_answer_line(session, pair.index) >= session.transcript.line_count
    if at_tail and session.liveness.is_live:
        text += " yet: the session is live"
        yield Finding(line, text, None, related, (pair.call.id,), confidence=Confidence.POSSIBLE, at_most=Severity.INFO)
        return
    row = placeholders.build_row(pair.call.id, pair.call.name, "AD503", recorded.content, recorded.source)
    body = write_row(row, read_style(session.transcript, line))
    title = f"put the result recorded in {recorded.source} behind row {line + 1}"
    yield Finding(
        line,
        text,
        moves.wait_for_stray(
            session, strays, pair, Fix(title, Safety.SAFE, (moves.insert_result(session, pair, body),), (), recorded.source)
        ),
        related,
        (pair.call.id,),
    )


def find_lost_rows(session: Session) -> Iterator[Finding]:
    """Calls that the transcript lacks altogether, though it has the prompt that led to them: one finding for each execution."""
    log = session.events
    if log is None or not log.runs or session.rewound:
        return
    ids = evidence.collect_call_ids(session)
    missing: dict[int, list[ToolRun]] = {}
    newest: dict[int, int] = {}
    for run in log.runs.values():
        if run.call_id in ids:
            newest[run.execution] = max(newest.get(run.execution, -1), run.pre_line)
        elif run.end_line >= 0 and run.execution >= 0 and run.end_line > log.compacted_line:
            missing.setdefault(run.execution, []).append(run)
    if not missing:
        return
    unfinished = {(run.execution, run.group) for run in log.runs.values() if run.end_line < 0}
    for execution in log.executions:
        runs = missing.get(execution.start_line, [])
        if execution.end_line < 0 and not session.recover:
            runs = [run for run in runs if (run.execution, run.group) not in unfinished]
        prompt = evidence.find_prompt(session, execution) if runs else None
        if prompt is not None and not (session.liveness.is_live and execution is log.executions[-1]):
            yield from report_lost_rows(session, execution, runs, prompt, newest.get(execution.start_line, -1))


def report_lost_rows(session: Session, execution: Execution, runs: list[ToolRun], prompt: int, newest: int) -> Iterator[Finding]:
    """`prompt`: its message. `newest`: tool:pre of the execution's last call that the transcript has, -1 for none."""
    # A client that is killed leaves a log that is ahead of its last save: that is no damage.
    is_behind = execution.status != "success" and all(run.pre_line > newest for run in runs)
    if not session.recover:
        yield describe_lost_rows(session, execution, runs, prompt, is_behind, OFFER)
        return
    from doctor.rulekit import recovery

    found = recovery.plan_rows(session, execution, prompt)
    back = [run for run in runs if run.call_id in found.ids]
    rest = [run for run in runs if run.call_id not in found.ids]
    if found.edits and not back:
        yield describe_lost_reply(session, execution, prompt, build_fix(found, execution))
    elif found.edits:
        yield describe_lost_rows(session, execution, back, prompt, is_behind, build_fix(found, execution))
    if rest:
        why = Fix(f"can't be put back: {found.reason or '; '.join(found.missing)}", Safety.MANUAL, missing=found.missing)
        yield describe_lost_rows(session, execution, rest, prompt, is_behind, why)


def describe_lost_rows(session: Session, execution: Execution, runs: list[ToolRun], prompt: int, is_behind: bool, fix: Fix) -> Finding:
    line = session.transcript.messages[prompt].line
    names = ", ".join(dict.fromkeys(run.name or "a tool" for run in runs))
    calls = f"{len(runs)} finished tool calls ({names})" if len(runs) != 1 else f"a finished tool call ({names})"
    text = f"{calls} of {evidence.describe_execution(execution)} can't be found in the transcript, only in the event log"
    if is_behind:
        text += f": {'they' if len(runs) != 1 else 'it'} came after the last save"
    related = (Related(line, "the prompt"), *(Related(run.end_line, f"result of {run.name}", "events") for run in runs[:MOST_RELATED]))
    ids = tuple(run.call_id for run in runs)
    return Finding(line, text, fix, related, ids, at_most=Severity.INFO if is_behind else None)


def find_lost_replies(session: Session) -> Iterator[Finding]:
    """Turns that ended well, whose reply only the log has: the client was killed before its last save."""
    log = session.events
    if log is None or session.rewound or session.liveness.is_live:
        return
    keys = find_bare_prompts(session, log.steered)
    if not keys:
        return
    ids = evidence.collect_call_ids(session)
    behind = {run.execution for run in log.runs.values() if run.end_line >= 0 and run.call_id not in ids}
    for execution in log.executions:
        index = keys.get(execution.text_key) if execution.text_key and execution.response and execution.status == "success" else None
        if index is None or execution.start_line in behind or execution.start_line < log.compacted_line:
            continue
        if evidence.find_prompt(session, execution) == index and not evidence.holds_reply(session, index, execution.response):
            yield describe_lost_reply(session, execution, index, offer_reply(session, execution, index))


def find_bare_prompts(session: Session, steered: frozenset[int]) -> dict[int, int]:
    """Message index, by the hash of its text, of each prompt that no reply follows before the next one. Steered texts begin no turn."""
    keys: dict[int, int] = {}
    key, prompt = 0, -1
    for index, message in enumerate(session.transcript.messages):
        if message[2] == "prompt" and message[5] not in steered:
            if key:
                keys[key] = prompt
            key, prompt = message[5], index
        elif message[2] == "reply":
            key = 0
    return {**keys, key: prompt} if key else keys


def describe_lost_reply(session: Session, execution: Execution, prompt: int, fix: Fix) -> Finding:
    line = session.transcript.messages[prompt].line
    text = f"the reply to {evidence.describe_execution(execution)} can't be found in the transcript, only in the event log"
    return Finding(line, text, fix, (Related(line, "the prompt"),), at_most=Severity.INFO)


def offer_reply(session: Session, execution: Execution, prompt: int) -> Fix:
    if not session.recover:
        return OFFER
    from doctor.rulekit import recovery

    found = recovery.plan_rows(session, execution, prompt)
    return build_fix(found, execution) if found.edits else Fix(f"can't be put back: {found.reason}", Safety.MANUAL, missing=found.missing)


def build_fix(found: Any, execution: Execution) -> Fix:
    """The fix of a Recovery that has edits."""
    rows = f"{found.rows} rows" if found.rows > 1 else "the row"
    title = f"put {rows} back that {evidence.quote(execution.prompt)} lost"
    return Fix(title, Safety.SAFE, found.edits, (), found.source, missing=found.missing)
