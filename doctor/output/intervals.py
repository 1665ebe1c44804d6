"""Draws executions and tool runs as bars over the lines of the event log. Imported only when there is something to draw."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from doctor.findings import Interval
from doctor.output.text import neutralise

SHORTEST_BAR = 6
MOST_BARS = 8


def draw_intervals(intervals: Sequence[Interval], width: int, with_labels: bool = True, unit: str = "events") -> list[Text]:
    """Each interval as a bar between its first and last line, on one scale, with its times and how it ended beneath.

    An interval without an end runs to the right edge and is drawn open. `unit`: what the lines are called.
    """
    shown = sorted(intervals, key=lambda interval: interval.start_line)[:MOST_BARS]
    first = min(interval.start_line for interval in shown)
    last = max(max(interval.start_line, interval.end_line) for interval in shown)
    number_width = len(str(last + 1))
    margin = len(f"  {unit} ") + number_width + 1
    canvas = max(20, width - margin - number_width - 1)
    lines: list[Text] = []
    for interval in shown:
        begin, length = _place_bar(interval, first, last, canvas)
        line = Text(f"  {unit} ", "dim")
        line.append(f"{interval.start_line + 1:>{number_width}} ")
        line.append(" " * begin)
        line.append(_fill_bar(interval, length, with_labels), "cyan")
        line.append(f" {interval.end_line + 1}" if interval.end_line >= 0 else "")
        lines.append(line)
        times = _describe_times(interval)
        lines.append(Text(" " * (margin + max(0, min(begin, canvas - cell_len(times)))) + times, "dim"))
    if len(intervals) > len(shown):
        lines.append(Text(f"         … and {len(intervals) - len(shown)} more", "dim"))
    return lines


def _place_bar(interval: Interval, first: int, last: int, canvas: int) -> tuple[int, int]:
    """Where a bar begins on the canvas, and how many cells it has."""
    scale = (canvas - 1) / max(1, last - first)
    end = last if interval.end_line < 0 else interval.end_line
    begin = min(round((interval.start_line - first) * scale), canvas - SHORTEST_BAR)
    return begin, max(SHORTEST_BAR, round((end - first) * scale) - begin + 1)


def _fill_bar(interval: Interval, length: int, with_label: bool) -> str:
    right = "┤" if interval.end_line >= 0 else "╌"
    inner = length - 2
    label = neutralise(interval.label) if with_label else ""
    if not label or inner < 10:
        return "├" + "─" * inner + right
    most = inner - 6
    if cell_len(label) + 2 > most:
        label = set_cell_size(label, most - 3).rstrip() + "…"
    text = f' "{label}" '
    left = (inner - cell_len(text)) // 2
    return "├" + "─" * left + text + "─" * (inner - cell_len(text) - left) + right


def _describe_times(interval: Interval) -> str:
    """`12:18:01.238 – 12:18:07.842  ended in error`"""
    begin, end = clock_time(interval.start_time), clock_time(interval.end_time)
    times = f"{begin} – {end}" if begin and end else begin or end
    return "  ".join(part for part in (times, neutralise(interval.note)) if part)


def clock_time(stamp: str) -> str:
    """`12:18:01.238` of an ISO time stamp of any precision; the stamp itself when it is none."""
    _, found, clock = stamp.partition("T")
    if not found:
        return neutralise(stamp)
    for mark in "Z+-":
        clock = clock.split(mark, 1)[0]
    seconds, dot, fraction = clock.partition(".")
    return neutralise(f"{seconds}.{fraction[:3].ljust(3, '0')}" if dot else seconds)
