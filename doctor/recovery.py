"""Rows that the transcript lost and where they go back: the edits behind `fix --recover`. Pure: asks the session, reads no file itself.

Rows of the client's backup are copied byte for byte. Rows of the event log are built anew in the client's shape and say so in their
metadata. Whole rows are only ever added between turns or between the groups of one turn, never between a call and its results.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from doctor import evidence
from doctor.copying import UNFIT, copy_row, plan_append
from doctor.eventlog import Execution, RecordedStep, RecordedTurn
from doctor.evidence import LostTurn
from doctor.findings import Content, Edit
from doctor.model import Message
from doctor.rebuilding import Builder, Recovery, name_call, name_lines, name_span
from doctor.session import Session

__all__ = ["Recovery", "plan_append", "plan_call", "plan_rows", "plan_transcript", "plan_turn"]

ASIDE = ("reminder", "hook")
MOST_REPLIES_READ = 200


def plan_turn(session: Session, lost: LostTurn, code: str) -> Recovery:
    """Puts a turn back whose prompt the transcript lacks. Where its calls or its reply are there, only the prompt is missing."""
    log, execution = session.events, lost.execution
    if log is None or not lost.is_certain:
        return Recovery(reason="a compaction came later and may have taken the turn out on purpose")
    recorded = session.recorded_turn(execution) or RecordedTurn("", (), ("the event log can't be read again",))
    index, has_rest = _find_place(session, execution, recorded)
    reason = _find_obstacle(session, index) if index >= 0 else "the rows around it stand in another order than the events tell"
    if reason:
        return Recovery(reason=reason)
    line = _line_at(session, index)
    spans = _copy_from_backup(session, lost, only_prompt=has_rest)
    if spans:
        first, last = lost.backup_lines or (0, 0)
        last = first if has_rest else last
        name = os.path.basename(session.backup.path) if session.backup else ""
        return Recovery((Edit(line, line, spans, execution.start_line),), len(spans), name_span(name, first, last))
    if not recorded.prompt:
        return Recovery(reason=recorded.missing[0] if recorded.missing else "its prompt is not recorded", missing=recorded.missing)
    builder = Builder(session, code, line)
    builder.add_prompt(execution, recorded.prompt)
    if not has_rest:
        for step in recorded.steps:
            builder.add_step(step)
    missing = () if has_rest else recorded.missing + builder.missing + _note_open_end(execution, recorded)
    return Recovery((builder.insert_before(line, execution),), len(builder.rows), builder.name_source(), missing)


def plan_rows(session: Session, execution: Execution, prompt: int) -> Recovery:
    """Puts the groups of calls and the reply back that a turn lacks although its prompt is there (message index `prompt`)."""
    recorded = session.recorded_turn(execution)
    if recorded is None:
        return Recovery(reason="the event log can't be read again")
    messages = session.transcript.messages
    stop = _find_turn_end(session, prompt)
    here = {call.id: index for index, message in enumerate(messages) for call in message.calls}
    prompts = {message.text_key: index for index, message in enumerate(messages[prompt + 1 : stop], prompt + 1) if message.text_key}
    places = [_find_step(step, here, prompts) for step in recorded.steps]
    end = stop
    while end - 1 > prompt and messages[end - 1].kind in ("reply", "invented"):
        end -= 1
    has_reply = any(message.kind == "reply" for message in messages[prompt + 1 : stop]) or _holds_reply(session, recorded, stop)
    edits: dict[int, Builder] = {}
    missing = list(recorded.missing)
    reason = ""
    for position, step in enumerate(recorded.steps):
        is_closing = step is _find_closing(recorded)
        present = [call for call in step.calls if call.call_id in here]
        is_there = places[position] >= 0 if step.role == "user" else has_reply or not is_closing
        if present or (not step.calls and is_there):
            missing += [name_call(call) + ": its row is there without it" for call in step.calls if call not in present and present]
            continue
        index = stop if is_closing else next((at for at in places[position + 1 :] if at > prompt), end)
        obstacle = _find_obstacle(session, index)
        if obstacle:
            reason = reason or obstacle
            missing.append(f"{', '.join(name_call(call) for call in step.calls) or 'the reply'}: {obstacle}")
            continue
        line = _line_at(session, index)
        edits.setdefault(line, Builder(session, "AD503", line)).add_step(step)
    builders = {line: builder for line, builder in edits.items() if builder.rows}
    if not builders:
        return Recovery(missing=tuple(missing), reason=reason or (missing[0] if missing else "the event log does not hold it"))
    missing += [text for builder in edits.values() for text in builder.missing]
    sources = [line for builder in builders.values() for line in builder.sources]
    return Recovery(
        tuple(builder.insert_before(line, execution) for line, builder in builders.items()),
        sum(len(builder.rows) for builder in builders.values()),
        name_lines(session, sources),
        tuple(dict.fromkeys(missing)),
        ids=frozenset(call_id for builder in builders.values() for call_id in builder.ids),
    )


def plan_call(session: Session, call_id: str, index: int, code: str) -> Recovery:
    """Puts the assistant row back whose result stands at message `index` without it."""
    log = session.events
    run = log.runs.get(call_id) if log is not None else None
    execution = next((one for one in log.executions if run is not None and one.start_line == run.execution), None) if log else None
    recorded = session.recorded_turn(execution) if execution is not None else None
    step = next((step for step in recorded.steps if any(call.call_id == call_id for call in step.calls)), None) if recorded else None
    if step is None:
        return Recovery(reason="the event log does not hold its call")
    if evidence.collect_call_ids(session) & {call.call_id for call in step.calls}:
        return Recovery(reason="other calls of the same row are there")
    line = session.transcript.messages[index].line
    builder = Builder(session, code, line)
    builder.add_call_row(step)
    if not any(call.call_id == call_id and call.arguments is not None for call in step.calls):
        return Recovery(reason="the arguments of its call are not in the event log, or redacted", missing=builder.missing)
    return Recovery((Edit(line, line, tuple(builder.rows)),), 1, builder.name_source(), builder.missing)


def plan_transcript(session: Session, code: str) -> Recovery:
    """Builds a whole transcript from the event log, execution by execution, in the order in which they began."""
    builder = Builder(session, code, 0)
    missing: list[str] = []
    for execution in session.events.executions if session.events is not None else ():
        recorded = session.recorded_turn(execution)
        if recorded is None or not recorded.prompt:
            why = recorded.missing[0] if recorded is not None and recorded.missing else "its prompt is not recorded"
            missing.append(f"the turn {evidence.describe_execution(execution)}: {why}" if execution.text_key else f"a turn: {why}")
            continue
        builder.add_prompt(execution, recorded.prompt)
        for step in recorded.steps:
            builder.add_step(step)
        missing += [*recorded.missing, *_note_open_end(execution, recorded)]
    if not builder.rows:
        return Recovery(reason=missing[0] if missing else "the event log holds no turn", missing=tuple(missing))
    edit = Edit(0, session.transcript.line_count, tuple(builder.rows))
    return Recovery((edit,), len(builder.rows), builder.name_source(), tuple(dict.fromkeys(missing)) + builder.missing)


def _find_place(session: Session, execution: Execution, recorded: RecordedTurn) -> tuple[int, bool]:
    """(message index before which a lost turn goes, whether only its prompt is missing); -1 where the order can't be told."""
    log, messages = session.events, session.transcript.messages
    own = {run.call_id for run in log.runs.values() if run.execution == execution.start_line} if log is not None else set()
    first = next((index for index, message in enumerate(messages) if any(call.id in own for call in message.calls)), -1)
    if first >= 0:
        return _step_back(messages, first), True
    lacking = evidence.find_lacking(session)
    here = evidence.locate_prompts(session, lacking)
    before = max((start for start in here if start < execution.start_line), default=-1)
    after = min((start for start in here if start > execution.start_line), default=-1)
    low, high = here.get(before, -1), here.get(after, len(messages))
    if low >= high:
        return -1, False
    reply = _find_reply(session, recorded, low, high)
    if reply > low + 1:
        return _step_back(messages, reply), True
    return high, False


