"""What several commands share: how options become the arguments of `doctor.api`. No typer here: the fast path comes through."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from doctor.errors import DoctorError
from doctor.findings import Report, Severity
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_JOBS = 256


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
    """How to show it. `color`: None lets the terminal decide."""

    format: str = "human"
    excerpt: bool = True
    color: bool | None = None
    statistics: bool = False
    quiet: bool = False


class Gate(Record):
    """When the exit code is 1."""

    fail_on: Severity = Severity.WARNING
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


def finish(report: Report, display: Display, gate: Gate, *, pending: bool = False, **more: Any) -> int:
    """Prints a report and returns the exit code, which does not depend on how it is printed. `more` are fields of output's Options."""
    from doctor.cli.streams import print_report, say_failures
    from doctor.output.options import Options
    from doctor.output.summary import choose_exit_code

    code = choose_exit_code(report, fail_on=gate.fail_on, exit_zero=gate.exit_zero, pending=pending)
    if display.quiet:
        say_failures(report.errors)
        return code
    options = Options(excerpt=display.excerpt, statistics=display.statistics, **more)
    return print_report(report, display.format, display.color, options, code)
