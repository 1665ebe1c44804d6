"""A time axis that follows the order of the event log, with long gaps folded. Times only say how far apart two events are drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime

from doctor.records import Record

LEAST_FOLD = 20.0
"""Seconds without an event that are folded when they fill a good part of the axis; shorter ones only when they fill most of it."""
SHORTEST_FOLD = 1.0
SHARE_OF_AXIS = 0.15
BACKWARD_STEP = 60.0
"""A clock that goes back further than this was set anew; less is events that were written in another order than they were stamped."""
FOLD_WIDTH = 0.05
MOST_FOLDED_WIDTH = 0.4
STEPS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
    43200, 86400, 172800, 604800, 2592000, 31536000,
)  # fmt: skip
"""Seconds between two ticks."""


class Piece(Record):
    """The axis between two neighbouring events. `begin`, `end`: seconds since the epoch; `left`, `right`: places from 0 to 1."""

    first_line: int
    last_line: int
    begin: float
    end: float
    left: float
    right: float
    is_folded: bool


class Axis(Record):
    """Where each event line is drawn, from 0 to 1. `lines` ascend, and `places` with them."""

    lines: tuple[int, ...]
    places: tuple[float, ...]
    pieces: tuple[Piece, ...]

    def place(self, line: int) -> float:
        """The place of a line; of one that is not on the axis, that of the last line before it."""
        index = bisect_right(self.lines, line) - 1
        return self.places[index] if index >= 0 else 0.0

    @property
    def folds(self) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if piece.is_folded)


class Tick(Record):
    """A mark on the axis: `place` from 0 to 1."""

    place: float
    label: str


def build_axis(stamps: Iterable[tuple[int, str]]) -> Axis:
    """The axis over events, given as (line, time stamp). Stamps that are missing or go backwards take no room.

    When no stamp is of use, the lines are spread evenly.
    """
    times: dict[int, float | None] = {}
    for line, stamp in stamps:
        if times.get(line) is None:
            times[line] = read_time(stamp)
    lines = sorted(times)
    moments, steps = _measure_steps([times[line] for line in lines])
    if not any(steps):
        steps = [1.0] * len(steps)
    folded = _choose_folds(steps)
    fold_width = min(FOLD_WIDTH, MOST_FOLDED_WIDTH / len(folded)) if folded else 0.0
    shown = sum(step for index, step in enumerate(steps) if index not in folded) or 1.0
    scale = (1 - fold_width * len(folded)) / shown
    places, pieces = [0.0], []
    for index, step in enumerate(steps):
        right = min(1.0, places[-1] + (fold_width if index in folded else step * scale))
        begin, end = moments[index], moments[index + 1]
        pieces.append(Piece(lines[index], lines[index + 1], begin, end, places[-1], right, index in folded))
        places.append(right)
    return Axis(tuple(lines), tuple(places[: len(lines)]), tuple(pieces))


def _measure_steps(times: list[float | None]) -> tuple[list[float], list[float]]:
    """(time of each event, seconds from each to the next, never negative)."""
    high = next((time for time in times if time is not None), 0.0)
    moments, steps = [], []
    for time in times:
        before = high
        if time is not None and (time > high or time < high - BACKWARD_STEP):
            high = time
        steps.append(max(0.0, high - before))
        moments.append(high)
    return moments, steps[1:]


def _choose_folds(steps: list[float]) -> set[int]:
    """Indexes of the steps that leave too little room for the others, from the longest down."""
    rest = sum(steps)
    folded: set[int] = set()
    for index in sorted(range(len(steps)), key=lambda index: -steps[index]):
        step = steps[index]
        others = rest - step
        # Rounding leaves dust behind where nothing else is left.
        if others <= 1e-6 or step < SHORTEST_FOLD or not (step > others or (step >= LEAST_FOLD and step > SHARE_OF_AXIS * others)):
            break
        folded.add(index)
        rest = others
    return folded


def list_ticks(axis: Axis, most: int) -> list[Tick]:
    """At most `most` ticks at round times, not nearer to each other than their number allows."""
    shown = [piece for piece in axis.pieces if not piece.is_folded and piece.end > piece.begin]
    length = sum(piece.end - piece.begin for piece in shown)
    step = next((step for step in STEPS if length / step <= most), STEPS[-1])
    ticks: list[Tick] = []
    for piece in shown:
        number = -(-piece.begin // step)
        while number * step < piece.end and len(ticks) < most:
            place = piece.left + (number * step - piece.begin) / (piece.end - piece.begin) * (piece.right - piece.left)
            if not ticks or place - ticks[-1].place >= 0.8 / most:
                ticks.append(Tick(place, write_clock(number * step, step)))
            number += 1
    return ticks


def read_time(stamp: str) -> float | None:
    """Seconds since the epoch of an ISO time stamp of any precision; one without a zone is in UTC. None when it is no time stamp."""
    try:
        time = datetime.fromisoformat(stamp)
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def write_clock(seconds: float, step: float = 0.001) -> str:
    """`12:18:01.238` in UTC, as precise as `step` needs."""
    time = _tell(seconds)
    if time is None:
        return ""
    if step >= 86400:
        return time.strftime("%m-%d")
    if step >= 60:
        return time.strftime("%H:%M")
    return time.strftime("%H:%M:%S") if step >= 1 else time.isoformat("T", "milliseconds")[11:23]


def clock_of(stamp: str) -> str:
    """`12:18:01.238` in UTC of a time stamp, "" of anything else."""
    seconds = read_time(stamp)
    return write_clock(seconds) if seconds is not None else ""


def date_of(stamp: str) -> str:
    """`2026-11-29` in UTC of a time stamp, "" of anything else."""
    seconds = read_time(stamp)
    time = _tell(seconds) if seconds is not None else None
    return time.date().isoformat() if time is not None else ""


def _tell(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def write_duration(seconds: float) -> str:
    """`132 ms`, `7.1 s`, `4 min 5 s`, `9 h 18 min`, `3 d 2 h`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, name, less, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // less
            return f"{whole // size:,} {name}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"


def duration_between(first: str, last: str) -> str:
    """How long from one time stamp to another; "" when that can't be said."""
    begin, end = read_time(first), read_time(last)
    return write_duration(end - begin) if begin is not None and end is not None and end >= begin else ""
