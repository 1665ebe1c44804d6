"""The event log of a session, made of what its store holds: the event table where it covers the messages, else their own times."""

from __future__ import annotations

import re
from collections.abc import Sequence

from doctor.eventlog import EventLog, Overlap, Request
from doctor.sources.formats.opencode.entries import Entry, Tool
from doctor.sources.formats.opencode.overlaps import (
    Part,
    Story,
    Table,
    find_overlaps,
    find_parts,
    find_result,
    find_runs,
    names,
    tabulate,
)
from doctor.sources.formats.opencode.signs import BEGIN, END, FAIL, RAN, RESULT, Sign, StoredEvent, covers, read_events, read_times
from doctor.sources.formats.opencode.values import write_time

LACKING = re.compile("no tool output|without|missing|not found|must be followed|did not have", re.IGNORECASE)
"""Words of all providers for a call without its result."""
KINDS = (BEGIN, RAN, RESULT, END, FAIL)


def build_history(
    path: str, entries: Sequence[Entry], generation: int, born: int, events: Sequence[StoredEvent] = (), events_path: str = ""
) -> EventLog:
    """`path` is the transcript's, `events_path` how the event table of this session is called. Without events, or with some only, the
    lines of the log are moments that messages bear, in the order of time, and `rows` says on which line of the transcript each stands."""
    signs = read_events(events, entries) if events else []
    if events and covers(signs, entries):
        story = Story(entries, signs, generation, False, born)
        log = EventLog(events_path or path, None)
        log.line_count = len(events)
        log.last_time = write_time(max((event.time for event in events), default=0))
    else:
        moments = sorted(read_times(entries), key=lambda sign: (sign.order, sign.index, KINDS.index(sign.kind)))
        story = Story(entries, [sign._replace(line=line) for line, sign in enumerate(moments)], generation, True, born)
        log = EventLog(path, None)
        log.line_count = len(moments)
        log.rows = tuple(sign.line for sign in moments)
        log.last_time = ""
    log.last_time = log.last_time or write_time(max((entry.last_time for entry in entries), default=0))
    _fill(log, story)
    return log


def _fill(log: EventLog, story: Story) -> None:
    table = tabulate(story)
    parts = find_parts(story, table)
    overlaps = find_overlaps(story, table, parts)
    log.executions = tuple(part.execution for part in parts)
    log.overlaps = tuple(overlaps)
    doubted = {found.older.start_line for found in overlaps}
    log.abandoned = tuple(one for one in log.executions[:-1] if one.end_line < 0 and one.start_line not in doubted)
    log.runs = find_runs(story, table, parts)
    log.requests = tuple(_list_requests(story, table, parts, overlaps))
    last = next((entry for entry in reversed(story.entries) if entry.is_assistant and entry.provider), None)
    last = last or next((entry for entry in reversed(story.entries) if entry.provider), None)
    if last is not None:
        log.provider, log.model = last.provider, last.model


def _list_requests(story: Story, table: Table, parts: Sequence[Part], overlaps: Sequence[Overlap]) -> list[Request]:
    """One request for each assistant message."""
    rivals: dict[int, set[int]] = {}
    for found in overlaps:
        if found.confidence == "confirmed":
            rivals.setdefault(found.older.start_line, set()).add(found.newer.start_line)
            rivals.setdefault(found.newer.start_line, set()).add(found.older.start_line)
    members = {part.execution.start_line: part.members for part in parts}
    requests = []
    for part in parts:
        others = [index for line in sorted(rivals.get(part.execution.start_line, ())) for index in members[line]]
        requests += [_build_request(story, table, part, index, others) for index in part.members]
    return sorted(requests, key=lambda request: request.line)


def _build_request(story: Story, table: Table, part: Part, index: int, others: Sequence[int]) -> Request:
    entry, begin = story.entries[index], table.begins[index]
    stop = next((sign for sign in table.lives.get(index, ()) if sign.kind in (END, FAIL)), None)
    failed = bool(entry.error) and not entry.is_aborted
    calls = [(at, tool) for at in others for tool in story.entries[at].tools if not tool.is_hosted and tool.call_id]
    named = [(at, tool) for at, tool in calls if names(entry.refusal, tool)]
    # V1 tells the model that an open call was interrupted; V2 sends the call without a result.
    running = [(at, tool) for at, tool in calls if _is_running(table, at, tool, begin)]
    # A refusal for want of a result that was stored by then proves by itself that an older state was sent, whoever sent it. (V1 can lose
    # a stored result on its way to the provider: AD309.)
    if failed and not named and story.generation == 2 and LACKING.search(entry.refusal):
        named = [(at, tool) for at, tool in _list_answered(story, table, index, begin) if names(entry.refusal, tool)]
    chosen = named if failed else running if story.generation == 1 else []
    return Request(
        line=begin.line,
        time=write_time(entry.created),
        execution=part.execution.start_line,
        open_calls=tuple(dict.fromkeys(tool.call_id for _, tool in chosen)),
        error_line=(stop or begin).line if failed else -1,
        error=entry.refusal if failed else "",
        repaired_line=begin.line if chosen and not failed else -1,
        end_line=stop.line if stop is not None else -1,
        end_time=write_time(entry.completed) if stop is not None else "",
        id=entry.id,
        was_stale=failed and bool(chosen) and not any(_is_running(table, at, tool, begin) for at, tool in chosen),
    )


def _list_answered(story: Story, table: Table, index: int, begin: Sign) -> list[tuple[int, Tool]]:
    """The local calls of other messages whose result was stored before a message began."""
    found = []
    for at in table.begins:
        for tool in story.entries[at].tools if at != index else ():
            result = find_result(table, at, tool) if tool.call_id and not tool.is_hosted else None
            found += [(at, tool)] if result is not None and result.order < begin.order else []
    return found


def _is_running(table: Table, index: int, tool: Tool, begin: Sign) -> bool:
    """Whether a call ran when a message began."""
    ran = table.rans.get((index, tool.call_id))
    result = find_result(table, index, tool)
    return ran is not None and ran.order < begin.order and result is not None and result.order > begin.order
