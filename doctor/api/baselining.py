"""`baseline`: accepts the findings of today, or says how what was accepted compares with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from doctor import __version__
from doctor.analysis.registry import load_rules
from doctor.errors import DoctorError
from doctor.findings import FileReport, Severity
from doctor.records import Record
from doctor.settings.baselines import Comparison, Entry, collect_entries, compare_entries, locate, parse_baseline, take_over, write_baseline
from doctor.sources.configuration import read_document


class Accepted(Record):
    """What became of a baseline. `entries`: what it holds now, or would hold; `created`: there was none before."""

    path: str
    comparison: Comparison
    entries: tuple[Entry, ...]
    created: bool
    written: bool


def accept(
    files: Iterable[FileReport],
    path: str,
    *,
    codes: Sequence[str],
    lowest: Severity = Severity.WARNING,
    update: bool = False,
    prune: bool = False,
) -> Accepted:
    """Accepts all findings at or above `lowest` in the reports of a check by the rules `codes`.

    A baseline that is not there yet is written. One that is there is compared with the reports; `update` takes new findings in and stale
    ones out, `prune` only takes out. Entries of files or rules that the reports say nothing about stay, unless they are
    gone.

    Raises DoctorError: the file is no baseline, or can't be read or written.
    """
    files = tuple(files)
    document = read_document(path)
    before = parse_baseline(document, path).entries if document is not None else ()
    looked_at, known_codes = {locate(file.path, path) for file in files}, set(codes)
    all_codes = {rule.code for rule in load_rules()}
    folder = os.path.dirname(os.path.abspath(path))

    def speaks_for(entry: Entry) -> bool:
        is_seen = entry.path in looked_at and entry.code in known_codes
        return is_seen or entry.code not in all_codes or not os.path.exists(os.path.join(folder, entry.path))

    today = collect_entries(files, path, lowest)
    comparison = compare_entries(before, today, speaks_for, collect_entries(files, path, Severity.INFO))
    if document is not None and not update and not prune:
        return Accepted(path, comparison, before, False, False)
    kept = comparison.known if prune and document is not None else take_over(comparison.known, today)
    entries = (*kept, *comparison.unseen)
    _write(path, write_baseline(entries, __version__))
    return Accepted(path, comparison, entries, document is None, True)


def _write(path: str, text: str) -> None:
    from doctor.repair.storage.creating import create_whole

    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise DoctorError("usage", f"can't write {path}: there is no such folder", path)
    create_whole(path, text.encode("ascii"), force=True)
