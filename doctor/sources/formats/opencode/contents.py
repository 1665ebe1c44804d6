"""What is kept of an export beside its views: where each message stands, and its entry."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from doctor.jsontext import read_json
from doctor.model import Transcript
from doctor.sources.formats.opencode.document import Document
from doctor.sources.formats.opencode.entries import Entry
from doctor.sources.formats.opencode.stored import Belongings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Contents:
    """What is kept of an export beside its views: where each message stands, and its entry."""

    __slots__ = ("belongings", "document", "entries", "lines")

    def __init__(self, document: Document, lines: Sequence[int], entries: Sequence[Entry], belongings: Belongings | None) -> None:
        self.document = document
        self.lines = tuple(lines)
        """The line on which each message begins; ascending, each once."""
        self.entries = tuple(entries)
        self.belongings = belongings

    def find(self, line: int) -> int | None:
        """Index of the message that begins on a line."""
        place = bisect_right(self.lines, line) - 1
        return place if place >= 0 and self.lines[place] == line else None


def read_value(contents: Contents, transcript: Transcript, place: int) -> Any:
    """The stored message at an index, read again."""
    start, stop = contents.document.records[place]
    return read_json(transcript.source.read(start, stop - start).decode("utf-8", "surrogateescape"))
