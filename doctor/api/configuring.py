"""Configurations for programs and commands: `load_settings` reads one, a `Course` is one run under it.

from doctor import check, load_settings, use_settings

report = check("recordings", **use_settings(load_settings(".")))
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from doctor.analysis.registry import load_rules
from doctor.api.reading import STDIN
from doctor.errors import DoctorError
from doctor.findings import FileReport, Severity
from doctor.settings.baselines import Baseline, apply_baseline, choose_lowest, count_entries, count_known, parse_baseline
from doctor.settings.choosing import Choice
from doctor.settings.judging import judge_settings
from doctor.settings.model import Settings, Tuning
from doctor.settings.selecting import choose_codes, restamp
from doctor.sources.configuration import Configuration, find_configuration, read_configuration, read_document
from doctor.sources.siblings import TRANSCRIPT
from doctor.sources.walking import PATTERN, expand_file, walk_files, walk_transcripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOTH = "include and exclude"


def load_settings(start: str | os.PathLike[str] = ".", *, file: str | os.PathLike[str] | None = None) -> Settings:
    """The settings of the nearest configuration in `start` or above it, or those of `file`; empty ones where there is none.

    Raises DoctorError: a configuration can't be read, or holds an unknown key, a wrong type or an unknown code.
    """
    found = find_configuration(os.path.abspath(start)) if file is None else read_configuration(os.path.abspath(file))
    return settle_settings(found)


def settle_settings(found: Configuration | None) -> Settings:
    """Empty ones where there is no configuration."""
    if found is None:
        return Settings()
    return judge_settings(
        found.values,
        load_rules(),
        file=_shorten(found.path),
        table=found.table,
        folder=os.path.dirname(found.path),
        shadowed=_shorten(found.shadowed) if found.shadowed else "",
    )


def _shorten(path: str) -> str:
    """A path as people like to read it: as seen from here where it lies below, or not far above."""
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):
        return path
    return relative if len(relative) < len(path) else path


def load_baseline(path: str) -> Baseline:
    """Raises DoctorError: there is no such file, or it is no baseline."""
    document = read_document(path)
    if document is None:
        raise DoctorError("usage", f"there is no baseline {path}; write one with: amplifier-doctor baseline PATH")
    return parse_baseline(document, path)


def use_settings(settings: Settings) -> dict[str, Any]:
    """The arguments of `check` or `fix` that follow from a configuration."""
    baseline = load_baseline(settings.baseline) if settings.baseline else None
    codes = choose_codes(load_rules(), settings, (), (), ())
    return {"select": codes, "wires": settings.wires, "course": Course(settings, baseline)}


class Course:
    """One run under a configuration: which files it takes, what becomes of the reports, and which settings came to nothing."""

    def __init__(
        self, settings: Settings, baseline: Baseline | None = None, *, fail_on: Severity | None = None, force_exclude: bool = False
    ) -> None:
        self.settings = settings
        self.lowest = choose_lowest(fail_on or settings.fail_on)
        """The severity from which on a finding needs acceptance."""
        self.baseline = baseline
        self.accepted = 0
        """How many findings the baseline has accepted."""
        self._known = 0
        """As many, and those that it has although they need no acceptance in this run."""
        self._force_exclude = force_exclude
        self._choice = Choice(settings)
        self._counts = count_entries(baseline.entries) if baseline is not None else Counter()
        self._looked_at: set[str] = set()
        self._taken = self._left_out = 0
        """Transcripts that walks took, and that the configuration kept from them."""

    @property
    def tuning(self) -> Tuning:
        return self.settings.tuning

    def find(self, path: str, stores: Sequence[str]) -> Iterator[str]:
        """The transcripts that a path names, as `walk_transcripts` gives them; a walk leaves out what the configuration says.

        Raises DoctorError: nothing is there, or nothing is left of a folder.
        """
        choice = self._choice
        if os.path.isfile(path):
            is_skipped = self._force_exclude and choice.skips(os.path.abspath(path))
            self._left_out += is_skipped
            self._taken += not is_skipped
            yield from () if is_skipped else expand_file(path)
            return
        if not os.path.isdir(path) and not any(sign in path for sign in PATTERN):
            yield from walk_transcripts(path, stores)
            return
        taken: set[str] = set()
        left_out = 0
        is_walk = os.path.isdir(path)
        if is_walk:
            choice.walked.append(os.path.abspath(path))
            for one in self._find_named(path):
                taken.add(one)
                yield one
        by_name = bool(taken)
        try:
            for one in walk_transcripts(path, stores):
                # Of a session that was never saved only the place is known; where files are taken by name, an event log makes no session.
                if by_name and os.path.basename(one) == TRANSCRIPT and not os.path.lexists(one):
                    continue
                if one in taken:
                    continue
                if choice.takes(os.path.abspath(one)):
                    taken.add(one)
                    yield one
                else:
                    left_out += 1
        except DoctorError:
            # A folder may hold none of the usual names, but files that `include` asks for.
            if not taken:
                raise
        self._count_walk(path, len(taken), left_out)

    def _count_walk(self, path: str, taken: int, left_out: int) -> None:
        """Raises DoctorError: nothing is left of a folder."""
        if not taken and not self._force_exclude:
            count = "the only transcript" if left_out == 1 else f"all {left_out:,} transcripts"
            verb = "leaves" if self._name_choosers() != BOTH else "leave"
            raise DoctorError("usage", f"{self._name_choosers()} in {self.settings.file} {verb} out {count} under {path}", path)
        self._taken += taken
        self._left_out += left_out

    def _find_named(self, folder: str) -> Iterator[str]:
        """The files of a folder that `include` asks for by name, whatever they are called."""
        choice = self._choice
        for file in walk_files(folder, choice.skips, choice.asks_for) if choice.asks_for_names else ():
            # A session of a database that is asked for by its name may be left out by its own.
            yield from (one for one in expand_file(file) if one == file or not choice.skips(os.path.abspath(one)))

    def finish(self, file: FileReport) -> FileReport:
        """The report with the configured severities, and with what the baseline accepts set apart."""
        self._choice.note(file.path)
        file = restamp(file, self.settings.severity)
        if self.baseline is None or file.path == STDIN:
            return file
        file = apply_baseline(file, self.baseline, self.lowest, self._counts)
        self.accepted += len(file.accepted)
        place = self.baseline.locate(file.path)
        self._known += count_known(file, place, self._counts)
        self._looked_at.add(place)
        return file

    def _name_choosers(self) -> str:
        """What keeps transcripts from a walk."""
        return BOTH if self.settings.include and self.settings.exclude else "include" if self.settings.include else "exclude"

    def describe_left_out(self) -> str:
        """How many transcripts the configuration kept from the walks, as a line for people; "" for none."""
        if not self._left_out:
            return ""
        name = self._name_choosers()
        key = self.settings.file if name == BOTH else self.settings.name_key(name)
        said = f"{key}: {name} leave" if name == BOTH else f"{key}: leaves"
        total = self._taken + self._left_out
        return f"{said} out {self._left_out:,} of {total:,} transcript{'s' if total > 1 else ''}"

    def list_idle(self) -> list[str]:
        """Settings that came to nothing, one line for people each."""
        idle = [f"{self.settings.name_key(key)}: no rule that is in force" for key in self.settings.idle]
        return idle + [f'{self.settings.name_key(key)}: "{pattern}" matches no file' for key, pattern in self._choice.list_idle()]

    def count_stale(self, codes: Iterable[str]) -> int:
        """How many accepted findings of the rules `codes` are found no more, in the files that were looked at."""
        if self.baseline is None:
            return 0
        known = set(codes)
        entries = (entry for entry in self.baseline.entries if entry.path in self._looked_at and entry.code in known)
        return max(0, sum(entry.count for entry in entries) - self._known)
