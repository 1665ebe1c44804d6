"""The time line of a session as plain data: executions, requests, tool runs, repairs and errors as bars over the event log's lines.

Drawing it is left to `timeline_text` and `timeline_html`. File order decides what comes first; times only place bars (`timeline_axis`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from doctor.eventlog import EventLog, Execution, Moment, Overlap, Request, ToolRun
from doctor.findings import Diagnostic
from doctor.model import Message
from doctor.output.text import join_counts
from doctor.output.timeline_rows import RowFinder, find_ids
from doctor.records import Record
from doctor.rulekit import evidence, short_id
from doctor.session import Session

KINDS = ("repair", "execution", "request", "tool", "error", "moment", "group")
"""Kinds of bars; of several on one line, the first comes first. `group` stands for several bars."""
TROUBLED = ("error", "open", "abandoned", "cancelled", "incomplete")
MAKERS = {"fork": "a fork", "cancel": "a cancellation", "provider": "the provider layer", "doctor": "amplifier-doctor"}
MOMENTS = {
    "provider:tool_sequence_repaired": ("repair", "the provider layer mended the request"),
    "provider:error": ("error", "provider error"),
    "session:resume": ("moment", "session resumed"),
    "session:fork": ("moment", "session forked or started as a child"),
    "session:end": ("moment", "session ended"),
    "cancel:requested": ("moment", "cancellation requested"),
    "cancel:completed": ("moment", "cancelled"),
    "context:compaction": ("moment", "context compacted"),
    "context:post_compact": ("moment", "context compacted"),
}


class Bar(Record):
    """One bar. Lines are 0-based lines of the event log, rows 0-based lines of the transcript.

    `start_line`, `end_line` and their times are what the log recorded, -1 and "" where it did not. The bar is drawn from `first` to
    `last`, with `last_time` the time of `last`. `state`: success, error, cancelled, incomplete, open, abandoned, or "" where there is
    nothing to say. `findings` are indexes into Timeline.findings. `contents`: of a group, how many bars of each kind it stands for.
    """

    kind: str
    label: str
    state: str
    start_line: int
    end_line: int
    start_time: str
    end_time: str
    first: int
    last: int
    last_time: str
    execution: int = -1
    call_id: str = ""
    text: str = ""
    rows: tuple[int, ...] = ()
    findings: tuple[int, ...] = ()
    contents: tuple[tuple[str, int], ...] = ()

    @property
    def is_notable(self) -> bool:
        return bool(self.findings) or self.state in TROUBLED or self.kind in ("error", "repair")


class Span(Record):
    """Two executions at the same time. `older` and `newer` are their start lines; `last` is the line where the first of them ends."""

    first: int
    last: int
    older: int
    newer: int
    confidence: str
    proof: str
    proof_lines: tuple[int, ...]


class Timeline(Record):
    """All bars in the order of the event log, the spans where executions overlap, and what the rules found."""

    session_id: str
    path: str
    events_path: str
    event_lines: int
    rows: int
    bars: tuple[Bar, ...]
    spans: tuple[Span, ...]
    findings: tuple[Diagnostic, ...]


def build_timeline(session: Session, log: EventLog, findings: Sequence[Diagnostic], with_texts: bool = True) -> Timeline:
    """`findings` are those of this session; without `with_texts` no prompt and no error text is taken over."""
    finder = RowFinder(session, log)
    bars = _list_executions(log, finder) + _list_requests(log, finder) + _list_tools(log, finder)
    bars += _list_moments(log, finder) + _list_repairs(session, finder)
    bars.sort(key=lambda bar: (bar.first, KINDS.index(bar.kind)))
    bars = _mark_findings(bars, findings, log)
    if not with_texts:
        bars = [_hide_text(bar) for bar in bars]
    spans = tuple(map(_measure_overlap, log.overlaps))
    rows = session.transcript.line_count
    return Timeline(session.session_id, session.transcript.path, log.path, log.line_count, rows, tuple(bars), spans, tuple(findings))


def _list_executions(log: EventLog, finder: RowFinder) -> list[Bar]:
    abandoned = {execution.start_line for execution in log.abandoned}
    bars = []
    for execution in log.executions:
        is_open = execution.end_line < 0
        state = "abandoned" if execution.start_line in abandoned else "open" if is_open else execution.status or "success"
        label = evidence.cut_words(execution.prompt) or "a prompt that the log lacks"
        bars.append(
            Bar(
                "execution", label, state, execution.start_line, execution.end_line, execution.start_time, execution.end_time,
                execution.start_line, *_find_last(execution), execution.start_line, rows=finder.rows_of_execution(execution.start_line),
            )
        )  # fmt: skip
    return bars


def _find_last(execution: Execution) -> tuple[int, str]:
    if execution.end_line >= execution.start_line:
        return execution.end_line, execution.end_time
    if execution.last_line >= execution.start_line:
        return execution.last_line, execution.last_time
    return execution.start_line, execution.start_time


def _list_requests(log: EventLog, finder: RowFinder) -> list[Bar]:
    bars = []
    executions = {execution.start_line: execution for execution in log.executions}
    numbers: dict[int, int] = {}
    nexts = _find_next_own_lines(log)
    for request in log.requests:
        number = numbers[request.execution] = numbers.get(request.execution, 0) + 1
        end_line, end_time, last, last_time = request.end_line, request.end_time, request.end_line, request.end_time
        state = "error" if request.error_line >= 0 else "success"
        if end_line < 0:
            # Without an answer in the log, the next sign of life of its execution is the latest that it can have come.
            last, last_time = nexts.get(request.line, (-1, ""))
            state = "" if last >= 0 else "open"
            if last < 0:
                last, last_time = _clip(executions.get(request.execution), request)
        rows = finder.rows_of_request(request)
        bars.append(
            Bar(
                "request", f"request {number}", state, request.line, end_line, request.time, end_time, request.line, last, last_time,
                request.execution, text=request.error, rows=rows,
            )
        )  # fmt: skip
    return bars


def _clip(execution: Execution | None, event: Request | ToolRun) -> tuple[int, str]:
    """Where a bar without an end stops: with the last that is known of its execution."""
    line, time = (event.line, event.time) if isinstance(event, Request) else (event.pre_line, event.pre_time)
    last, last_time = _find_last(execution) if execution is not None else (line, time)
    return (last, last_time) if last > line else (line, time)


def _find_next_own_lines(log: EventLog) -> dict[int, tuple[int, str]]:
    """For each request, the first later start of a tool run or request of the same execution: (line, time)."""
    signs: dict[int, list[tuple[int, str]]] = {}
    for request in log.requests:
        signs.setdefault(request.execution, []).append((request.line, request.time))
    requests = {line for own in signs.values() for line, _ in own}
    for run in log.runs.values():
        if run.pre_line >= 0:
            signs.setdefault(run.execution, []).append((run.pre_line, run.pre_time))
    found = {}
    for own in signs.values():
        own.sort()
        found.update({line: after for (line, _), after in pairwise(own) if line in requests})
    return found


def _list_tools(log: EventLog, finder: RowFinder) -> list[Bar]:
    executions = {execution.start_line: execution for execution in log.executions}
    bars = []
    for run in log.runs.values():
        first, first_time = (run.pre_line, run.pre_time) if run.pre_line >= 0 else (run.end_line, run.end_time)
        last, last_time = (run.end_line, run.end_time) if run.end_line >= first else _clip(executions.get(run.execution), run)
        state = "error" if run.end_event == "tool:error" else "success" if run.end_event else "open"
        label = f"{run.name or 'a tool'} {short_id(run.call_id)}"
        rows = finder.rows_of_call(run.call_id)
        bars.append(
            Bar(
                "tool", label, state, run.pre_line, run.end_line, first_time if run.pre_line >= 0 else "", run.end_time, first, last,
                last_time, run.execution, run.call_id, rows=rows,
            )
        )  # fmt: skip
    return bars


def _list_moments(log: EventLog, finder: RowFinder) -> list[Bar]:
    return [_build_moment(moment, finder.rows_of_text(moment.text)) for moment in log.moments if moment.kind in MOMENTS]


def _build_moment(moment: Moment, rows: tuple[int, ...]) -> Bar:
    kind, label = MOMENTS[moment.kind]
    state = "error" if kind == "error" else ""
    at = (moment.line, moment.line, moment.time, moment.time)
    return Bar(kind, label, state, *at, moment.line, moment.line, moment.time, moment.execution, text=moment.text, rows=rows)


def _list_repairs(session: Session, finder: RowFinder) -> list[Bar]:
    """Rows that no tool and no model wrote. The log does not know when: the next turn's start is the latest that it can have been."""
    messages = session.transcript.messages
    groups: list[list[int]] = []
    for index in session.transcript.unusual:
        message = messages[index]
        if message.kind == "invented" or any(result.maker for result in message.results):
            if groups and index == groups[-1][-1] + 1:
                groups[-1].append(index)
            else:
                groups.append([index])
    return [_build_repair([messages[index] for index in group], *finder.place_repair(group)) for group in groups]


