"""What several commands share: how options become the arguments of `doctor.api`. No typer here: the fast path comes through."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, Severity
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILES_PER_COLLECTION = 100
"""The collector is off (see `doctor.cli.main`): what a session leaves behind in circles, some 5 KB, is taken away after so many of them."""


class Scope(Record):
    """What to look at, and with which rules."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    events: str | bool | None = None
    as_request: bool = False
    wires: tuple[str, ...] = ()
    model: str = ""
    host: str = ""


class Display(Record):
    """How to show it: each format with the file that it goes to, "" for standard output. `color`: None lets the terminal decide."""

    formats: tuple[tuple[str, str], ...] = (("human", ""),)
    excerpt: bool = True
    color: bool | None = None
    statistics: bool = False
    quiet: bool = False

    @property
    def spells(self) -> bool:
        """Whether a format is among them that spells fixes out, which costs a second look at the rows."""
        return self.excerpt and any(format == "sarif" for format, _ in self.formats)


class Gate(Record):
    """When the exit code is 1. `fail_on`: None leaves it to the configuration, and is a warning without one."""

    fail_on: Severity | None = None
    exit_zero: bool = False


def make_scope(
    select: Sequence[str],
    ignore: Sequence[str],
    events: str | None,
    no_events: bool,
    as_request: bool,
    wires: Sequence[str] = (),
    model: str = "",
    host: str = "",
) -> Scope:
    """Raises DoctorError: --events and --no-events together, or an events file that is not there."""
    if events is not None and no_events:
        raise DoctorError("usage", "--events and --no-events exclude each other; leave one out")
    if events is not None and not os.path.isfile(events):
        raise DoctorError("usage", f"--events: there is no file {events}")
    aimed = split_selectors(wires)
    return Scope(split_selectors(select), split_selectors(ignore), False if no_events else events, as_request, aimed, model, host)


def locate_here() -> str | None:
    """The folder that we stand in, None where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return None


def split_formats(values: Sequence[str], output_file: str | None) -> tuple[tuple[str, str], ...]:
    """(format, file) of `human`, `sarif:out.sarif` and so on; `output_file` is the file of the one that names none.

    Raises DoctorError: there is no such format, or two of them would go to one place.
    """
    from doctor.output.reporters import FORMATS

    chosen = []
    for value in values or ["human"]:
        format, colon, path = value.partition(":")
        if format not in FORMATS:
            raise DoctorError("usage", f"--format: {format!r} is not one of {', '.join(FORMATS)}; see --help")
        if colon and not path:
            raise DoctorError("usage", f"--format {value}: name the file behind the colon, or leave the colon out")
        chosen.append((format, "" if path == "-" else path))
    if output_file is not None:
        if not any(not path for _, path in chosen):
            raise DoctorError("usage", f"--output-file: every --format has a file already; leave out one of them, or {output_file}")
        chosen = [(format, path or ("" if output_file == "-" else output_file)) for format, path in chosen]
    places = [_name_place(path) for _, path in chosen]
    for place in places:
        if place and places.count(place) > 1:
            raise DoctorError("usage", f"two formats would go to {place}; give each a file of its own, such as --format sarif:out.sarif")
    return tuple(chosen)


def _name_place(path: str) -> str:
    """Where a report goes; the same for all names of standard output, and of one file. "" for nowhere, where any number may go."""
    from contextlib import suppress

    if not path:
        return "standard output"
    if os.path.realpath(path) == os.devnull:
        return ""
    with suppress(OSError, ValueError, AttributeError):
        if len({(status.st_dev, status.st_ino) for status in (os.stat(path), os.fstat(sys.stdout.fileno()))}) == 1:
            return "standard output"
    return os.path.realpath(path)


def split_selectors(values: Sequence[str]) -> tuple[str, ...]:
    """`AD3,torn-line` and repeated options alike."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def repeat_options(scope: Scope) -> tuple[str, ...]:
    """The options that a suggested command has to carry to see the same session."""
    words = ["--as-request"] if scope.as_request else []
    for option, selectors in (("--select", scope.select), ("--ignore", scope.ignore)):
        words += [option, ",".join(selectors)] if selectors else []
    for wire in scope.wires:
        words += ["--for", wire]
    for option, value in (("--model", scope.model), ("--host", scope.host)):
        words += [option, value] if value else []
    if isinstance(scope.events, str):
        words += ["--events", scope.events]
    return (*words, "--no-events") if scope.events is False else tuple(words)


def read_jobs(text: str) -> int:
    """How many processes: a number, 0 for `auto`. Raises DoctorError for anything else."""
    if text.strip().lower() == "auto":
        return 0
    from doctor.settings.schema import MOST_JOBS

    if not text.strip().isdecimal() or not 0 < int(text) <= MOST_JOBS:
        raise DoctorError("usage", f"--jobs takes auto or a number from 1 to {MOST_JOBS}, not {text!r}")
    return int(text)


def read_cache(no_cache: bool, folder: str) -> str | None:
    """The folder of remembered verdicts, None for the usual one, "" for none. Raises DoctorError: both options are given."""
    if no_cache and folder:
        raise DoctorError("usage", "--no-cache and --cache-dir exclude each other; leave one out")
    return "" if no_cache else folder or None


def read_targets(paths: Sequence[str]) -> list[str | bytes]:
    """The paths, with `-` replaced by what standard input holds."""
    return [read_stdin() if path == "-" else path for path in paths]


def read_stdin() -> bytes:
    if sys.stdin is None:
        raise DoctorError("usage", "standard input is closed, but - reads the transcript from it")
    return sys.stdin.buffer.read()


def watch_log() -> Callable[[int, int], None] | None:
    """Draws how far a large event log is read, for whoever sits before the terminal; None where nobody does."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    bars: list[Callable[[int, int], None]] = []

    def show(done: int, total: int) -> None:
        if not bars:
            import time

            from doctor.output.progress import make_progress
            from doctor.output.survey import write_size

            bars.append(make_progress(sys.stderr, time.monotonic, label="reading the event log ", write=write_size))
        bars[0](done, total)

    return show


def report(
    outcomes: Iterable[tuple[FileReport | None, tuple[Failure, ...]]], display: Display, gate: Gate, *, pending: bool = False, **more: Any
) -> int:
    """Shows one outcome after the other and forgets it; returns the exit code, which does not depend on how they are shown.

    `more` are fields of output's Options.
    """
    from doctor.cli.streams import open_reporters
    from doctor.output.options import Options
    from doctor.output.summary import Totals, choose_exit_code

    totals = Totals()
    fail_on = gate.fail_on or Severity.WARNING
    options = Options(excerpt=display.excerpt, statistics=display.statistics, fail_on=fail_on, **more)
    outlets = open_reporters(display.formats, display.color, display.quiet, options)
    try:
        for number, (file, failures) in enumerate(outcomes, 1):
            if not number % FILES_PER_COLLECTION:
                gc.collect(0)
            if file is not None:
                totals.add(file)
                outlets.add(file)
            for failure in failures:
                totals.fail(failure)
                outlets.fail(failure)
        outlets.finish(totals)
    except BaseException:
        outlets.discard()
        raise
    return choose_exit_code(totals, fail_on=fail_on, exit_zero=gate.exit_zero, pending=pending)
