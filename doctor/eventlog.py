"""What an event log says about a session: executions, tool runs, requests, damage. Pure data; `doctor.sources.events` fills it.

Lines are 0-based indexes into the event log, -1 for "none". Times are the ISO strings of the log, for reporting only: file order decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Execution(Record):
    """One run of the agent loop on one prompt. Executions have no id in any version of the log: `start_line` stands for it.

    `status`: success, error, cancelled, incomplete, or "" when no end was written. `last_line` is the last line known to be its own.
    """

    start_line: int
    start_time: str
    prompt: str
    """The prompt's text, cut to 2,000 characters; "" when the log does not have it."""
    text_key: int
    """hash() of the whole prompt, comparable with Message.text_key; 0 when unknown or redacted."""
    end_line: int
    end_time: str
    status: str
    last_line: int
    last_time: str
    response: str
    """The reply that the client reported for it (`prompt:complete`), cut to 2,000 characters; "" when unknown."""
    offset: int = -1
    """Byte of its start line in the event log, so that the turn can be read when it is asked for."""


class ToolRun(Record):
    """One tool call as the event log saw it run. `end_event` is tool:post, tool:error or "" while it has no end."""

    call_id: str
    name: str
    pre_line: int
    pre_time: str
    end_line: int
    end_time: str
    end_event: str
    execution: int
    """start_line of the execution that made the call, -1 when unknown."""
    group: str
    """parallel_group_id: the calls of one assistant message."""
    redacted: bool
    offset: int
    length: int
    """Byte span of the end line in the event log, so that the result can be read when it is needed."""


class UnnamedRun(Record):
    """A run of a log from before 2026, which gives it no call id. `arguments_key`: a number that equal arguments share."""

    tool: str
    arguments_key: int
    run: ToolRun


class RecordedResult(Record):
    """The content that the client would have stored for a finished call. `refusal` says why it can't be used; then `content` is "".

    `source` names the place for people and marks: "events.jsonl:29", the line counted from 1.
    """

    content: str
    source: str
    refusal: str


class RecordedCall(Record):
    """One call as the log holds it. `arguments` are None where they can't be used; `line` is that of its event."""

    call_id: str
    name: str
    arguments: dict[str, Any] | None
    line: int
    time: str


class RecordedStep(Record):
    """One assistant message: calls with the texts beside them, or texts alone. `line`, `time`: where it stands in the log."""

    line: int
    time: str
    texts: tuple[str, ...]
    calls: tuple[RecordedCall, ...]
    role: str = "assistant"
    """`user` for a text that was steered in while tools ran."""


class RecordedTurn(Record):
    """What the log holds of one execution. `prompt` is whole, "" where it can't be used; `missing` says what can't be, and why."""

    prompt: str
    steps: tuple[RecordedStep, ...]
    missing: tuple[str, ...]


class Overlap(Record):
    """Two executions on one session at the same time. `confidence`: confirmed or possible; `proof` in words, with its event lines."""

    older: Execution
    newer: Execution
    confidence: str
    proof: str
    proof_lines: tuple[int, ...]


class TurnRecord(Record):
    """One turn of a chat platform, as its own events tell it. Times in seconds since the epoch, None where they are not known.

    `triggers`: ids of the messages that it answers. `context`: id of the last message that it saw. `messages`: ids of those it wrote.
    """

    turn: str
    thread: str
    line: int
    triggers: tuple[str, ...]
    context: str
    messages: tuple[str, ...]
    status: str
    start: float | None
    end: float | None


class Request(Record):
    """One request of the agent loop to a provider. `error` is the provider's text when it was refused, "" otherwise."""

    line: int
    time: str
    execution: int
    open_calls: tuple[str, ...]
    """Ids of calls of *another* execution that were running when it left, and that finished later."""
    error_line: int
    error: str
    repaired_line: int
    """Line of a provider:tool_sequence_repaired event that belongs to it, -1 if none."""
    end_line: int = -1
    end_time: str = ""
    """The provider's answer or refusal; without either in the log, -1 and ""."""
    id: str = ""
    """The store's id of the message that it was made for, where it has one."""
    was_stale: bool = False
    """The open calls had their results by then: the request was made of an older state of the session."""
    repaired: tuple[str, ...] = ()
    """Ids of the calls that got a stand-in on the wire, where the log names them."""


class Moment(Record):
    """An event without length that tells the story of a session: a provider's error, a cancellation, a resume, a compaction.

    `kind` is the event's name. `execution`: start_line of the execution that it belongs to, -1 when unknown.
    """

    line: int
    time: str
    kind: str
    execution: int = -1
    text: str = ""


class EventProblem(Record):
    """Damage in the log itself. `kind`: torn, glued, invalid, duplicate, foreign. `count` lines, the first of them at `line`."""

    kind: str
    line: int
    count: int
    message: str


class EventLog:
    """The event log of one session, boiled down."""

    __slots__ = (
        "abandoned",
        "compacted_line",
        "executions",
        "is_bare",
        "last_time",
        "line_count",
        "model",
        "moments",
        "overlaps",
        "path",
        "problems",
        "provider",
        "requests",
        "rows",
        "runs",
        "source",
        "steered",
        "still_open",
        "turns",
        "turns_of_thread",
        "unnamed",
    )  # fmt: skip

    def __init__(self, path: str, source: Any) -> None:
        self.path = path
        self.source = source
        self.line_count = 0
        self.executions: tuple[Execution, ...] = ()
        self.abandoned: tuple[Execution, ...] = ()
        """Started, never ended, and nothing proves that they lived on when the next one started."""
        self.overlaps: tuple[Overlap, ...] = ()
        self.runs: dict[str, ToolRun] = {}
        """By call id."""
        self.unnamed: tuple[UnnamedRun, ...] = ()
        """Runs without one, which stand in `runs` too as soon as they are joined to the calls of a transcript."""
        self.requests: tuple[Request, ...] = ()
        self.moments: tuple[Moment, ...] = ()
        self.problems: tuple[EventProblem, ...] = ()
        self.rows: Sequence[int] = ()
        """Where there is no log but the transcript itself: on which of its lines each moment stands, each on its own line for most
        formats. () for a log of its own."""
        self.steered: frozenset[int] = frozenset()
        """hash() of each text steered in while a tool ran: user rows that are no prompts."""
        self.turns: tuple[TurnRecord, ...] = ()
        """For logs that give their turns ids and say what each of them answers."""
        self.turns_of_thread: dict[str, list[TurnRecord]] = {}
        """The same by their conversation, "" for those of which it is not known."""
        self.last_time = ""
        """Time stamp of the last readable line."""
        self.provider = ""
        """Whom the last request of the agent loop went to, as the client calls it; "" when the log does not say."""
        self.model = ""
        self.is_bare: bool | None = None
        """Whether this client stores results as their output alone; None as long as nobody asked."""
        self.still_open: tuple[Execution, ...] = ()
        """Executions without an end of which nothing says that their process left the session."""
        self.compacted_line = -1
        """The last context compaction. What is older may have left the transcript on purpose, with clients that compact it in place."""

    @property
    def is_open(self) -> bool:
        """Whether an execution may still be at work: the newest one or, while others came and went, an older one."""
        return bool(self.still_open) or self.open_execution is not None

    @property
    def open_execution(self) -> Execution | None:
        """The newest execution, if it has no end."""
        if self.executions and self.executions[-1].end_line < 0:
            return self.executions[-1]
        return None
