"""The conversation as every room sees it: neutral views over stored lines, for all stored formats.

Views are small and frozen. They keep where a row lies, never the row itself: memory follows the number of rows, not their size.
Line numbers inside the package are 0-based indexes; only reports count from 1.
"""

# Annotations are evaluated here: NamedTuple compiles each one that is a string, which together costs a tenth of the start-up.

from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, Protocol

from doctor.eventlog import EventLog, Execution, RecordedResult, RecordedTurn, ToolRun
from doctor.refusals import RefusalMeaning, WireVerdict

# How a call is spelled in its stored row. Amplifier stores each call twice, once in each spelling.
SPELLED_AS_BLOCK = 1
SPELLED_IN_LIST = 2
SPELLED_FOREIGN = 4
"""Set beside SPELLED_IN_LIST when the list item has a shape that the client itself does not write (`function`, `name`/`input`)."""


class ToolCall(NamedTuple):
    """One tool call. `id` and `name` are "" when the row has none; `spelling` is a sum of the SPELLED_* numbers."""

    id: str
    name: str
    spelling: int


class ToolResult(NamedTuple):
    """One tool result. `maker` is "" for a real result, else who put the placeholder there: repair, fork, cancel or doctor."""

    call_id: str
    name: str
    maker: str


class Message(NamedTuple):
    """One message in the order in which the client would send it.

    `kind`: "prompt" (a user turn), "reminder", "hook" (user rows that no user wrote), "call" (assistant with calls), "reply"
    (assistant without), "invented" (a closing assistant row that a repair made up), "result", "system", or "odd" (no usable role).
    `text_key` is the hash of a user prompt's text (0 for everything else), good for comparing inside one process only.
    `flags` is a sum of the flags below.
    """

    line: int
    role: str
    kind: str
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    text_key: int
    flags: int


SPELLINGS_DISAGREE = 1  # content blocks and tool_calls list different calls
MIXED_CONTENT = 2  # a row of results that holds something else too: it can't be moved as a whole
SHOWS_PROGRESS = 4  # an assistant text with a counter such as "step 3/40"
BROKEN_SHAPE = 8  # the row has a ShapeProblem
SHARED_LINE = 16  # one of several records on one physical line
EMPTY_CONTENT = 32  # content is "" or []
EMPTY_LIST = 64  # content is []
EMPTY_TEXT = 128  # a text block without text
BLANK_TEXT = 256  # all there is to read is white space
UNSIGNED_THINKING = 512  # a thinking block without a usable signature
SIGNED_THINKING = 1024  # a thinking block with one, or a redacted one
TEXT_AFTER_CALL = 2048  # a text block behind a call of the same row
TEXT_BEFORE_RESULT = 4096  # a row of results that opens with something else
ARGUMENTS_NOT_OBJECT = 8192  # a call whose arguments are a string, a list or null
ENDS_IN_THINKING = 16384  # the last row only: its last block is thinking
ENDS_BLANK = 32768  # the last row only: an assistant text that ends in white space
DAMAGED_LINE = 65536  # the row could be read although something is wrong with its line


class LineProblem(NamedTuple):
    """A physical line that is not exactly one JSON value.

    `kind`: torn, glued, invalid, deep, nul, utf8, surrogate, bom, constant (NaN or Infinity), duplicate-key.
    `column` is the 0-based byte inside the line; `parts` are the (start, stop) byte spans of the whole records found on it.
    """

    line: int
    kind: str
    message: str
    column: int
    parts: tuple[tuple[int, int], ...] = ()


class ShapeProblem(NamedTuple):
    """A row that the client's own loader refuses. `kind`: object, role, content, call, result, metadata; `where` is a JSON path."""

    line: int
    kind: str
    message: str
    where: str = ""


class Source(Protocol):
    """Bytes that can be read twice: a file, bytes in memory, or a planned file that is not written yet."""

    size: int

    def open(self) -> BinaryIO:
        """A buffered reader at byte 0."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes at `offset` (fewer at the end)."""
        ...


