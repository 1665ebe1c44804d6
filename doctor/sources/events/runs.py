"""Pairs the start of each tool call with its end, and lists the runs of calls that have an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.eventlog import ToolRun, UnnamedRun
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
        if first is not None and first.call_id:
            runs[first.call_id] = _describe(pair, first, callers, first.call_id not in runs)
    return runs


def list_unnamed_runs(pairs: Sequence[ToolPair], callers: Mapping[int, Trace]) -> tuple[UnnamedRun, ...]:
    """The runs without an id, in order. Where two runs of one tool went on at the same time nobody knows whose result came first: neither
    is listed."""
    mixed: set[int] = set()
    newest: dict[str, ToolPair] = {}
    unnamed = [pair for pair in pairs if pair.pre is not None and not pair.pre.call_id]
    for pair in unnamed:
        before = newest.get(pair.pre.tool)
        if before is not None and before.end is not None and before.end.line > pair.pre.line:
            mixed |= {before.pre.line, pair.pre.line}
        if before is None or before.end is None or pair.end is None or pair.end.line > before.end.line:
            newest[pair.pre.tool] = pair
    return tuple(
        UnnamedRun(pair.pre.tool, pair.pre.text_key, _describe(pair, pair.pre, callers, True))
        for pair in unnamed
        if pair.pre.line not in mixed
    )


def _describe(pair: ToolPair, first: Event, callers: Mapping[int, Trace], is_alone: bool) -> ToolRun:
    end = pair.end
    caller = callers.get(first.line)
    # By position: a log holds thousands, and names cost more than all the rest here.
    return ToolRun(
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
        end.offset if end and is_alone else -1,
        end.length if end and is_alone else 0,
    )
