"""Tries again until a session is quiet. Reads no clock of its own: the caller passes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from doctor.findings import Failure, FileReport

SHORTEST_PAUSE = 0.02
LONGEST_PAUSE = 5.0
BUSY = ("live", "changed")
"""Kinds of failure that say that somebody else is, or was, at work; nothing was written then."""

Attempt = Callable[[], tuple[FileReport, list[Failure]]]


def repeat_while_busy(
    attempt: Attempt, seconds: float, clock: Callable[[], float], pause: Callable[[float], None]
) -> tuple[FileReport, list[Failure]]:
    """The outcome of the first attempt that found the session quiet, or of the last one when `seconds` have passed.

    An attempt reads and plans anew, so the pauses grow with what it takes.
    """
    end = clock() + seconds
    while True:
        begin = clock()
        file, failures = attempt()
        left = end - clock()
        if left <= 0 or not is_busy(file, failures):
            return file, failures
        pause(min(left, LONGEST_PAUSE, max(SHORTEST_PAUSE, clock() - begin)))


def is_busy(file: FileReport, failures: Iterable[Failure]) -> bool:
    return file.verdict == "live" or any(failure.kind in BUSY for failure in failures)
