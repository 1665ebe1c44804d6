"""Spells a fix out as replaced bytes of its transcript, for reports that another program may act on (SARIF)."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.findings import Diagnostic, Fix, Safety
from doctor.model import Transcript
from doctor.records import Record
from doctor.repair.edits import apply_edits
from doctor.repair.pieces import KEPT, Span

LONGEST_INSERTION = 64 * 1024
"""Bytes that one fix may insert; a longer one is only named. One row can hold megabytes."""
MOST_INSERTED = 4 * 1024 * 1024
"""Bytes that all fixes of one file may insert together: a report lives in memory until it is written."""


class Replacement(Record):
    """`length` bytes at `offset` give way to `inserted`.

    `lines`: 0-based lines [start, stop) where exactly whole lines go, line ends included; None where that is not so.
    """

    offset: int
    length: int
    inserted: bytes
    lines: tuple[int, int] | None


def spell_fixes(transcript: Transcript, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The same findings; their fixes hold their replacements where these are short enough."""
    left = MOST_INSERTED
    spelled = []
    for diagnostic in found:
        fix = diagnostic.fix
        replacements = spell_fix(transcript, fix) if fix is not None and left > 0 else ()
        if fix is not None and replacements:
            left -= sum(len(one.inserted) for one in replacements)
            diagnostic = diagnostic._replace(fix=fix._replace(replacements=replacements))
        spelled.append(diagnostic)
    return tuple(spelled)


def spell_fix(transcript: Transcript, fix: Fix) -> tuple[Replacement, ...]:
    """The bytes that a fix replaces, in the order of the file; empty for one that is only shown, or inserts too much.

    Each fix is spelled against the file as it is: together they may clash, which `fix` sorts out and a report can't.
    """
    if fix.safety is Safety.MANUAL or not fix.edits:
        return ()
    planned = apply_edits(transcript, fix.edits)
    replaced: list[Replacement] = []
    position, inserted, too_long = 0, [], 0
    for piece in (*planned.pieces, Span(planned.base, transcript.source.size, 0)):
        if isinstance(piece, Span) and piece.role == KEPT:
            if inserted or piece.offset > position:
                replaced.append(_make(transcript, position, piece.offset, b"".join(inserted)))
            position, inserted = piece.offset + piece.length, []
            continue
        too_long += len(piece) if isinstance(piece, bytes) else piece.length
        if too_long > LONGEST_INSERTION:
            return ()
        inserted.append(piece if isinstance(piece, bytes) else piece.source.read(piece.offset, piece.length))
    return tuple(replaced)


def _make(transcript: Transcript, start: int, stop: int, inserted: bytes) -> Replacement:
    first, last = _find_line(transcript, start), _find_line(transcript, stop)
    # Behind a last line without a line end there is no line to name.
    ends_whole = stop < transcript.source.size or transcript.ends_with_eol or not stop
    whole = first is not None and last is not None and ends_whole
    return Replacement(start, stop - start, inserted, (first, last) if whole and first is not None and last is not None else None)


def _find_line(transcript: Transcript, offset: int) -> int | None:
    """The line that begins at a byte, None where none does. `starts` is sorted, and ends with the size of the file."""
    from bisect import bisect_left

    index = bisect_left(transcript.starts, offset)
    return index if index < len(transcript.starts) and transcript.starts[index] == offset else None
