"""A baseline: findings that a project accepts for now, by fingerprint, so that a gate fails on new ones only."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from doctor.errors import DoctorError
from doctor.findings import Diagnostic, FileReport, Severity
from doctor.fingerprints import VERSION, fingerprint, normalise
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


SCHEMA_VERSION = 1
DEFAULT_NAME = "amplifier-doctor-baseline.json"


class Entry(Record):
    """`count` findings of one kind in one file. `path` is relative to the baseline, with slashes, so that it holds on other machines."""

    path: str
    code: str
    fingerprint: str
    count: int
    message: str
    """For the reviewer: without quotes of prompts and without numbers, which change as a session goes on."""

    @property
    def key(self) -> tuple[str, str]:
        return self.path, self.fingerprint


class Baseline(Record):
    """`path`: the file that holds it, absolute."""

    path: str
    entries: tuple[Entry, ...] = ()

    def locate(self, path: str) -> str:
        """How a file is named in this baseline."""
        return locate(path, self.path)


class Comparison(Record):
    """A baseline against what is found today."""

    known: tuple[Entry, ...]
    """Still found, with the count of today (at most that of the baseline)."""
    new: tuple[Entry, ...]
    """Found, but not accepted; `count` is how many more than the baseline has."""
    stale: tuple[Entry, ...]
    """Accepted, but not found any more; `count` is how many fewer."""
    unseen: tuple[Entry, ...]
    """In files, or of rules, that were not looked at."""


def locate(path: str, baseline: str) -> str:
    """A path as seen from the folder of the baseline file. Where a link leads to either of them, both are followed."""
    folder, target = os.path.dirname(os.path.abspath(baseline)), os.path.abspath(path)
    try:
        relative = os.path.relpath(target, folder)
        if relative.startswith(os.pardir):
            resolved = os.path.relpath(os.path.realpath(target), os.path.realpath(folder))
            relative = resolved if not resolved.startswith(os.pardir) else relative
    except ValueError:  # another drive
        relative = target
    return relative.replace(os.sep, "/")


def parse_baseline(document: Any, path: str) -> Baseline:
    """Raises DoctorError: it is no baseline, or one that this version can't read."""

    def refuse(reason: str) -> DoctorError:
        return DoctorError(
            "usage", f"{path} is no baseline: {reason}; remove it and write it anew with: amplifier-doctor baseline PATH", path
        )

    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise refuse("it has no list of findings")
    if document.get("schema_version") != SCHEMA_VERSION or document["schema_version"] is True:
        raise refuse(f"schema_version {document.get('schema_version')!r} is not {SCHEMA_VERSION}")
    if document.get("fingerprints") != VERSION:
        raise refuse(f"its fingerprints are {document.get('fingerprints')!r}, this version makes {VERSION!r}")
    entries = []
    for number, row in enumerate(document["findings"], 1):
        fields = [row.get(name) for name in ("path", "code", "fingerprint", "count", "message")] if isinstance(row, dict) else []
        if (
            not fields
            or not all(isinstance(field, str) for field in (*fields[:3], fields[4]))
            or type(fields[3]) is not int
            or fields[3] < 1
        ):
            raise refuse(f"finding {number} lacks a path, code, fingerprint, count or message")
        entries.append(Entry(*fields))
    counts = count_entries(entries)
    return Baseline(path, tuple({entry.key: entry._replace(count=counts[entry.key]) for entry in entries}.values()))


def write_baseline(entries: Iterable[Entry], tool_version: str) -> str:
    """As JSON, sorted, one finding a line: a change is read in a diff."""
    import json

    head = {"schema_version": SCHEMA_VERSION, "tool_version": tool_version, "fingerprints": VERSION}
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    rows = [f"    {json.dumps(entry._asdict())}" for entry in sorted(entries)]
    return "\n".join(["{", *lines, '  "findings": [', *([",\n".join(rows)] if rows else []), "  ]", "}"]) + "\n"


def apply_baseline(
    file: FileReport, baseline: Baseline, lowest: Severity = Severity.WARNING, counts: Mapping[tuple[str, str], int] | None = None
) -> FileReport:
    """The report with its accepted findings set apart: of each kind so many as the baseline has, the first ones. Findings below `lowest`
    need no acceptance and stay where they are. `counts` spares counting the entries again for every file."""
    accepted = count_entries(baseline.entries) if counts is None else counts
    place = baseline.locate(file.path)
    left: dict[str, int] = {}
    kept: list[Diagnostic] = []
    apart: list[Diagnostic] = []
    for found in file.diagnostics:
        if found.severity.rank < lowest.rank:
            kept.append(found)
            continue
        mark = fingerprint(found)
        left.setdefault(mark, accepted.get((place, mark), 0))
        (apart if left[mark] > 0 else kept).append(found)
        left[mark] -= 1
    return file._replace(diagnostics=tuple(kept), accepted=tuple(apart)) if apart else file


def choose_lowest(fail_on: Severity | None) -> Severity:
    """From which severity on findings are accepted: warnings always, since they are worth a look; information where it fails."""
    return min(Severity.WARNING, fail_on or Severity.WARNING, key=lambda severity: severity.rank)


def count_entries(entries: Iterable[Entry]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        counts[entry.key] += entry.count
    return counts


def collect_entries(files: Iterable[FileReport], baseline: str, lowest: Severity) -> list[Entry]:
    """What a baseline in the file `baseline` has to hold to accept all findings at or above a severity."""
    counts: Counter[Entry] = Counter()
    for file in files:
        place = locate(file.path, baseline)
        for found in (*file.diagnostics, *file.accepted):
            if found.severity.rank >= lowest.rank:
                counts[Entry(place, found.code, fingerprint(found), 0, normalise(found.message))] += 1
    return [entry._replace(count=count) for entry, count in counts.items()]


def count_known(file: FileReport, place: str, counts: Mapping[tuple[str, str], int]) -> int:
    """How many of a file's findings a baseline with these counts has, whether they need acceptance in this run or not."""
    marks = Counter(map(fingerprint, (*file.diagnostics, *file.accepted)))
    return sum(min(number, counts.get((place, mark), 0)) for mark, number in marks.items())


def compare_entries(
    baseline: Sequence[Entry], today: Sequence[Entry], speaks_for: Callable[[Entry], bool], found: Sequence[Entry] | None = None
) -> Comparison:
    """`today`: what needs acceptance. `found`: all that is found, where that is more; what a stricter gate has accepted is not gone as long
    as it is found. `speaks_for`: whether `found` would hold an entry if its finding were still there: its file was looked at, with its
    rule."""
    found = today if found is None else found
    before, now = count_entries(baseline), count_entries(found)

    def subtract(entries: Iterable[Entry], other: Counter[tuple[str, str]]) -> tuple[Entry, ...]:
        return tuple(entry._replace(count=rest) for entry in entries if (rest := entry.count - other[entry.key]) > 0)

    return Comparison(
        known=tuple(entry._replace(count=count) for entry in found if (count := min(entry.count, before[entry.key])) > 0),
        new=subtract(today, before),
        stale=subtract(filter(speaks_for, baseline), now),
        unseen=tuple(entry for entry in baseline if not speaks_for(entry) and entry.key not in now),
    )


def take_over(known: Iterable[Entry], today: Iterable[Entry]) -> tuple[Entry, ...]:
    """What is accepted once both what was and what is found are: of each kind the higher count."""
    entries = {entry.key: entry for entry in known}
    for entry in today:
        if entry.key not in entries or entry.count > entries[entry.key].count:
            entries[entry.key] = entry
    return tuple(entries.values())
