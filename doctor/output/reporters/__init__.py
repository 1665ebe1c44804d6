"""One format a file. A reporter is handed one file after the other, keeps none of them, and writes only to the stream that it is given."""

from __future__ import annotations

import io
from collections.abc import Callable

from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, Report
from doctor.output.options import Options
from doctor.output.summary import Totals, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

FORMATS = ("human", "concise", "json", "jsonl", "sarif", "github", "junit", "markdown")


class Reporter:
    """What every format does: `begin`, then `add` and `fail` in any order, then `finish`.

    `open_spool` makes a text file for formats whose first lines need what the last session says. Whoever hands it in closes the files.
    """

    def __init__(self, stream: TextIO, options: Options, open_spool: Callable[[], TextIO] = io.StringIO) -> None:
        self.stream = stream
        self.options = options
        self.open_spool = open_spool

    def begin(self) -> None:
        """Called once, when the run is known to be possible."""

    def add(self, file: FileReport) -> None:
        raise NotImplementedError

    def fail(self, failure: Failure) -> None:
        """A path that could not be judged or written. Its message goes to standard error anyway."""

    def finish(self, totals: Totals) -> None:
        """Called once, unless the run was interrupted."""


def find_reporter(name: str) -> type[Reporter]:
    """The reporter of a format; imported here, so that a run pays only for the one it uses.

    Raises DoctorError: there is no such format.
    """
    if name not in FORMATS:
        raise DoctorError("usage", f"{name!r} is not one of {', '.join(FORMATS)}")
    from importlib import import_module

    reporter: type[Reporter] = import_module(f"doctor.output.reporters.{name}").REPORTER
    return reporter


def write_report(name: str, report: Report, stream: TextIO, options: Options) -> None:
    """A whole report in one format, for programs that hold one already."""
    reporter = find_reporter(name)(stream, options)
    reporter.begin()
    for file in report.files:
        reporter.add(file)
    for failure in report.errors:
        reporter.fail(failure)
    reporter.finish(total(report))
