"""Shows how far a run over many sessions is: on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from doctor.output.progress import Progress


@contextmanager
def show_progress(wanted: bool = True) -> Iterator[Progress | None]:
    """Within it, what is told to the Progress is drawn on standard error; None where nobody would see it.

    Whatever is written to standard output or error meanwhile wipes the bar first: both may be the same terminal.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    import time

    from doctor.output.progress import Bar

    bar = Bar(sys.stderr, time.monotonic)
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_Wiping(stream, bar.wipe) if stream is not None else None for stream in streams)  # type: ignore[assignment]
    try:
        yield bar.show
    finally:
        sys.stdout, sys.stderr = streams
        bar.wipe()


class _Wiping:
    """A stream that calls `wipe` before each writing; in all else the stream behind it."""

    def __init__(self, stream: TextIO, wipe: Callable[[], None]) -> None:
        self._stream = stream
        self._wipe = wipe

    def write(self, text: str) -> int:
        self._wipe()
        return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        self._wipe()
        self._stream.writelines(lines)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
