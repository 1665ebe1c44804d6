"""Makes a time line of any length fit: dull bars become groups with a count, and what is left is cut into sections with an axis each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from doctor.output.text import join_counts
from doctor.output.timeline import Bar, Span, Timeline
from doctor.output.timeline_axis import Axis, build_axis
from doctor.records import Record

SECTION_BARS = 30
"""A section ends at the first place behind this many bars where nothing runs."""

NAMES = {
    "execution": "execution", "request": "request", "tool": "tool call", "repair": "repair", "error": "provider error",
    "moment": "other event",
}  # fmt: skip


class Section(Record):
    """A stretch of the time line on one axis. Places on the axis are found by event lines."""

    bars: tuple[Bar, ...]
    spans: tuple[Span, ...]
    axis: Axis


class Layout(Record):
    """What is drawn. `hidden`: bars for which not even a group found room."""

    sections: tuple[Section, ...]
    hidden: int


def lay_out(timeline: Timeline, most_bars: int, section_bars: int = SECTION_BARS) -> Layout:
    """At most `most_bars` bars, in sections. Bars with findings, errors, repairs and overlaps are the last to be grouped."""
    bars, hidden = shorten_bars(timeline, most_bars)
    sections = []
    spans = list(timeline.spans)
    for part in _cut_sections(bars, section_bars):
        first, last = part[0].first, max(bar.last for bar in part)
        # An overlap that is only possible and has no length is a start after a crash: the findings speak of it, there is nothing to mark.
        own = tuple(span for span in spans if first <= span.first <= last and (span.last > span.first or span.confidence == "confirmed"))
        stamps = [(bar.first, bar.start_time or bar.last_time if bar.first == bar.last else bar.start_time) for bar in part]
        stamps += [(bar.last, bar.last_time) for bar in part]
        sections.append(Section(tuple(part), own, build_axis(stamps)))
    return Layout(tuple(sections), hidden)


def _cut_sections(bars: Sequence[Bar], section_bars: int) -> Iterator[list[Bar]]:
    part: list[Bar] = []
    last = -1
    for bar in bars:
        if len(part) >= section_bars and bar.first > last:
            yield part
            part = []
        part.append(bar)
        last = max(last, bar.last)
    if part:
        yield part


def shorten_bars(timeline: Timeline, most_bars: int) -> tuple[list[Bar], int]:
    """(bars, number of bars that are not shown at all)."""
    bars = list(timeline.bars)
    if len(bars) <= most_bars:
        return bars, 0
    loud = {start for span in timeline.spans for start in (span.older, span.newer)} | {bar.execution for bar in bars if bar.is_notable}
    loud.discard(-1)

    def key_of_detail(bar: Bar) -> object:
        """Dull requests and tool runs of one execution go together."""
        return None if bar.is_notable or bar.kind == "execution" else (bar.execution, bar.kind == "moment")

    def key_of_quiet(bar: Bar) -> object:
        """Whole executions in which nothing is notable go together."""
        return None if bar.is_notable or bar.execution in loud else "quiet"

    shorter = bars
    for key_of in (key_of_detail, key_of_quiet):
        size = 2
        while size < 2 * len(bars):
            shorter = _join_runs(bars, size, key_of)
            if len(shorter) <= most_bars:
                return shorter, 0
            size *= 2
        bars = shorter
    half = most_bars // 2
    kept = bars[:half] + bars[len(bars) - (most_bars - half) :]
    return kept, sum(map(_count, bars)) - sum(map(_count, kept))


def _join_runs(bars: Sequence[Bar], size: int, key_of: Callable[[Bar], object]) -> list[Bar]:
    joined: list[Bar] = []
    run: list[Bar] = []
    run_key: object = None
    for bar in bars:
        key = key_of(bar)
        if run and (key != run_key or len(run) >= size):
            joined.append(_build_group(run))
            run = []
        if key is None:
            joined.append(bar)
        else:
            run.append(bar)
            run_key = key
    if run:
        joined.append(_build_group(run))
    return joined


def _build_group(run: Sequence[Bar]) -> Bar:
    if len(run) == 1:
        return run[0]
    counts: dict[str, int] = {}
    for bar in run:
        for kind, number in bar.contents or ((bar.kind, 1),):
            counts[kind] = counts.get(kind, 0) + number
    label = join_counts([(counts[kind], name) for kind, name in NAMES.items() if kind in counts])
    last = max(run, key=lambda bar: bar.last)
    execution = run[0].execution if len({bar.execution for bar in run}) == 1 else -1
    rows = tuple(sorted({row for bar in run for row in bar.rows}))
    return Bar(
        "group", label, "", run[0].first, last.last, run[0].start_time, last.last_time, run[0].first, last.last, last.last_time, execution,
        rows=rows, contents=tuple(counts.items()),
    )  # fmt: skip


def _count(bar: Bar) -> int:
    return sum(number for _, number in bar.contents) or 1
