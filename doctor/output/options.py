"""What a reporter is told besides the report. All of it comes from the command line: reporters look at nothing else."""

from __future__ import annotations

from doctor.findings import Severity
from doctor.records import Record


class Options(Record):
    """How to report. `width` is in terminal cells; `carried` are the options that a suggested command has to repeat."""

    command: str = "check"
    excerpt: bool = True
    """Show what rows say. Without it no content of the transcript and no prompt is printed."""
    color: bool = False
    width: int = 100
    statistics: bool = False
    dry_run: bool = False
    show_diff: bool = False
    carried: tuple[str, ...] = ()
    fail_on: Severity = Severity.WARNING
    """The lowest severity that fails the run: what a test report shows as a failure."""
    folder: str = ""
    """The folder, absolute, that paths in reports for CI systems are relative to; "" leaves them as they are."""
