"""Follows the executions through a log: which event belongs to which, where each starts and ends.

Executions have no id in any version of the log. While only one is open, everything is its own. While several are, events are told apart
by tool call ids, parallel groups, request ids and iteration counters; what nothing tells apart goes to the newest, which proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from doctor.records import Record
from doctor.sources.events.boiling import Event
from doctor.sources.events.ends import MOST_OPEN, Ends
from doctor.sources.events.owners import find_asker, find_caller, find_failed
from doctor.sources.events.runs import ToolPair
from doctor.sources.events.traces import Asked, Sign, Trace


class Story(Record):
    """What follow_executions found. `callers`: the execution by the line of a tool:pre or a provider:error. `deaths`: lines of events
    that say that a process or a turn came to its end or began anew; `leavings`: those of them that say it of a process."""

    traces: list[Trace]
    callers: dict[int, Trace]
    deaths: list[int]
    leavings: list[int]


def follow_executions(events: Sequence[Event], pairs: Sequence[ToolPair]) -> Story:
    """Attributes the events of one session, in file order."""
    follower = _Follower(pairs)
    handlers = follower.handlers()
    for event in events:
        handle = handlers.get(event.name)
        if handle is not None:
            handle(event)
    return Story(follower.traces, follower.callers, follower.deaths, [] if follower.is_old else follower.leavings)


class _Follower(Ends):
    def handlers(self) -> dict[str, Callable[[Event], None]]:
        return {
            "prompt:submit": self.submit,
            "execution:start": self.start,
            "session:start": self.start_session,
            "session:resume": self.note_leaving,
            "session:fork": self.note_leaving,
            "session:end": self.end_session,
            "cancel:requested": self.note_cancel,
            "cancel:completed": self.cancel,
            "execution:end": self.close,
            "orchestrator:complete": self.close,
            "prompt:complete": self.note_reply,
            "provider:request": self.ask,
            "provider:tool_sequence_repaired": self.note_repair,
            "llm:request": self.send,
            "llm:response": self.answer,
            "provider:error": self.fail,
            "tool:pre": self.begin_tool,
            "tool:post": self.end_tool,
            "tool:error": self.end_tool,
        }

    # Starts

    def submit(self, event: Event) -> None:
        self.submitted = event

    def start(self, event: Event) -> None:
        newest = self.open[-1] if self.open else None
        if newest is not None and newest.is_submitted and newest.text_key in (event.text_key, 0) and not newest.open_calls:
            # Its prompt:submit was taken for the start, since an event of another process stood between.
            newest.restart(event)
        else:
            self._open(Trace(event))
        self.submitted = None

    def start_session(self, event: Event) -> None:
        # Before 2026-01-25 the loop announced each execution as session:start with its prompt.
        if event.text or event.redacted:
            self.is_old = True
            self.start(event)
        elif not self.has_started:
            # From February to May 2026 it was written again before every execution, and says nothing.
            self.has_started = True
            self.note_death(event)

    def _open(self, trace: Trace) -> None:
        self.traces.append(trace)
        self.open.append(trace)
        del self.open[:-MOST_OPEN]
        if self.waiting:
            alive = self._list_alive()
            self.waiting = [asked for asked in self.waiting if asked.trace in alive]
        self.just_closed = None

    def _open_submitted(self) -> None:
        # Loops other than loop-streaming announce only the prompt.
        if self.submitted is not None:
            trace = Trace(self.submitted)
            trace.is_submitted = True
            self._open(trace)
            self.submitted = None

    # Requests

    def ask(self, event: Event) -> None:
        if event.number <= 1 and self.submitted is not None and not any(trace.iteration == 0 for trace in self._list_alive()):
            self._open_submitted()
        trace, is_sure = (self.open[0], True) if len(self.open) == 1 else find_asker(self._list_alive(), event.number)
        if trace is None:
            return
        newest = self.open[-1]
        if trace is not newest and newest.iteration >= 1 and event.number not in (newest.iteration, newest.iteration + 1):
            is_sign = is_sure and trace.is_told_from_all_but(newest)
            trace.signs.append(Sign(event.line, "request", trace.start.line, event.number, is_sure=is_sign))
        trace.iteration = event.number
        trace.phase = "asked"
        trace.failed, trace.is_blind, trace.answered_line = False, True, -1
        # The loop asks when all its calls are over: those without an end were denied by a hook.
        trace.open_calls.clear()
        others = [other for other in self.open if other is not trace and other.open_calls]
        asked = Asked(event, trace, tuple(line for other in others for line in other.open_calls), is_sure)
        trace.asked.append(asked)
        self.waiting.append(asked)
        self._touch(trace, event)

    def send(self, event: Event) -> None:
        # Requests of background helpers, such as the one that names the session, have no provider:request before them.
        if event.request_id in self.sent:
            return
        if self.waiting:
            doubtful = {asked.trace for asked in self.waiting}
            asked = self.waiting.pop()
            asked.is_sure = asked.is_sure and len(doubtful) == 1
            for left in self.waiting:
                left.is_sure = False
            for trace in doubtful if len(doubtful) > 1 else ():
                trace.rivals |= frozenset(doubtful)
        elif self.failing is not None and self.failing.trace in self.open:
            # The provider layer tries again what failed, under a new id.
            asked, self.failing = self.failing, None
            asked.trace.failed, asked.trace.phase = False, "asked"
        elif self.just_sent is not None and event.request_id:
            # One of the two is of a background helper: which one can't be told.
            asked = self.just_sent
            asked.is_sure = False
        else:
            return
        asked.sent_line = event.line
        if event.request_id:
            self.sent[event.request_id] = asked
        asked.trace.is_blind = False
        self._touch(asked.trace, event)
        self.just_sent = asked

    def answer(self, event: Event) -> None:
        asked = self.sent.pop(event.request_id, None) if event.request_id else None
        if asked is None:
            self._guess_answer(event)
            return
        if asked.is_answered and not asked.is_sure:
            return
        asked.end = event
        trace = asked.trace
        if event.status == "error":
            asked.error_line, asked.error, asked.is_answered = event.line, event.text, False
            trace.failed = True
            self.failing = asked
        else:
            asked.is_answered = True
            asked.error_line, asked.error = -1, ""
            trace.phase = "answered"
        trace.signs.append(Sign(event.line, "answer", asked.sent_line, 0, is_sure=asked.is_sure))
        self._touch(trace, event)
        trace.answered_line, self.just_answered = event.line, trace

    def _guess_answer(self, event: Event) -> None:
        """Older clients give requests no id: where one execution waits for an answer it is its own, good enough to draw it and to know
        which one can go on, but no proof."""
        if len(self.open) == 1 and not event.request_id:
            self.open[0].end_request(event)
        asking = [trace for trace in self.open if trace.phase == "asked"]
        if event.request_id or not asking or len(self.open) == 1:
            return
        if len(asking) > 1:
            for trace in asking:
                trace.is_blind = True
            return
        asking[0].phase, asking[0].failed = "answered", event.status == "error"
        asking[0].answered_line, self.just_answered = event.line, asking[0]

    def fail(self, event: Event) -> None:
        self.note_death(event)
        self.failing = None
        trace, doubtful = find_failed(self._list_refused(), self.just_answered)
        if trace is None:
            return
        for one in doubtful:
            one.rivals |= frozenset(doubtful)
        trace.failed = True
        self.callers[event.line] = trace
        if trace.asked:
            asked = trace.asked[-1]
            asked.error_line, asked.error = event.line, event.text or asked.error
            asked.end = asked.end or event
        self._touch(trace, event)

    def note_repair(self, event: Event) -> None:
        asked = self.waiting[-1] if self.waiting else self.open[-1].asked[-1] if self.open and self.open[-1].asked else None
        if asked is not None:
            asked.repaired_line, asked.repaired = event.line, tuple(event.text.split())

    # Tools

    def begin_tool(self, event: Event) -> None:
        if not self.open:
            self._open_submitted()
        trace = self.groups.get(event.group) if event.group else None
        if trace is None or trace not in self.open:
            alive = self._list_alive()
            can_call = any(trace.phase == "answered" or trace.is_blind for trace in alive)
            trace, is_sure = find_caller(alive if can_call else self.open)
            if trace is None:
                return
            if not is_sure:
                self.doubtful.add(event.group or event.line)
            if event.group:
                self.groups[event.group] = trace
        trace.phase = "tools"
        trace.open_calls[event.line] = event
        self.callers[event.line] = trace
        self._touch(trace, event)

    def end_tool(self, event: Event) -> None:
        if event.status == "CancelledError":
            self.note_death(event)
        pair = self.pair_of_end.get(event.line)
        trace = self.callers.get(pair.pre.line) if pair is not None and pair.pre is not None else None
        if pair is None or pair.pre is None or trace is None:
            return
        trace.open_calls.pop(pair.pre.line, None)
        kind = "tool-error" if event.name == "tool:error" else "tool"
        is_sure = not self.doubtful or (pair.pre.group or pair.pre.line) not in self.doubtful
        trace.signs.append(Sign(event.line, kind, pair.pre.line, 0, pair.name, is_sure))
        self._touch(trace, event)