def _build_repair(messages: Sequence[Message], line: int, time: str) -> Bar:
    makers = {MAKERS.get(result.maker, "a repair") for message in messages for result in message.results if result.maker}
    results = sum(1 for message in messages for result in message.results if result.maker)
    replies = sum(1 for message in messages if message.kind == "invented")
    rows = tuple(message.line for message in messages)
    what = join_counts([(results, "placeholder"), (replies, "closing row")])
    span = f"row {rows[0] + 1}" if len(rows) == 1 else f"rows {rows[0] + 1}-{rows[-1] + 1}"
    label = f"{' and '.join(sorted(makers)) or 'a repair'} wrote {span}"
    return Bar("repair", label, "", -1, -1, "", "", line, line, time, text=what, rows=rows)


def _measure_overlap(overlap: Overlap) -> Span:
    older, newer = overlap.older, overlap.newer
    last = max(newer.start_line, min(_find_last(older)[0], _find_last(newer)[0]))
    return Span(newer.start_line, last, older.start_line, newer.start_line, overlap.confidence, overlap.proof, overlap.proof_lines)


def _find_place(log: EventLog, line: int) -> int:
    return log.rows[line] if log.rows and line >= 0 else line


def _hide_text(bar: Bar) -> Bar:
    if bar.kind == "execution":
        return bar._replace(label="execution")
    return bar if bar.kind == "repair" else bar._replace(text="")


