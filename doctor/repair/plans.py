"""What planning hands on: the planned file, what was done to get there, and what leaves the transcript."""

from __future__ import annotations

from doctor.analysis.engine import Diagnosis
from doctor.findings import AppliedFix, Failure
from doctor.model import Source
from doctor.records import Record
from doctor.repair.changes import LineChanges
from doctor.repair.pieces import Piece
from doctor.session import Session


class Quarantined(Record):
    """One line that leaves the transcript. `line` is 1-based in the file as it was read, 0 for a row that a fix had brought in."""

    line: int
    code: str
    content: tuple[Piece, ...]


class Plan(Record):
    """A planned fix of one session. With a `failure` nothing is planned: `source` and `after` are those of the session as it is.

    `source` reads the file as it is on disk, so it is good until that file is replaced. `tail` are the last bytes of the file as read.
    """

    session: Session
    before: Diagnosis
    after_session: Session
    after: Diagnosis
    source: Source
    changed: bool
    applied: tuple[AppliedFix, ...]
    held_back: tuple[AppliedFix, ...]
    quarantined: tuple[Quarantined, ...]
    changes: LineChanges
    tail: bytes
    failure: Failure | None = None

    @property
    def moved(self) -> list[tuple[int, int]]:
        """1-based (from line, to line) of every row that changed its place."""
        return [(old + 1, new + 1) for old, new in self.changes.moved]
