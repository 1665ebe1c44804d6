"""One execution while the log is read: mutable notes that become an Execution at the end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from doctor.eventlog import Execution
from doctor.records import Record
from doctor.sources.events.boiling import Event

STATUSES = {"ok": "success", "completed": "success", "complete": "success", "failed": "error", "canceled": "cancelled"}
"""Other spellings of a status. Unknown ones are kept as they are."""


class Sign(Record):
    """A sign of life of one execution. `kind`: tool, tool-error, answer, request. It proves something if `is_sure` that it is its own.

    `since`: the line of what it answers (the tool:pre, the llm:request); `number`: the iteration; `name`: the tool.
    """

    line: int
    kind: str
    since: int
    number: int
    name: str = ""
    is_sure: bool = True


class Asked:
    """One provider:request and what became of it."""

    __slots__ = (
        "end",
        "error",
        "error_line",
        "event",
        "is_answered",
        "is_sure",
        "open_elsewhere",
        "repaired",
        "repaired_line",
        "sent_line",
        "trace",
    )  # fmt: skip

    def __init__(self, event: Event, trace: Trace, open_elsewhere: tuple[int, ...], is_sure: bool) -> None:
        self.is_sure = is_sure
        self.event = event
        self.trace = trace
        self.open_elsewhere = open_elsewhere
        """Lines of the tool:pre of calls that other executions had open."""
        self.sent_line = event.line
        self.is_answered = False
        self.error_line = -1
        self.error = ""
        self.repaired_line = -1
        self.repaired: tuple[str, ...] = ()
        self.end: Event | None = None


NOBODY: frozenset[Trace] = frozenset()


class Trace:
    """`phase`: start, asked, answered or tools. `closes`: line of each kind of event that ended it. `open_calls`: by line of tool:pre."""

    __slots__ = (
        "answered_line",
        "asked",
        "closes",
        "end",
        "failed",
        "is_blind",
        "is_submitted",
        "iteration",
        "last",
        "open_calls",
        "phase",
        "response",
        "rivals",
        "signs",
        "start",
        "status",
        "text_key",
    )  # fmt: skip

    def __init__(self, start: Event) -> None:
        self.start = self.last = start
        self.text_key = start.text_key
        self.iteration = 0
        self.phase = "start"
        self.failed = False
        self.open_calls: dict[int, Event] = {}
        self.asked: list[Asked] = []
        self.signs: list[Sign] = []
        self.closes: dict[str, int] = {}
        self.end: Event | None = None
        self.status = ""
        self.response = ""
        self.is_submitted = False
        self.answered_line = -1
        """The last answer that seems to be its own."""
        self.rivals: frozenset[Trace] = NOBODY
        """Those to whom an end was given that may have been its own, or the other way round."""
        self.is_blind = False
        """Its last request was not seen to leave, or an answer without an id may be to it: whether it was answered is not certain."""

    @property
    def is_ready(self) -> bool:
        """Whether an end would be no surprise: its last request was answered without a call, or failed."""
        return self.failed or (self.phase == "answered" and not self.open_calls)

    def is_told_from_all_but(self, other: Trace) -> bool:
        """Whether nothing that was taken for the doings of one of the two can have been those of a third."""
        return (self.rivals | other.rivals) <= {self, other}

    def restart(self, event: Event) -> None:
        """The real start of an execution of which only the prompt:submit was seen."""
        self.start = self.last = event
        self.text_key = event.text_key
        self.is_submitted = False

    def reopen(self) -> None:
        """What was taken for its end was another's."""
        self.closes, self.end, self.status = {}, None, ""

    def end_request(self, event: Event) -> None:
        """Notes what seems to be the answer to the last request. It proves nothing, and changes nothing else."""
        if self.asked and self.phase == "asked" and self.asked[-1].end is None:
            self.asked[-1].end = event

    def close(self, event: Event, kind: str, status: str) -> None:
        """Notes an end. orchestrator:complete knows best how it ended; session:end knows least."""
        self.closes[kind] = event.line
        self.end = event
        status = STATUSES.get(status, status)
        if status and (kind == "orchestrator:complete" or kind == "cancel:completed" or not self.status):
            self.status = status
        elif not self.status:
            # execution:end carries nothing in most versions; a bare session:end says nothing about the turn.
            self.status = "incomplete" if kind == "session:end" else "error" if self.failed else "success"

    def describe(self) -> Execution:
        return Execution(
            start_line=self.start.line,
            start_time=self.start.time,
            prompt=self.start.text,
            text_key=self.text_key,
            end_line=self.end.line if self.end else -1,
            end_time=self.end.time if self.end else "",
            status=self.status,
            last_line=self.last.line,
            last_time=self.last.time,
            response=self.response,
            offset=self.start.offset,
        )


def has_line_between(lines: Sequence[int], first: int, stop: int) -> bool:
    """Whether one of some lines lies at `first` or between it and `stop`. Of deaths: a session start, resume or end, a cancellation, a
    provider error."""
    position = bisect_left(lines, first)
    return position < len(lines) and lines[position] < stop
