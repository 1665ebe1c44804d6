"""The conversation as every room sees it: neutral views over stored lines, for all stored formats.

Views are small and frozen. They keep where a row lies, never the row itself: memory follows the number of rows, not their size.
Line numbers inside the package are 0-based indexes; only reports count from 1.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Protocol
else:
    Protocol = object


# How a call is spelled in its stored row. Amplifier stores each call twice, once in each spelling.
SPELLED_AS_BLOCK = 1
SPELLED_IN_LIST = 2
SPELLED_FOREIGN = 4
"""Set beside SPELLED_IN_LIST when the list item has a shape that the client itself does not write (`function`, `name`/`input`)."""


class ToolCall(Record):
    """One tool call. `id` and `name` are "" when the row has none; `spelling` is a sum of the SPELLED_* numbers."""

    id: str
    name: str
    spelling: int


class ToolResult(Record):
    """One tool result. `maker` is "" for a real result, else who put the placeholder there: repair, fork, cancel or doctor."""

    call_id: str
    name: str
    maker: str


class Message(Record):
    """One message in the order in which the client would send it.

    `kind`: "prompt" (a user turn), "reminder", "hook" (user rows that no user wrote), "call" (assistant with calls), "reply"
    (assistant without), "invented" (a closing assistant row that a repair made up), "result", "system", or "odd" (no usable role); in
    chat logs also "failure" (an error in the place of a reply) and "aside" (neither asks nor answers: deleted, a greeting, scheduled).
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


RECORDS = frozenset(("chat-log", "messages"))
"""Formats that are a platform's own record: it builds each request from them in its own way. Their order is never rewritten in place."""


class LineProblem(Record):
    """A physical line that is not exactly one JSON value.

    `kind`: torn, glued, invalid, deep, nul, utf8, surrogate, bom, constant (NaN or Infinity), duplicate-key.
    `column` is the 0-based byte inside the line; `parts` are the (start, stop) byte spans of the whole records found on it.
    """

    line: int
    kind: str
    message: str
    column: int
    parts: tuple[tuple[int, int], ...] = ()


class ByteNote(Record):
    """What a row holds that its client reads as it was meant and other programs do not; its bytes are left as they are.

    `kind`: separator (`text` is "U+2028", "U+2029" or "U+0085") or integer (beyond 64 bits; `text` is its number of digits). `column` as
    in LineProblem.
    """

    line: int
    kind: str
    text: str
    column: int


class ShapeProblem(Record):
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
        "_breaks",
        "_index_of_line",
        "blank_lines",
        "byte_notes",
        "crlf_lines",
        "ends_with_eol",
        "eol",
        "form",
        "format",
        "line_problems",
        "messages",
        "notes",
        "path",
        "repeated_lines",
        "shape_problem_count",
        "shape_problems",
        "source",
        "starts",
        "store_problems",
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
        self.crlf_lines: list[int] = []
        self.byte_notes: list[ByteNote] = []
        self.unusual: list[int] = []
        """Indexes of messages that are placeholders or invented replies, have flags, or are not spelled as the client spells them."""
        self.notes: Any = None
        """What the rows say about themselves (doctor.notes), for formats that know; None for the others."""
        self.eol = b"\n"
        self.ends_with_eol = True
        self.form: Any = None
        """A doctor.forms.Form where rows are not lines of JSON in the client's own neutral shape; None for those that are."""
        self.store_problems: list[Any] = []
        """What a format notes about the links between its records (doctor.forms.StoreProblem)."""
        self._index_of_line: dict[int, int] | None = None
        self._breaks: list[int] | None = None

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
        """The parsed row of a line, read again from disk; None where the line is not JSON. In Amplifier's shape, whatever the format."""
        if self.form is not None:
            return self.form.read_row(self, line)
        from doctor.jsontext import read_json

        try:
            return read_json(self.read_line(line).decode("utf-8", "surrogateescape").lstrip("\ufeff").strip("\0"))
        except (ValueError, RecursionError):
            return None

    def list_breaks(self, start: int, stop: int) -> list[int]:
        """Indexes from `start` up to `stop` of the messages that are more than results: where a run of results ends."""
        if self._breaks is None:
            self._breaks = [index for index, message in enumerate(self.messages) if not message.results or message.flags & MIXED_CONTENT]
        return self._breaks[bisect_left(self._breaks, start) : bisect_left(self._breaks, stop)]

    def find_break(self, start: int) -> int:
        """The index of the first such message from `start` on, or the number of messages."""
        self.list_breaks(0, 0)
        place = bisect_left(self._breaks or (), start)
        return self._breaks[place] if self._breaks and place < len(self._breaks) else len(self.messages)

    def find_break_before(self, stop: int) -> int:
        """The index of the last such message before `stop`, or -1."""
        self.list_breaks(0, 0)
        place = bisect_left(self._breaks or (), stop)
        return self._breaks[place - 1] if self._breaks and place else -1

    def message_at(self, line: int) -> int | None:
        """Index of the first message that starts on a line."""
        if self._index_of_line is None:
            table: dict[int, int] = {}
            for index, message in enumerate(self.messages):
                table.setdefault(message.line, index)
            self._index_of_line = table
        return self._index_of_line.get(line)


class Turn(Record):
    """Message indexes of one stretch from a user prompt to the next: adjoining prompts, then what answers them."""

    prompts: tuple[int, ...]
    calls: tuple[int, ...]
    replies: tuple[int, ...]


class Backup(Record):
    """The client's own previous version of the transcript (`transcript.jsonl.backup`), read the same way."""

    path: str
    transcript: Transcript


class Liveness(Record):
    """Whether somebody is in this session now. `reason` says how that is known, in words for the user."""

    is_live: bool
    reason: str


class Sibling(Record):
    """Another session of the same store. `obstacle` says why it can't be resumed, "" when it can; `folder` is "" when it is not on disk.

    `is_certain` is False where the folder is no store: a session that is missing there may just not have been copied along.
    """

    folder: str
    obstacle: str
    is_certain: bool


def split_turns(numbered: Iterable[tuple[int, Message]]) -> tuple[Turn, ...]:
    """Cuts (index, message) pairs at user prompts. Reminders, hook rows and system rows belong to no turn; an invented reply answers
    nothing."""
    turns: list[Turn] = []
    prompts: list[int] = []
    calls: list[int] = []
    replies: list[int] = []
    for index, message in numbered:
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
