"""How the drawings of a time line say things: lines of the log, times, outcomes, counts."""

from __future__ import annotations

from doctor.output.text import count_of, join_counts
from doctor.output.timeline import Bar, Timeline
from doctor.output.timeline_axis import clock_of, duration_between


def describe_times(bar: Bar) -> str:
    """`12:18:01.238 – 12:18:07.842 (6.6 s)`, in UTC; what the log did not record is left out."""
    if bar.kind == "repair" and bar.start_line < 0:
        clock = clock_of(bar.last_time)
        return f"not later than {clock}" if clock else ""
    begin, end = clock_of(bar.start_time), clock_of(bar.end_time)
    if bar.start_line == bar.end_line or not (begin and end):
        return begin or end
    length = duration_between(bar.start_time, bar.end_time)
    return f"{begin} – {end}" + (f" ({length})" if length else "")


def describe_lines(bar: Bar) -> str:
    """`17-48` of the event log, counted from 1; `17-` where the log has no end."""
    if bar.start_line < 0 and bar.end_line < 0:
        return f"<{bar.first + 1}" if bar.kind == "repair" else ""
    if bar.start_line == bar.end_line:
        return str(bar.start_line + 1)
    first = str(bar.start_line + 1) if bar.start_line >= 0 else ""
    return f"{first}-{bar.end_line + 1 if bar.end_line >= 0 else ''}"


def describe_state(bar: Bar) -> str:
    """How it ended, in words; "" where nothing went wrong."""
    if bar.kind == "error" or bar.state in ("", "success"):
        return ""
    if bar.kind == "execution":
        words = {"open": "no end written", "error": "ended in error", "incomplete": "ended incomplete"}
        return words.get(bar.state, bar.state)
    if bar.kind == "request":
        return "refused" if bar.state == "error" else "no answer in the log"
    return "failed" if bar.state == "error" else "no end in the log"


def count_bars(timeline: Timeline) -> str:
    """`3 executions, 5 requests, 3 tool calls, 1 repair, 1 provider error`"""
    names = (("execution", "execution"), ("request", "request"), ("tool", "tool call"), ("repair", "repair"), ("error", "provider error"))
    counts = [(sum(1 for bar in timeline.bars if bar.kind == kind), name) for kind, name in names]
    return join_counts(counts, "no execution") + f" · {count_of(timeline.event_lines, 'event')}"
