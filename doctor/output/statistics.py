"""The table of `--statistics`: how often each code was found."""

from __future__ import annotations

from doctor.output.summary import Totals
from doctor.output.text import count_of


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
