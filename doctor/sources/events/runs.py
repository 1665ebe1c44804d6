"""Pairs the start of each tool call with its end, and lists the runs of calls that have an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.eventlog import ToolRun
from doctor.records import Record
from doctor.sources.events.boiling import Event
from doctor.sources.events.traces import Trace


class ToolPair(Record):
    """One run of a tool: its tool:pre and its tool:post or tool:error. Either may be missing, not both."""

    pre: Event | None
    end: Event | None

    @property
    def name(self) -> str:
        return (self.pre or self.end).tool or "a tool"  # type: ignore[union-attr]


def pair_tools(events: Sequence[Event]) -> list[ToolPair]:
    """Pairs by call id; events of old logs without ids by tool name and order within their parallel group.

    A call that is denied, cancelled or killed has no end.
    """
    pairs: list[ToolPair] = []
    place: dict[str, int] = {}
    waiting: dict[str, list[int]] = {}
    for event in events:
        if event.name == "tool:pre":
            if event.call_id:
                place[event.call_id] = len(pairs)
            else:
                waiting.setdefault(event.group, []).append(len(pairs))
            pairs.append(ToolPair(event, None))
        elif event.name == "tool:post" or event.name == "tool:error":
            index = place.get(event.call_id, -1) if event.call_id else _pop_waiting(pairs, waiting.get(event.group, []), event.tool)
            if index < 0:
                # The task tool reports its own errors without an id: those end no call.
                if event.call_id:
                    place[event.call_id] = len(pairs)
                    pairs.append(ToolPair(None, event))
            elif pairs[index].end is None or event.name == "tool:error":
                # An error behind the tool:post means that a hook failed: the client then stores the error as the result.
                pairs[index] = ToolPair(pairs[index].pre, event)
    return pairs


def _pop_waiting(pairs: Sequence[ToolPair], indexes: list[int], tool: str) -> int:
    for position, index in enumerate(indexes):
        pre = pairs[index].pre
        if pre is not None and pre.tool == tool:
            return indexes.pop(position)
    return -1


def list_runs(pairs: Sequence[ToolPair], callers: Mapping[int, Trace]) -> dict[str, ToolRun]:
    """The runs by call id. `callers`: the execution by the line of the run's tool:pre.

    An id that several runs share has no offset: which result belongs to which call can't be known.
    """
    runs: dict[str, ToolRun] = {}
    for pair in pairs:
        first = pair.pre or pair.end
        if first is None or not first.call_id:
            continue
        end = pair.end
        is_shared = first.call_id in runs
        caller = callers.get(first.line)
        # By position: a log holds thousands, and names cost more than all the rest here.
        runs[first.call_id] = ToolRun(
            first.call_id,
            first.tool,
            pair.pre.line if pair.pre else -1,
            pair.pre.time if pair.pre else "",
            end.line if end else -1,
            end.time if end else "",
            end.name if end else "",
            caller.start.line if caller else -1,
            first.group,
            end is not None and end.redacted,
            end.offset if end and not is_shared else -1,
            end.length if end and not is_shared else 0,
        )
    return runs
