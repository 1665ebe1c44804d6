"""The table of `--statistics`: how often each code was found."""

from __future__ import annotations

from doctor.output.summary import Summary
from doctor.output.text import count_of


def list_statistics(summary: Summary) -> list[str]:
    """One line per code, the most frequent first, as plain text columns."""
    if not summary.codes:
        return []
    width = max(len(f"{entry.count:,}") for entry in summary.codes)
    names = max(len(entry.name) for entry in summary.codes)
    return [
        f"{entry.count:>{width},}  {entry.code}  {entry.severity.value:<7}  {entry.name:<{names}}  in {count_of(entry.files, 'file')}"
        + (f", {count_of(entry.safe_fixes, 'safe fix')}" if entry.safe_fixes else "")
        for entry in summary.codes
    ]
