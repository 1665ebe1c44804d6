"""The settings of a run, as a configuration or its absence gives them."""

from __future__ import annotations

from doctor.findings import Severity
from doctor.records import Record

OptionValue = bool | int | str | tuple[str, ...]


class Tuning(Record):
    """What changes the judgement of single files, beside the selected rules. Plain values, so that it can cross processes.

    `repr(tuning)` is the same in every run with the same settings: good as a part of a cache's key.
    """

    folder: str = ""
    """What patterns are relative to."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(pattern, codes) in the order of the file."""
    options: tuple[tuple[str, tuple[tuple[str, OptionValue], ...]], ...] = ()
    """(code, ((option, value), …)), sorted."""


class Settings(Record):
    """All keys of a configuration. Selectors are as written; `severity` and `per_file_ignores` name codes."""

    file: str = ""
    """The configuration, "" where none is in force."""
    table: str = ""
    """The table that holds it, "tool.amplifier-doctor" or "" for the whole file."""
    shadowed: str = ""
    """A configuration in the same folder that this one hides."""
    given: tuple[str, ...] = ()
    """The keys that the file sets."""
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    wires: tuple[str, ...] = ()
    fail_on: Severity | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: str = ""
    """The path of the file, made absolute; "" for none."""
    jobs: int | None = None
    """How many processes, 0 for "auto"; None where nobody says."""
    tuning: Tuning = Tuning()
    idle: tuple[str, ...] = ()
    """Settings that come to nothing whatever is checked, as keys."""

    @property
    def folder(self) -> str:
        """What paths of the configuration are relative to; absolute, "" without one."""
        return self.tuning.folder

    def name_key(self, *keys: str) -> str:
        """Where a key stands, for people: `pyproject.toml: tool.amplifier-doctor.severity`."""
        return f"{self.file}: {'.'.join(key for key in (self.table, *keys) if key)}"
