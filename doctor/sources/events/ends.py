"""Where executions end: by their own events, by a cancellation, by a process that leaves; and which of several open ones it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.sources.events.boiling import Event
from doctor.sources.events.owners import find_closing
from doctor.sources.events.runs import ToolPair
from doctor.sources.events.traces import Asked, Trace, has_line_between

MOST_OPEN = 16
"""Executions that never ended are kept in mind up to this number; older ones died long ago."""


class Ends:
    """What is known of a log up to some event, and how executions end in it."""

    def __init__(self, pairs: Sequence[ToolPair]) -> None:
        self.pair_of_end: Mapping[int, ToolPair] = {pair.end.line: pair for pair in pairs if pair.end}
        self.traces: list[Trace] = []
        self.open: list[Trace] = []
        self.callers: dict[int, Trace] = {}
        self.deaths: list[int] = []
        self.leavings: list[int] = []
        self.cancel_line = -1
        """The last cancel:requested: what it ends had begun before."""
        self.has_started = self.is_old = False
        """Clients before 2026-01-25 wrote a session:start and a session:end for each execution: those say nothing of a process."""
        self.submitted: Event | None = None
        self.groups: dict[str, Trace] = {}
        self.doubtful: set[str | int] = set()
        """Groups, and lines of calls without one, of which it is a guess whose they are."""
        self.waiting: list[Asked] = []
        """Requests of the loop that the provider layer has not sent yet."""
        self.sent: dict[str, Asked] = {}
        self.failing: Asked | None = None
        """The last request that failed, as long as its client did not give it up."""
        self.just_sent: Asked | None = None
        """The request that left, if nothing else happened since."""
        self.half_closed: list[Trace] = []
        """Executions with an execution:end, but no orchestrator:complete so far."""
        self.just_closed: Trace | None = None
        """The execution to which the last attributed event belonged, if that event was its end."""
        self.last_closed: Trace | None = None
        self.just_answered: Trace | None = None
        """The one that was answered, if nothing else happened since."""

    def close(self, event: Event) -> None:
        kind = event.name
        trace = self._find_second_half(event) or self._find_closing(event)
        if self.submitted is not None and (trace is None or trace.end is None):
            # A hook denied the prompt: the loop says that it is complete, but never began.
            self.submitted = None
            return
        if trace is None:
            return
        trace.close(event, kind, event.status)
        self._leave(trace, event)

    def _find_second_half(self, event: Event) -> Trace | None:
        """The execution whose end was written already, for loops that write both execution:end and orchestrator:complete."""
        # What is cancelled has no first half: an execution that wrote one came to its own end.
        if event.name == "orchestrator:complete" and not (event.status == "cancelled" and self.open):
            halves = [trace for trace in self.half_closed if trace.failed == (event.status == "error")]
            if halves:
                return halves[-1]
        trace = self.just_closed
        if trace is None or event.name in trace.closes:
            return None
        is_of_another = event.status == "error" and not trace.failed and any(other.failed for other in self.open)
        return None if is_of_another else trace

    def _find_closing(self, event: Event) -> Trace | None:
        if self.open:
            alive = self._list_refused() if event.status == "error" else self._list_alive()
            asked = [trace for trace in alive if event.status == "cancelled" and trace.start.line < self.cancel_line]
            trace, doubtful = find_closing(asked or alive, event.name, event.status)
            for one in doubtful:
                one.rivals |= frozenset(doubtful)
            return trace
        # Another event came between the two halves.
        last = self.traces[-1] if self.traces else None
        return last if last is not None and last.closes and event.name not in last.closes else None

    def note_cancel(self, event: Event) -> None:
        self.note_death(event)
        self.cancel_line = event.line

    def cancel(self, event: Event) -> None:
        self.note_death(event)
        if self.just_closed is not None and self.just_closed.status == "cancelled":
            return
        trace = find_closing(self._list_alive(), event.name, "cancelled")[0] if len(self.open) > 1 else None
        newest = self.traces[-1] if self.traces else None
        if trace is None and newest is not None and (newest.end is None or "session:end" in newest.closes):
            trace = newest
        if trace is not None:
            trace.close(event, "cancel:completed", "cancelled")
            self._leave(trace, event)

    def end_session(self, event: Event) -> None:
        if self.is_old:
            self.note_death(event)
            self.close(event._replace(name="execution:end"))
            return
        self.note_leaving(event)
        newest = self.traces[-1] if self.traces else None
        # While several processes have the session open, the one that leaves is more likely to be the one that was heard of last.
        is_heard = newest is not None and all(one.last.line <= newest.last.line for one in self.traces[-MOST_OPEN:])
        if newest is not None and newest.end is None and is_heard:
            newest.close(event, "session:end", event.status)
            self._leave(newest, event)

    def _list_alive(self) -> Sequence[Trace]:
        """The open executions without those that were silent since a process or a turn came to its end before the newest one began."""
        if len(self.open) < 2:
            return self.open
        start = self.open[-1].start.line
        return [trace for trace in self.open if trace.last.line >= start or not has_line_between(self.deaths, trace.last.line, start)]

    def _list_refused(self) -> Sequence[Trace]:
        """Those that may be refused or end refused: one whose request failed is not dead, however long the rest of it takes."""
        alive = self._list_alive()
        return alive if any(trace.failed for trace in alive) else self.open

    def _leave(self, trace: Trace, event: Event) -> None:
        if trace in self.open:
            self.open.remove(trace)
        if event.name == "execution:end" and "orchestrator:complete" not in trace.closes:
            self.half_closed = [*self.half_closed[-MOST_OPEN:], trace]
        elif event.name == "orchestrator:complete" and trace in self.half_closed:
            self.half_closed.remove(trace)
        trace.last = event
        self.just_closed = self.last_closed = trace
        self.just_answered = None

    def note_reply(self, event: Event) -> None:
        for trace in reversed(self.traces[-MOST_OPEN:]):
            if event.text_key and trace.text_key == event.text_key and trace in self.open:
                self._correct_end(trace)
            if trace.end is not None and not trace.response and event.text_key in (trace.text_key, 0):
                trace.response = event.text
                return

    def _correct_end(self, trace: Trace) -> None:
        """The client reports a reply only behind the end of its execution: the last end was this one's then."""
        other = self.last_closed
        if other is None or other.response or other.status != "success" or other.end is None or other.end.line < trace.start.line:
            return
        trace.closes, trace.end, trace.status = other.closes, other.end, other.status
        trace.last = other.end
        other.reopen()
        self.open[self.open.index(trace)] = other
        self.open.sort(key=lambda one: one.start.line)
        self.half_closed = [one for one in self.half_closed if one is not other]
        self.last_closed = trace

    def note_death(self, event: Event) -> None:
        self.deaths.append(event.line)

    def note_leaving(self, event: Event) -> None:
        self.leavings.append(event.line)
        self.note_death(event)

    def _touch(self, trace: Trace, event: Event) -> None:
        trace.last = event
        self.just_closed = self.just_answered = self.just_sent = None
