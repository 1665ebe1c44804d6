"""The command line. `main` is the only place where an exception becomes an exit code.

`check PATH…` without options, by far the most frequent call, goes straight to its command: building the typer application alone costs
seven times a bare interpreter's start.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FAILED, INTERRUPTED = 2, 130

Job = Callable[[], int]


def run() -> NoReturn:
    """The console script. It leaves without tearing the interpreter down: freeing a large transcript's views one by one, and then every
    module, takes a tenth of a check. All files that matter are written and synced by then; only the streams are to be flushed.
    """
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    databases = sys.modules.get("doctor.sources.formats.opencode.database")
    if databases is not None:
        databases.close_databases()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code: 0 clean, 1 findings, 2 could not do the job, 130 interrupted."""
    # A run makes many small tuples and no cycles, and ends soon: the collector would only count them (a fifth of the time on 200 MB).
    gc.disable()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        job = _find_fast_job(words) or _parse(words)
        return job() if callable(job) else job
    except KeyboardInterrupt as interrupt:
        _let_go(interrupt)
        return _stop("interrupted; nothing was left half written", INTERRUPTED)
    except Exception as error:
        return _report(error, words)


def _find_fast_job(words: Sequence[str]) -> Job | None:
    """`check` with paths only. A word that starts with a dash, unless it is the dash itself, needs the real parser."""
    if len(words) < 2 or words[0] != "check" or any(word.startswith("-") and word != "-" for word in words):
        return None
    from doctor.cli.commands.check import run_check

    return lambda: run_check(words[1:])


def _parse(words: Sequence[str]) -> Job | int:
    """The job that the words ask for, or an exit code where the parser did all there was to do (`--help`)."""
    from doctor.cli.app import parse

    return parse(words)


def _report(error: Exception, words: Sequence[str]) -> int:
    from doctor.cli.streams import say_error
    from doctor.errors import DoctorError

    if "--debug" in words:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, DoctorError):
        say_error(error.message)
    elif isinstance(error, OSError):
        say_error(f"{error.filename or 'output'}: {error.strerror or error}")
    else:
        hint = "" if "--debug" in words else "; --debug shows where"
        say_error(f"internal error, please report it: {type(error).__name__}: {error}{hint}")
    return FAILED


def _let_go(interrupt: KeyboardInterrupt) -> None:
    """Frees what was at work when the interrupt came. A thing that was half built then complains of it in its own clean-up (a spooled
    temporary file does), and nobody can do anything about that."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: None
    interrupt.__traceback__ = interrupt.__context__ = None
    sys.unraisablehook = hook


def _stop(message: str, code: int) -> int:
    from doctor.cli.streams import say_error

    say_error(message)
    return code
