"""Where output goes: results to stdout, everything else to stderr, and what the terminal and the environment say about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport
from doctor.output.options import Options
from doctor.output.text import neutralise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from doctor.cli.files import ReportFile, Spools
    from doctor.output.reporters import Reporter
    from doctor.output.summary import Totals

PLAIN_WIDTH = 100
"""Columns where there is no terminal to ask: what a CI log shows without wrapping."""


def wants_color(stream: TextIO, choice: bool | None, environment: Mapping[str, str]) -> bool:
    """`--color` and `--no-color` win; then NO_COLOR (no-color.org: set and not empty); then whether a person is looking."""
    if choice is not None:
        return choice
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def measure_width(stream: TextIO, environment: Mapping[str, str]) -> int:
    """Columns of the terminal behind a stream; COLUMNS wins, as everywhere."""
    named = environment.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(stream.fileno()).columns or PLAIN_WIDTH
    except (OSError, ValueError):
        return PLAIN_WIDTH


def measure_prose() -> int | None:
    """Columns that prose on standard output may take; None where no person looks at it and COLUMNS says nothing: then no line is broken."""
    from doctor.output.prose import WIDEST

    stdout = require_stdout()
    return min(measure_width(stdout, os.environ), WIDEST) if stdout.isatty() or os.environ.get("COLUMNS") else None


def say_failures(failures: Iterable[Failure]) -> None:
    """One line each on stderr."""
    for failure in failures:
        say_error(failure.message)


def say_error(message: str) -> None:
    """One line on standard error. Where that is closed or full nobody can be told; the exit code still says it."""
    if sys.stderr is None:
        return  # print() would take standard output instead, where it would stand in the middle of a report
    with suppress(OSError):
        print("amplifier-doctor: " + neutralise(" ".join(message.split())), file=sys.stderr, flush=True)


class Outlets:
    """All formats of a run on their way out. They are handed one file after the other; failures go to standard error as well.

    `begin` waits for the first outcome: a run that turns out to be impossible leaves nothing behind.
    """

    def __init__(
        self, reporters: list[Reporter], excerpt: bool, files: list[ReportFile], spools: Spools | None = None, is_silent: bool = False
    ) -> None:
        self.reporters = reporters
        self.files = files
        self.spools = spools
        self.excerpt = excerpt
        self.is_silent = is_silent
        """Nothing goes to standard output although nobody asked for quiet: one line says where it went."""
        self.has_begun = False

    def add(self, file: FileReport) -> None:
        for target in self.files:
            target.spare((file.path, file.events_path, *((file.fix.written,) if file.fix is not None else ())))
        if not self.excerpt:
            from doctor.output.privacy import hide_contents

            file = hide_contents(file)
        self._tell(lambda reporter: reporter.add(file))

    def fail(self, failure: Failure) -> None:
        for target in self.files:
            target.spare((failure.path,))
        self._tell(lambda reporter: reporter.fail(failure))
        say_error(failure.message)

    def finish(self, totals: Totals) -> None:
        def end(reporter: Reporter) -> None:
            reporter.finish(totals)
            reporter.stream.flush()

        self._tell(end)
        for target in self.files:
            target.commit()
        if self.spools is not None:
            self.spools.close()
        if self.is_silent:
            from doctor.output.reporters.human import describe_totals

            options = self.reporters[0].options
            say_error(f"{describe_totals(totals, options)}; written to {', '.join(target.path for target in self.files)}")

    def discard(self) -> None:
        """Takes away what is half written."""
        for target in self.files:
            target.discard()
        if self.spools is not None:
            self.spools.close()

    def _tell(self, step: Callable[[Reporter], None]) -> None:
        if not self.has_begun:
            self.has_begun = True
            self._tell(lambda reporter: reporter.begin())
        for reporter in list(self.reporters):
            try:
                step(reporter)
            except BrokenPipeError:
                # A reader that leaves early (`| head`) is no failure: the exit code stays what the run says.
                silence_stdout()
                self.reporters.remove(reporter)
            except OSError as error:
                name = next((target.path for target in self.files if target.stream is reporter.stream), "the report")
                raise DoctorError("unwritable", f"can't write {name}: {error.strerror or error}") from error


def open_reporters(formats: Sequence[tuple[str, str]], color: bool | None, quiet: bool, options: Options) -> Outlets:
    """Opens every place that a format goes to before anything is judged. With `quiet` nothing goes to standard output.

    Raises DoctorError: a file can't be written, or standard output is closed.
    """
    from doctor.output.reporters import find_reporter

    if formats == (("human", ""),):
        # The plain case, which is to start fast: no folder to name places from, no files.
        return Outlets([] if quiet else [find_reporter("human")(*_open_stdout(color, options))], options.excerpt, [])
    from doctor.cli.files import ReportFile, Spools

    reporters: list[Reporter] = []
    files: list[ReportFile] = []
    spools = Spools()
    try:
        for format, path in formats:
            if path:
                files.append(ReportFile(path))
                settled = options._replace(color=wants_color(files[-1].stream, color, os.environ), width=PLAIN_WIDTH, folder=os.getcwd())
                reporters.append(find_reporter(format)(files[-1].stream, settled, spools.open))
            elif not quiet:
                stream, settled = _open_stdout(color, options)
                reporters.append(find_reporter(format)(stream, settled._replace(folder=os.getcwd()), spools.open))
    except BaseException:
        for target in files:
            target.discard()
        raise
    return Outlets(reporters, options.excerpt, files, spools, is_silent=len(files) == len(formats) and not quiet)


def _open_stdout(color: bool | None, options: Options) -> tuple[TextIO, Options]:
    stdout = require_stdout()
    return stdout, options._replace(color=wants_color(stdout, color, os.environ), width=measure_width(stdout, os.environ))


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
