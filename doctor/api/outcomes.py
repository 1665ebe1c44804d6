"""What comes out of checking many targets, and the line in which they wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from doctor.findings import Failure, FileReport
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from doctor.api.caching import Entry

MOST_AHEAD = 100_000
"""Targets that are listed before the first is checked, so that progress knows its end; beyond that memory must not follow the corpus."""


class Outcome(Record):
    """What became of one target: its report, None where it could not be read, and what went wrong on the way."""

    file: FileReport | None
    failures: tuple[Failure, ...] = ()


class Judged(Record):
    """An outcome with what is no part of a report: how long it took, and what to write into the cache for it: a new entry, or only the
    key of one that was used (`entry` is None)."""

    outcome: Outcome
    key: bytes = b""
    entry: Entry | None = None
    seconds: float = 0.0


class Lookahead:
    """Targets in their order, listed as far ahead as is wise. `known`: how many were listed so far."""

    def __init__(self, targets: Iterator[Any], most: int = MOST_AHEAD) -> None:
        self._rest = targets
        self._ahead = list(islice(targets, most))
        self.known = len(self._ahead)
        self.first = self._ahead[0] if self._ahead else None

    def __iter__(self) -> Iterator[Any]:
        ahead, self._ahead = self._ahead, []
        yield from ahead
        for target in self._rest:
            self.known += 1
            yield target