class Transcript:
    """What one stored transcript says, and where on disk it says it."""

    __slots__ = (
        "_index_of_line",
        "blank_lines",
        "ends_with_eol",
        "eol",
        "format",
        "line_problems",
        "messages",
        "path",
        "repeated_lines",
        "shape_problem_count",
        "shape_problems",
        "source",
        "starts",
        "unusual",
    )

    def __init__(self, path: str, format: str, source: Source) -> None:
        from array import array

        self.path = path
        self.format = format
        self.source = source
        self.starts = array("q", [0])
        """Byte offset of each line, and the size of the file as the last entry."""
        self.messages: list[Message] = []
        self.line_problems: list[LineProblem] = []
        self.shape_problems: list[ShapeProblem] = []
        self.shape_problem_count = 0
        """All of them; `shape_problems` stops at a limit so that a wholly foreign file does not cost a schema run per line."""
        self.repeated_lines: list[int] = []
        self.blank_lines: list[int] = []
        self.unusual: list[int] = []
        """Indexes of messages that are placeholders or invented replies, have flags, or are not spelled as the client spells them."""
        self.eol = b"\n"
        self.ends_with_eol = True
        self._index_of_line: dict[int, int] | None = None

    @property
    def line_count(self) -> int:
        return len(self.starts) - 1

    def read_line(self, line: int) -> bytes:
        """The bytes of a line without its line end (`\\n` or `\\r\\n`)."""
        start = self.starts[line]
        raw = self.source.read(start, self.starts[line + 1] - start)
        if raw.endswith(b"\r\n"):
            return raw[:-2]
        return raw[:-1] if raw.endswith(b"\n") else raw

    def read_row(self, line: int) -> Any:
        """The parsed row of a line, read again from disk; None where the line is not JSON."""
        import json

        try:
            return json.loads(self.read_line(line).decode("utf-8", "surrogateescape").lstrip("\ufeff").strip("\0"))
        except (ValueError, RecursionError):
            return None

    def message_at(self, line: int) -> int | None:
        """Index of the first message that starts on a line."""
        if self._index_of_line is None:
            table: dict[int, int] = {}
            for index, message in enumerate(self.messages):
                table.setdefault(message.line, index)
            self._index_of_line = table
        return self._index_of_line.get(line)


class ResultSite(NamedTuple):
    """Where a result stands: the index of its message and which of its results it is."""

    index: int
    result: ToolResult


class CallPair(NamedTuple):
    """One call and every result that names it.

    `placed` results stand where a provider looks for them: in the run of results right behind the call. `early` stand before the
    call, `late` behind it but out of place. A call with exactly one placed result and nothing else never appears here.
    """

    index: int
    call: ToolCall
    position: int
    placed: tuple[ResultSite, ...]
    early: tuple[ResultSite, ...]
    late: tuple[ResultSite, ...]
    reused: bool
    """The same id is called elsewhere too."""
    ambiguous: bool = False
    """The id is reused, and which of its calls each result answers can't be told: nothing may be moved, added or taken out."""


class Pairing(NamedTuple):
    """What is wrong with the calls and results of one transcript; all empty for a sound one."""

    pairs: tuple[CallPair, ...] = ()
    orphans: tuple[ResultSite, ...] = ()
    twice_in_row: tuple[tuple[int, str], ...] = ()
    """(message index, id) of a row that spells one id twice in one spelling."""
    reused: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """(id, message indexes) of an id that several rows call."""

    @property
    def is_sound(self) -> bool:
        return not (self.pairs or self.orphans or self.twice_in_row)

    def list_unsound_ids(self) -> set[str]:
        """Ids of calls that have not exactly one result in its place, or no call."""
        ids = {pair.call.id for pair in self.pairs} | {site.result.call_id for site in self.orphans}
        return ids | {call_id for _, call_id in self.twice_in_row}


class Turn(NamedTuple):
    """Message indexes of one stretch from a user prompt to the next: adjoining prompts, then what answers them."""

    prompts: tuple[int, ...]
    calls: tuple[int, ...]
    replies: tuple[int, ...]


class Backup(NamedTuple):
    """The client's own previous version of the transcript (`transcript.jsonl.backup`), read the same way."""

    path: str
    transcript: Transcript


class Liveness(NamedTuple):
    """Whether somebody is in this session now. `reason` says how that is known, in words for the user."""

    is_live: bool
    reason: str


class Sibling(NamedTuple):
    """Another session of the same store. `obstacle` says why it can't be resumed, "" when it can; `folder` is "" when it is not on disk.

    `is_certain` is False where the folder is no store: a session that is missing there may just not have been copied along.
    """

    folder: str
    obstacle: str
    is_certain: bool