def _find_reply(session: Session, recorded: RecordedTurn, low: int, high: int) -> int:
    """Index of the row between two prompts that is the recorded reply, though another reply stands before it; -1 if there is none."""
    closing = _find_closing(recorded)
    texts = closing.texts if closing is not None else ()
    replies = [index for index in range(low + 1, high) if session.transcript.messages[index].kind == "reply"]
    if not texts or len(replies) < 2:
        return -1
    wanted = "\n".join(texts)
    for index in reversed(replies[1:][:MOST_REPLIES_READ]):
        if evidence.join_text(session.transcript, session.transcript.messages[index]) == wanted:
            return index
    return -1


def _holds_reply(session: Session, recorded: RecordedTurn, start: int) -> bool:
    """Whether the recorded reply stands further down, as it does when two executions ran at once."""
    closing = _find_closing(recorded)
    texts = closing.texts if closing is not None else ()
    later = [message for message in session.transcript.messages[start:] if message.kind == "reply"]
    return bool(texts) and any(evidence.join_text(session.transcript, message) == "\n".join(texts) for message in later[:MOST_REPLIES_READ])


def _find_step(step: RecordedStep, calls: Mapping[str, int], prompts: Mapping[int, int]) -> int:
    """Message index of a step's row, -1 where the transcript lacks it, or where nothing tells a text of the assistant from another."""
    if step.role == "user":
        return prompts.get(hash("\n".join(step.texts)), -1)
    return next((calls[call.call_id] for call in step.calls if call.call_id in calls), -1)


