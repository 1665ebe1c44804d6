"""Where output goes: results to stdout, everything else to stderr, and what the terminal and the environment say about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from doctor.errors import DoctorError
from doctor.findings import Failure, Report
from doctor.output.options import Options
from doctor.output.text import neutralise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

PLAIN_WIDTH = 100
"""Columns where there is no terminal to ask: what a CI log shows without wrapping."""


def wants_color(stream: TextIO, choice: bool | None, environment: Mapping[str, str]) -> bool:
    """`--color` and `--no-color` win; then NO_COLOR (no-color.org: set and not empty); then whether a person is looking."""
    if choice is not None:
        return choice
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def measure_width(stream: TextIO) -> int:
    """Columns of the terminal behind a stream."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or PLAIN_WIDTH
    except (OSError, ValueError):
        return PLAIN_WIDTH


def say_failures(failures: Iterable[Failure]) -> None:
    """One line each on stderr."""
    for failure in failures:
        say_error(failure.message)


def say_error(message: str) -> None:
    line = "amplifier-doctor: " + neutralise(" ".join(message.split()))
    print(line, file=sys.stderr)


def print_report(report: Report, format: str, color: bool | None, options: Options, code: int) -> int:
    """Writes the report to stdout and its failures to stderr; returns the exit code.

    A reader that leaves early (`| head`) is no failure: the code stays what the report says.
    """
    from doctor.output.reporters import find_reporter

    reporter = find_reporter(format)
    if not options.excerpt:
        from doctor.output.privacy import hide_contents

        report = hide_contents(report)
    stdout = require_stdout()
    options = options._replace(color=wants_color(stdout, color, os.environ), width=measure_width(stdout))
    try:
        reporter(report, stdout, options)
        stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    say_failures(report.errors)
    return code


def print_text(text: str) -> int:
    """Writes plain text to stdout; returns exit code 0, also when the reader left early."""
    stdout = require_stdout()
    try:
        stdout.write(text if text.endswith("\n") else text + "\n")
        stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    return 0


def silence_stdout() -> None:
    """The reader of a pipe left: what is still buffered goes nowhere, or the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require_stdout() -> TextIO:
    """Standard output, which a caller may have closed, told not to stop at characters that its encoding lacks."""
    if sys.stdout is None:
        raise DoctorError("usage", "standard output is closed; there is nowhere to write the report")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return sys.stdout