def _mark_findings(bars: list[Bar], findings: Sequence[Diagnostic], log: EventLog) -> list[Bar]:
    """Each bar with the findings that name its event lines, its call or, for a repair, its rows. Where the transcript itself bears the
    moments, findings name its rows: what began or ended in one of them is marked, and calls by their ids alone, for they share a row."""
    by_line: dict[int, set[int]] = {}
    by_call: dict[str, set[int]] = {}
    by_row: dict[int, set[int]] = {}
    for number, found in enumerate(findings):
        for call_id in found.ids:
            by_call.setdefault(call_id, set()).add(number)
        for row in found.related:
            if row.path == log.path:
                by_line.setdefault(row.line - 1, set()).add(number)
            elif row.primary:
                by_row.setdefault(row.line - 1, set()).add(number)
        if found.line:
            (by_line if found.path == log.path else by_row).setdefault(found.line - 1, set()).add(number)
        for interval in found.intervals:
            by_line.setdefault(interval.start_line, set()).add(number)
    marked = []
    for bar in bars:
        ids = [bar.call_id] if bar.call_id else find_ids(bar.text)
        numbers = {number for call_id in ids for number in by_call.get(call_id, ())}
        if bar.kind in ("execution", "request", "error") or (bar.kind == "tool" and not log.rows):
            for line in {_find_place(log, bar.start_line), _find_place(log, bar.end_line)}:
                numbers |= by_line.get(line, set())
        if bar.kind == "repair":
            numbers |= {number for row in bar.rows for number in (by_line if log.rows else by_row).get(row, ())}
        marked.append(bar._replace(findings=tuple(sorted(numbers))) if numbers else bar)
    return marked
