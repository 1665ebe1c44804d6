"""The turns of a chat log as an event log: from rows about turns (`turn.start`, `turn.end`), else from the turn ids of its rows.

Turns of one conversation overlap when the second starts before the first ends; a turn without an end was interrupted, and lives no longer
than its last own row. Where only rows carry turn ids, rows of two turns that take turns prove it: T1, T2, T1.
"""

from __future__ import annotations

import orjson

from doctor.errors import DoctorError
from doctor.eventlog import EventLog, EventProblem, Execution, Moment, TurnRecord
from doctor.model import Transcript
from doctor.notes import CONTEXT_KEYS, THREAD_KEYS, TURN_KEYS, read_ids, read_key, read_row_time, write_time
from doctor.sources.formats.chat_overlaps import Span, find_alternations, find_blind, find_overlaps, list_outputs, read_message
from doctor.sources.formats.chat_rows import find_turn_event
from doctor.sources.source import FileSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRIGGER_KEYS = ("trigger", "triggers", "replyTo", "reply_to")
MESSAGE_KEYS = ("messages", "messageIds", "message_ids")
PARENT_KEYS = ("parentTurnId", "parent_turn_id", "parentTurn")
_STATUS = {"ok": "success", "success": "success", "completed": "success", "done": "success", "failed": "error", "error": "error"}
_CANCELLED = ("cancelled", "canceled", "aborted", "interrupted", "superseded")


def read_turns(transcript: Transcript, events_path: str) -> EventLog | None:
    """The event log of a chat log; None where nothing tells of turns, or turn ids show nothing.

    Raises DoctorError: the events file can't be read.
    """
    rows: list[tuple[int, dict[str, Any]]] = transcript.notes.events
    log = EventLog(transcript.path, transcript.source)
    # Every row is a moment.
    log.rows, log.line_count = range(transcript.line_count), transcript.line_count
    if events_path:
        log = EventLog(events_path, FileSource(events_path))
        rows = _read_rows(log)
    if rows:
        _fill(log, transcript, rows)
        return log
    if events_path:
        return log
    log.overlaps = (*find_alternations(transcript), *find_blind(transcript, [], {}))
    executions = {part.start_line: part for found in log.overlaps for part in (found.older, found.newer)}
    log.executions = tuple(executions[line] for line in sorted(executions))
    return log if log.overlaps else None


def _read_rows(log: EventLog) -> list[tuple[int, dict[str, Any]]]:
    """The rows about turns of an events file. Lines that can't be read are noted; rows about other things are passed over."""
    rows = []
    bad = []
    with log.source.open() as stream:
        for line, raw in enumerate(stream):
            log.line_count = line + 1
            try:
                row = orjson.loads(raw) if raw.strip() else None
            except ValueError:
                bad.append(line)
                continue
            if isinstance(row, dict) and find_turn_event(row):
                rows.append((line, row))
    if bad:
        message = f"{len(bad)} line{'s' if len(bad) > 1 else ''} can't be read"
        log.problems = (EventProblem("invalid", bad[0], len(bad), message),)
    if log.line_count and not rows:
        raise DoctorError("usage", f"{log.path} holds no turn.start or turn.end: it is no events file of a chat log", log.path)
    return rows


def _fill(log: EventLog, transcript: Transcript, rows: list[tuple[int, dict[str, Any]]]) -> None:
    ids = index_ids(transcript)
    spans = _list_spans(transcript, rows, ids)
    restarts = sorted(
        (time, line) for line, row in rows if find_turn_event(row) == "process" and (time := read_row_time(row)[0]) is not None
    )
    log.moments = tuple(Moment(line, write_time(time), "process:start") for time, line in restarts)
    described = {span.start_line: _describe(span, transcript, log, ids) for span in spans}
    log.turns = tuple(span.record for span in spans)
    for turn in log.turns:
        log.turns_of_thread.setdefault(turn.thread, []).append(turn)
    log.executions = tuple(described[span.start_line] for span in spans)
    overlaps = [*find_overlaps(spans, described, transcript, [time for time, _ in restarts]), *find_blind(transcript, spans, described)]
    log.overlaps = tuple({(found.older.start_line, found.newer.start_line): found for found in reversed(overlaps)}.values())[::-1]
    overlapping = {part.start_line for found in log.overlaps for part in (found.older, found.newer)}
    log.abandoned = tuple(
        described[span.start_line]
        for span in spans[:-1]
        if span.end_line < 0 and span.record.start is not None and span.start_line not in overlapping
    )
    times = [time for _, row in rows if (time := read_row_time(row)[0]) is not None]
    log.last_time = write_time(max(times)) if times else ""