class Session:
    """One transcript with all that lies beside it: what a rule gets to see."""

    __slots__ = (
        "_backup",
        "_pending",
        "_recorded_turns",
        "_turns",
        "_wires",
        "aim",
        "as_request",
        "events",
        "explain_error",
        "find_sibling",
        "folder",
        "host",
        "judge_wires",
        "liveness",
        "load_backup",
        "load_pending",
        "metadata",
        "metadata_problem",
        "model",
        "pairing",
        "read_recorded",
        "read_turn",
        "recover",
        "rewound",
        "session_id",
        "targets",
        "transcript",
        "unsaved",
    )

    def __init__(self, transcript: Transcript, pairing: Pairing, **beside: Any) -> None:
        self.transcript = transcript
        self.pairing = pairing
        self.events: EventLog | None = beside.get("events")
        """None when there is no event log, or it was not asked for."""
        self.metadata: dict[str, Any] | None = beside.get("metadata")
        """What metadata.json says, or the client's backup of it where that can't be read; None when neither can."""
        self.metadata_problem: str = beside.get("metadata_problem", "")
        """Why metadata.json can't be read, "" when it can or is not there."""
        self.folder: str | None = beside.get("folder")
        self.session_id: str = beside.get("session_id", "")
        self.liveness: Liveness = beside.get("liveness", Liveness(False, ""))
        self.as_request: bool = beside.get("as_request", False)
        self.rewound: bool = beside.get("rewound", False)
        """A `.bak-pre-rewind-*` file lies beside it: what the events know more was taken out on purpose."""
        self.unsaved: bool = beside.get("unsaved", False)
        """There is no transcript, only an event log: the session ended before its first save."""
        self.load_backup: Callable[[], Backup | None] | None = beside.get("load_backup")
        self.find_sibling: Callable[[str], Sibling] | None = beside.get("find_sibling")
        """Looks another session up by its id. None where the transcript lies on no disk."""
        self.read_recorded: Callable[[EventLog, ToolRun], RecordedResult] | None = beside.get("read_recorded")
        self.targets: tuple[str, ...] = ()
        """The wires (see doctor.refusals) that the next request may go to."""
        self.aim = ""
        """How the targets are known: "given", "recorded" in the session, "guessed" (all that the client can talk to); "" before that."""
        self.model = ""
        self.host = ""
        self.judge_wires: Callable[[Session], Mapping[str, WireVerdict]] | None = None
        self.explain_error: Callable[[str], RefusalMeaning | None] | None = None
        self._wires: Mapping[str, WireVerdict] | None = None
        self.recover: bool = beside.get("recover", False)
        """The user asked for lost rows to be put back: rules offer fixes that add whole rows."""
        self.read_turn: Callable[[EventLog, Execution], RecordedTurn] | None = beside.get("read_turn")
        self.load_pending: Callable[[], Backup | None] | None = beside.get("load_pending")
        self._recorded_turns: dict[int, RecordedTurn] = {}
        self._backup: Backup | bool | None = False
        self._pending: Backup | bool | None = False
        self._turns: tuple[Turn, ...] | None = None

    @property
    def backup(self) -> Backup | None:
        """The client's previous version, read at the first question: most checks never ask."""
        if self._backup is False:
            self._backup = self.load_backup() if self.load_backup is not None else None
        return self._backup  # type: ignore[return-value]

    @property
    def pending(self) -> Backup | None:
        """The client's note of an append that it did not finish (`transcript.jsonl.append-pending`), read as rows."""
        if self._pending is False:
            self._pending = self.load_pending() if self.load_pending is not None else None
        return self._pending  # type: ignore[return-value]

    def recorded_turn(self, execution: Execution) -> "RecordedTurn | None":
        """All that the event log holds of an execution, read from disk at the first question. Results are left out: they may be huge."""
        if self.events is None or self.read_turn is None or execution.offset < 0:
            return None
        if execution.start_line not in self._recorded_turns:
            self._recorded_turns[execution.start_line] = self.read_turn(self.events, execution)
        return self._recorded_turns[execution.start_line]

    def recorded_result(self, call_id: str, name: str = "") -> RecordedResult | None:
        """What the event log holds of a call's result, read from disk each time; None when it knows no end of this call."""
        if self.events is None or self.read_recorded is None:
            return None
        run = self.events.runs.get(call_id)
        if run is None or run.end_line < 0:
            return None
        if any(call_id == reused for reused, _ in self.pairing.reused):
            return RecordedResult("", "", "several calls of the transcript have this id")
        if name and run.name and run.name != name:
            return RecordedResult("", "", f"there the id belongs to a call of {run.name}")
        return self.read_recorded(self.events, run)

    @property
    def wires(self) -> Mapping[str, WireVerdict]:
        """What each provider API would answer to this transcript, judged at the first question. Empty where nobody can say."""
        if self._wires is None:
            self._wires = self.judge_wires(self) if self.judge_wires is not None else {}
        return self._wires

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The transcript cut at its user prompts; rows before the first prompt belong to a turn without prompts."""
        if self._turns is None:
            self._turns = split_turns(self.transcript.messages)
        return self._turns

    def messages(self) -> Iterator[tuple[int, Message]]:
        return enumerate(self.transcript.messages)

    def with_transcript(self, transcript: Transcript, pairing: Pairing) -> "Session":
        """The same surroundings around other bytes, for a file that is planned but not written."""
        other = Session(transcript, pairing)
        for name in self.__slots__:
            if name not in ("transcript", "pairing", "_turns", "_wires"):
                setattr(other, name, getattr(self, name))
        return other


def split_turns(messages: list[Message]) -> tuple[Turn, ...]:
    """Cuts messages at user prompts. Reminders, hook rows and system rows belong to no turn; an invented reply answers nothing."""
    turns: list[Turn] = []
    prompts: list[int] = []
    calls: list[int] = []
    replies: list[int] = []
    for index, message in enumerate(messages):
        kind = message[2]
        if kind == "prompt":
            if calls or replies:
                turns.append(Turn(tuple(prompts), tuple(calls), tuple(replies)))
                prompts, calls, replies = [], [], []
            prompts.append(index)
        elif kind == "call":
            calls.append(index)
        elif kind == "reply":
            replies.append(index)
    if prompts or calls or replies:
        turns.append(Turn(tuple(prompts), tuple(calls), tuple(replies)))
    return tuple(turns)
