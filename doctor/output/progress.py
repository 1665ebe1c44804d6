"""How far a long run has come: one line of a terminal, drawn over and over, and wiped at the end."""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

Progress = Callable[[int, int], None]
"""Is told what is done, and of how much."""


def draw_progress(done: int, total: int, width: int = 30, write: Callable[[int], str] = "{:,}".format) -> str:
    """A bar for one line of a terminal: `[#####         ]  640/2,000`"""
    filled = width * done // total if total else width
    return f"[{'#' * filled}{' ' * (width - filled)}] {write(done)}/{write(total)}"


def make_progress(
    stream: TextIO, clock: Callable[[], float], *, label: str = "", write: Callable[[int], str] = "{:,}".format, pause: float = 0.1
) -> Progress:
    """Draws the bar on a terminal, at most ten times a second, and wipes it at the end."""
    drawn = [float("-inf")]

    def show(done: int, total: int) -> None:
        if done >= total:
            stream.write("\r\x1b[K")
            stream.flush()
        elif clock() - drawn[0] >= pause:
            drawn[0] = clock()
            stream.write(f"\r{label}{draw_progress(done, total, write=write)}\x1b[K")
            stream.flush()

    return show


class Bar:
    """Draws the bar, at most ten times a second, and wipes it before anything else is written to the same terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float], pause: float = 0.1) -> None:
        self._stream = stream
        self._clock = clock
        self._pause = pause
        self._last = clock()
        self._is_drawn = False

    def show(self, done: int, total: int) -> None:
        """A run that is over before the first pause draws nothing."""
        now = self._clock()
        if now - self._last >= self._pause:
            self._last = now
            self._is_drawn = True
            self._stream.write("\r" + draw_progress(done, total) + "\x1b[K")
            self._stream.flush()

    def wipe(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()