def _list_spans(transcript: Transcript, rows: list[tuple[int, dict[str, Any]]], ids: dict[str, list[int]]) -> list[Span]:
    """Turns in the order in which they start. A turn id that starts again is a turn of its own."""
    outputs = list_outputs(transcript)
    starts: dict[str, tuple[int, dict[str, Any]]] = {}
    pairs: list[tuple[str, tuple[int, dict[str, Any]] | None, tuple[int, dict[str, Any]] | None]] = []
    for line, row in rows:
        kind, turn = find_turn_event(row), read_key(row, TURN_KEYS) or read_key(row, ("id",))
        if kind == "start":
            if turn in starts:
                pairs.append((turn, starts[turn], None))
            starts[turn] = (line, row)
        elif kind == "end":
            pairs.append((turn, starts.pop(turn, None), (line, row)))
    pairs += [(turn, start, None) for turn, start in starts.items()]
    spans = [_build_span(transcript, outputs, ids, *pair) for pair in pairs]
    return sorted(spans, key=lambda span: (_first_known(span.record.start, span.record.end), span.start_line))


def _first_known(*times: float | None) -> float:
    return next((time for time in times if time is not None), 0.0)


def index_ids(transcript: Transcript) -> dict[str, list[int]]:
    """Message indexes by the id of their row."""
    found: dict[str, list[int]] = {}
    for index, note in enumerate(transcript.notes.rows):
        if note.id:
            found.setdefault(note.id, []).append(index)
    return found


def _build_span(transcript: Transcript, outputs: dict[str, list[int]], ids: dict[str, list[int]], turn: str, start: Any, end: Any) -> Span:
    rows = [row for _, row in (start, end) if row] if start and end else [(start or end)[1]]
    read = {name: next((found for row in rows if (found := read_ids(row, keys))), ()) for name, keys in _LISTS.items()}
    notes = transcript.notes.rows
    own = {*outputs.get(turn, ()), *(index for written in read["messages"] for index in ids.get(written, ()))}
    thread = next((found for row in rows if (found := read_key(row, THREAD_KEYS))), "")
    triggers = [notes[index].thread for trigger in read["triggers"] for index in ids.get(trigger, ())]
    record = TurnRecord(
        turn=turn,
        thread=thread or next(iter(triggers), ""),
        line=(start or end)[0],
        triggers=read["triggers"],
        context=next((found for row in rows if (found := read_key(row, CONTEXT_KEYS))), ""),
        messages=read["messages"],
        status=_read_status(end[1]) if end else "",
        start=read_row_time(start[1])[0] if start else None,
        end=read_row_time(end[1])[0] if end else None,
    )
    parent = next((found for row in rows if (found := read_key(row, PARENT_KEYS))), "")
    return Span(record, record.line, end[0] if end else -1, parent, tuple(sorted(own, key=lambda index: (notes[index].time or 0.0, index))))


_LISTS = {"triggers": TRIGGER_KEYS, "messages": MESSAGE_KEYS}


def _read_status(row: dict[str, Any]) -> str:
    status = row.get("status", row.get("outcome"))
    if not isinstance(status, str):
        kind = str(row.get("type", row.get("event"))).lower()
        status = "error" if row.get("error") or "fail" in kind else "cancelled" if kind.endswith(_CANCELLED) else "success"
    status = status.lower()
    return "cancelled" if status in _CANCELLED else _STATUS.get(status, status)


def _describe(span: Span, transcript: Transcript, log: EventLog, ids: dict[str, list[int]]) -> Execution:
    """A turn as an execution. Its `response` is what it replied, "" where it wrote no reply."""
    record, notes = span.record, transcript.notes.rows
    replies = [index for index in span.outputs if transcript.messages[index].kind == "reply"]
    trigger = next((index for wanted in record.triggers for index in ids.get(wanted, ())), None)
    times = [time for index in span.outputs if (time := notes[index].time) is not None]
    last = max([*times, *(time for time in (record.start, record.end) if time is not None)], default=None)
    own_rows = [transcript.messages[index].line for index in span.outputs] if log.rows else []
    return Execution(
        start_line=span.start_line,
        start_time=write_time(record.start) if record.start is not None else "",
        prompt=read_message(transcript, trigger) or f"turn {record.turn}",
        text_key=transcript.messages[trigger].text_key if trigger is not None else 0,
        end_line=span.end_line,
        end_time=write_time(record.end) if record.end is not None else "",
        status=record.status,
        last_line=max([span.start_line, span.end_line, *own_rows]),
        last_time=write_time(last) if last is not None else "",
        response=read_message(transcript, replies[-1] if replies else None),
    )
