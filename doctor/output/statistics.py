"""The tables of `--statistics`: how often each code was found, where the sessions came from, and what took longest."""

from __future__ import annotations

from doctor.findings import FileReport
from doctor.output.summary import Totals
from doctor.output.text import count_of, neutralise

MOST_SLOW = 5


def list_statistics(totals: Totals) -> list[str]:
    """One line per code, the most frequent first, as plain text columns."""
    codes = totals.list_codes()
    if not codes:
        return []
    width = max(len(f"{entry.count:,}") for entry in codes)
    names = max(len(entry.name) for entry in codes)
    return [
        f"{entry.count:>{width},}  {entry.code}  {entry.severity.value:<7}  {entry.name:<{names}}  in {count_of(entry.files, 'file')}"
        + (f", {count_of(entry.safe_fixes, 'safe fix')}" if entry.safe_fixes else "")
        for entry in codes
    ]


class Tally:
    """Counts files by system and remembers the few that took longest; nothing else is kept of them."""

    def __init__(self) -> None:
        self.systems: dict[str, tuple[int, int]] = {}
        """By format: how many files, and how many rows in them."""
        self.slowest: list[tuple[float, str]] = []

    def add(self, file: FileReport, seconds: float) -> None:
        name = file.format or "unknown format"
        files, rows = self.systems.get(name, (0, 0))
        self.systems[name] = (files + 1, rows + file.rows)
        if len(self.slowest) < MOST_SLOW or seconds > self.slowest[-1][0]:
            self.slowest = sorted([*self.slowest, (seconds, file.path)], key=lambda entry: -entry[0])[:MOST_SLOW]

    def list_lines(self) -> list[str]:
        """Plain text columns: systems, the most frequent first, then the slowest files if there are several."""
        if not self.systems:
            return []
        systems = sorted(self.systems.items(), key=lambda item: (-item[1][0], item[0]))
        width = max((len(f"{files:,}") for _, (files, _) in systems), default=0)
        names = max((len(name) for name, _ in systems), default=0)
        lines = ["systems"] + [f"  {files:>{width},}  {name:<{names}}  {count_of(rows, 'row')}" for name, (files, rows) in systems]
        if sum(files for files, _ in self.systems.values()) < 2:
            return lines
        return [*lines, "slowest", *(f"  {write_seconds(seconds):>6}  {neutralise(path)}" for seconds, path in self.slowest)]


def write_seconds(seconds: float) -> str:
    """`0.4 ms`, `73 ms`, `1.2 s`"""
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.1f} ms" if seconds < 0.00995 else f"{seconds * 1000:.0f} ms"
