"""Decides which executions ran at the same time, which may have, and which were dead when the next one started.

A start while another execution is open proves nothing: crashes, exceptions and cancellations leave no end. Only something that belongs
to the older one and happens after the newer start does.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from doctor.eventlog import Execution, Overlap
from doctor.sources.events.executions import Story
from doctor.sources.events.traces import Sign, Trace, has_line_between

ENDS = ("orchestrator:complete", "execution:end")


def find_overlaps(story: Story) -> tuple[tuple[Overlap, ...], tuple[Execution, ...]]:
    """(overlaps, abandoned executions), in the order of the newer start."""
    overlaps: list[Overlap] = []
    abandoned: list[Execution] = []
    starts = [trace.start.line for trace in story.traces]
    alive: list[Trace] = []
    for newer in story.traces:
        still: list[Trace] = []
        for older in alive:
            if older.end is not None and older.end.line < newer.start.line:
                continue
            proof = _prove(older, newer, starts, story)
            if proof is not None:
                overlaps.append(Overlap(older.describe(), newer.describe(), "confirmed", *proof))
                still.append(older)
            elif not has_line_between(story.deaths, older.last.line, newer.start.line):
                overlaps.append(Overlap(older.describe(), newer.describe(), "possible", *_explain_doubt(older, newer)))
                if older.last.line > newer.start.line:
                    still.append(older)
            elif older.end is None:
                abandoned.append(older.describe())
        alive = [*still, newer]
    return tuple(overlaps), tuple(abandoned)


def list_open(story: Story) -> tuple[Execution, ...]:
    """Executions without an end, apart from those whose last sign is a provider's refusal, and those behind whose last sign a process left
    or came anew. A slow tool gives no sign."""
    left = story.leavings[-1] if story.leavings else -1
    open_traces = [trace for trace in story.traces if trace.end is None and trace.last.line > left]
    return tuple(trace.describe() for trace in open_traces if trace.last.name != "provider:error")


def _prove(older: Trace, newer: Trace, starts: Sequence[int], story: Story) -> tuple[str, tuple[int, ...]] | None:
    start = newer.start.line
    for sign in older.signs:
        if sign.is_sure and sign.line > start > sign.since:
            return _explain(sign, start)
    for kind in ENDS if older.is_told_from_all_but(newer) else ():
        first, second = sorted((older.closes.get(kind, -1), newer.closes.get(kind, -1)))
        if first > start and bisect_left(starts, first) == bisect_left(starts, second) and not _has_rival(older, newer, first, story):
            text = f"two executions ended (events {first + 1} and {second + 1}) with no start between them"
            return text, (first, second)
    return None


def _has_rival(older: Trace, newer: Trace, line: int, story: Story) -> bool:
    """Whether an end may be that of a third execution, open then and not known to be dead: ends don't say whose they are."""
    return any(
        trace is not older
        and trace is not newer
        and trace.start.line < line
        and (trace.end is None or trace.end.line > line)
        and not has_line_between(story.deaths, trace.last.line, newer.start.line)
        for trace in story.traces
    )


def _explain(sign: Sign, start: int) -> tuple[str, tuple[int, ...]]:
    second = f"the second start (event {start + 1})"
    if sign.kind.startswith("tool"):
        verb = "failed" if sign.kind == "tool-error" else "finished"
        text = f"{sign.name} {verb} at event {sign.line + 1}, but its call (event {sign.since + 1}) is older than {second}"
        return text, (sign.since, sign.line)
    if sign.kind == "answer":
        text = f"the provider answered at event {sign.line + 1} a request (event {sign.since + 1}) that is older than {second}"
        return text, (sign.since, sign.line)
    text = f"request {sign.number} of the first execution left at event {sign.line + 1}, after {second}, whose own requests count from 1"
    return text, (sign.line,)


def _explain_doubt(older: Trace, newer: Trace) -> tuple[str, tuple[int, ...]]:
    begun = f"the second execution started (event {newer.start.line + 1}) while the first had no end"
    last = f"event {older.last.line + 1}"
    if older.last.line > newer.start.line:
        text = f"{begun}; what seems to be the last sign of life of the first comes later ({last}), but it may be of another execution"
    else:
        text = f"{begun}, and nothing says that the first was over (its last sign of life is {last}), or that it lived on"
    return text, (older.last.line, newer.start.line)
