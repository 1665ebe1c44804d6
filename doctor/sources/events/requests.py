"""The loop's requests to a provider: whose they were, what was open elsewhere when they left, and whether they were refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.eventlog import Request
from doctor.sources.events.boiling import Event
from doctor.sources.events.executions import Story
from doctor.sources.events.runs import ToolPair
from doctor.sources.events.traces import Asked


def list_requests(story: Story, pairs: Sequence[ToolPair]) -> tuple[Request, ...]:
    """All attributed requests, in file order."""
    ends = {pair.pre.line: pair.end for pair in pairs if pair.pre and pair.end}
    asked = [asked for trace in story.traces for asked in trace.asked]
    asked.sort(key=lambda asked: asked.event.line)
    return tuple(_describe(asked, ends) for asked in asked)


def _describe(asked: Asked, ends: Mapping[int, Event]) -> Request:
    open_calls = []
    for pre_line in asked.open_elsewhere:
        end = ends.get(pre_line)
        # A call that never ended was dead already: nobody waited for it.
        if end is not None and end.call_id and end.line > asked.event.line:
            open_calls.append(end.call_id)
    return Request(
        line=asked.event.line,
        time=asked.event.time,
        execution=asked.trace.start.line,
        open_calls=tuple(open_calls),
        error_line=asked.error_line if not asked.is_answered else -1,
        error=asked.error if not asked.is_answered else "",
        repaired_line=asked.repaired_line,
        repaired=asked.repaired,
        end_line=asked.end.line if asked.end else -1,
        end_time=asked.end.time if asked.end else "",
    )
