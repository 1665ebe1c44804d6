"""What comes out of checking many targets, and the line in which they wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from doctor.findings import Diagnostic, Failure, FileReport, Severity
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


OF_STORE = ("AD112",)
"""Codes of findings that are about a whole database, whichever session is read."""


class Told:
    """What was said about whole databases in this run. The first session of one says it in full; of the others' reports it is a note, and
    their verdicts stay what they are. Reports come in the order of the targets, for any number of processes."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str, str], str] = {}
        self._failures: tuple[Failure, ...] = ()

    def drop_repeated(self, failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
        """None where they are those of the target before: a store that can't be read is no worse for its next session."""
        repeated = failures == self._failures
        self._failures = failures
        return () if repeated else failures

    def shorten(self, file: FileReport) -> FileReport:
        store, _, session = file.path.rpartition("#")
        if not store or not any(found.code in OF_STORE for found in file.diagnostics + file.accepted):
            return file
        for found in file.accepted:
            if found.code in OF_STORE:
                self._said.setdefault((store, found.code, found.message), session)
        kept: list[Diagnostic] = []
        is_referred = False
        for found in file.diagnostics:
            first = self._said.setdefault((store, found.code, found.message), session) if found.code in OF_STORE else session
            if first == session:
                kept.append(found)
            elif not is_referred:
                is_referred = True
                said = f"the same as for {first}: it is about the whole database"
                kept.append(found._replace(message=said, severity=Severity.INFO, judged=found.judged or found.severity))
        return file._replace(diagnostics=tuple(kept))


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