def _find_closing(recorded: RecordedTurn) -> RecordedStep | None:
    """The reply that a turn ends with."""
    last = recorded.steps[-1] if recorded.steps else None
    return last if last is not None and not last.calls and last.role == "assistant" else None


def _find_turn_end(session: Session, prompt: int) -> int:
    """Index of the next prompt; texts that were steered in while a tool ran begin no turn."""
    messages = session.transcript.messages
    indexes = range(prompt + 1, len(messages))
    return next((index for index in indexes if evidence.begins_turn(messages[index], session.events)), len(messages))


def _step_back(messages: Sequence[Message], index: int) -> int:
    """Before the reminders that the client puts between a prompt and what follows it."""
    while index > 0 and messages[index - 1].kind in ASIDE:
        index -= 1
    return index


def _find_obstacle(session: Session, index: int) -> str:
    """Why nothing can be put before message `index`: it would stand between a call and its results."""
    messages = session.transcript.messages
    if index < len(messages) and messages[index].results:
        return "its place is inside a group of calls and results"
    answered: set[str] = set()
    at = index - 1
    while at >= 0 and messages[at].results:
        answered.update(result.call_id for result in messages[at].results)
        at -= 1
    if at >= 0 and {call.id for call in messages[at].calls} - answered:
        return f"its place is behind calls without results (row {messages[at].line + 1})"
    return ""


def _line_at(session: Session, index: int) -> int:
    messages = session.transcript.messages
    return messages[index].line if index < len(messages) else session.transcript.line_count


def _copy_from_backup(session: Session, lost: LostTurn, only_prompt: bool) -> tuple[Content, ...]:
    """The turn's rows in the client's backup; nothing where one of them is damaged, or is about another turn's calls."""
    backup, log = session.backup, session.events
    if backup is None or log is None or lost.backup_lines is None:
        return ()
    first, last = lost.backup_lines
    rows = [message for message in backup.transcript.messages if first <= message.line <= (first if only_prompt else last)]
    known = evidence.collect_call_ids(session)
    start = lost.execution.start_line
    for message in rows:
        foreign = [call for call in message.calls if call.id in known or (call.id in log.runs and log.runs[call.id].execution != start)]
        if foreign or message.flags & UNFIT:
            return ()
    ids = {call.id for message in rows for call in message.calls}
    if any(result.call_id not in ids for message in rows for result in message.results):
        return ()
    return tuple(copy_row(backup, message.line) for message in rows)


def _note_open_end(execution: Execution, recorded: RecordedTurn) -> tuple[str, ...]:
    """What is said about a turn whose reply the log lacks."""
    has_reply = _find_closing(recorded) is not None
    if has_reply or execution.status not in ("success", "incomplete") or any("reply" in text for text in recorded.missing):
        return ()
    return ("the reply is not in the event log",)
