"""What plays in a simulated session: calls, turns, processes and the disk, and what is known of each for certain."""

from __future__ import annotations

from collections.abc import Generator
from random import Random
from typing import Any, NamedTuple

from tests.support.execution_log import Log, Row, dump_rows, load_rows
from tests.support.rooms import TRANSCRIPT

Steps = Generator[None, None, None]


class ProcessKilled(Exception):
    """kill -9 in the middle of a step."""


class Call:
    """One tool call. Lines are those of the log, -1 for none. `fate`: ok, fails, denied, unknown, hook-fails."""

    def __init__(self, id: str, tool: str, arguments: Row, fate: str) -> None:
        self.id = id
        self.tool = tool
        self.arguments = arguments
        self.fate = fate
        self.group = ""
        self.child = ""
        self.pre = -1
        self.end = -1
        self.is_running = False
        self.whole = ""
        """The recorded result object as text, in whatever way the client stores it."""
        self.stored: str | None = None
        """The content of its row, once it has one."""
        self.recorded = ""
        """What the client would have stored, told by the log alone."""
        self.placeholders: list[bool] = []
        """Of each placeholder that a repair wrote for it: was it still running?"""


class Ask:
    """A request of a turn. `open_calls` and `seen`: ids of the running calls of other turns, and of those that were in this context."""

    def __init__(self, line: int, open_calls: set[str]) -> None:
        self.line = line
        self.open_calls = open_calls
        self.seen: set[str] = set()
        self.sent = -1
        self.answered = -1
        self.has_id = False
        self.refusal = ""
        self.patched: set[str] = set()


class Turn:
    """One execution. `born` and `over` count steps of the whole play: it was alive in between; `over` is -1 as long as it lives."""

    def __init__(self, number: int, process: Process, prompt: str) -> None:
        self.number = number
        self.process = process
        self.prompt = prompt
        self.start = -1
        self.ends: dict[str, int] = {}
        self.born = -1
        self.over = -1
        self.status = ""
        self.calls: list[Call] = []
        self.asks: list[Ask] = []
        self.texts: list[str] = []
        """Texts of the assistant that became rows."""
        self.reply = ""
        self.steered: list[str] = []
        self.cancel = ""
        self.is_dropped = False
        """Its rows left a context on purpose: rewound, cleared or compacted."""
        self.steps: Steps | None = None
        self.speed = 1

    @property
    def is_alive(self) -> bool:
        return self.born >= 0 and self.over < 0

    @property
    def end(self) -> int:
        return max(self.ends.values(), default=-1)


class Process:
    """A client that has the session open: its memory and its habits."""

    def __init__(self, context: list[Row], repairs: bool, fails_saving: bool) -> None:
        self.context = context
        self.repairs = repairs
        self.fails_saving = fails_saving
        self.is_alive = True
        self.saved = len(context)
        self.patched: set[str] = set()
        self.naming: Steps | None = None
        self.turns: list[Turn] = []


class Disk:
    """What lies in the session's folder, written as the client does: copy to the backup, then the whole file anew."""

    def __init__(self, random: Random, log: Log, metadata: Row) -> None:
        self.random = random
        self.log = log
        self.metadata = metadata
        self.transcript: bytes | None = None
        self.backup: bytes | None = None
        self.others: dict[str, bytes] = {}
        self.has_metadata = False

    def save(self, process: Process, death: float, **told: Any) -> None:
        """Raises ProcessKilled between any two steps with the odds `death`."""
        if process.fails_saving:
            return
        if self.transcript is not None:
            self.backup = self.transcript
        self._risk(death)
        self.transcript = dump_rows(process.context)
        process.saved = len(process.context)
        self._risk(death)
        self.metadata |= {"turn_count": sum(row["role"] == "user" for row in process.context), **told}
        self.has_metadata = True

    def _risk(self, death: float) -> None:
        if self.random.random() < death:
            raise ProcessKilled

    def load(self) -> list[Row]:
        return load_rows(self.transcript)


class History(NamedTuple):
    """A played session: its files by name, those of its children by folder and name, and what really happened.

    `is_cut`: it was looked at in the middle of the play; turns may be alive. `happened`: names of what was unusual.
    """

    seed: int
    kind: str
    folder: str
    files: dict[str, bytes]
    children: dict[str, dict[str, bytes]]
    turns: tuple[Turn, ...]
    happened: tuple[str, ...]
    last_time: float
    is_cut: bool
    is_rewound: bool
    log: Log

    @property
    def rows(self) -> list[Row]:
        return load_rows(self.files.get(TRANSCRIPT))

    @property
    def overlaps(self) -> set[tuple[int, int]]:
        """Pairs of start lines of turns that were alive at the same moment, the older one first."""
        found = set()
        for older in self.turns:
            for newer in self.turns:
                if -1 < older.born < newer.born and (older.over < 0 or older.over > newer.born) and min(older.start, newer.start) >= 0:
                    found.add((older.start, newer.start))
        return found

    @property
    def calls(self) -> dict[str, Call]:
        return {call.id: call for turn in self.turns for call in turn.calls}
