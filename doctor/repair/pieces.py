"""A planned file that is not written yet: spans of files on disk with a few new bytes in between.

Memory follows the number of pieces, never the size of the file. Pieces never nest: cutting a planned file up again yields spans of the
same base file. Nothing is written here.
"""

from __future__ import annotations

import hashlib
import io
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from doctor.model import Source
from doctor.records import Record
from doctor.sources.source import BUFFER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

KEPT = "kept"
MOVED = "moved"
CUT = "cut"
"""A part of a damaged line, such as one of two records that were glued together."""
BORROWED = "borrowed"


class Span(Record):
    """`length` bytes at `offset` of a file. `role`: kept where it stood, moved, cut out of a line, or borrowed from another file.

    A borrowed span has the SHA-256 of its bytes: the other file belongs to somebody else and may change before the plan is written.
    """

    source: Source
    offset: int
    length: int
    role: str = KEPT
    digest: bytes = b""


Piece = Span | bytes


class PiecedSource:
    """A Source made of pieces. `base` is the file that kept, moved and cut spans point to."""

    __slots__ = ("_ends", "base", "pieces", "size")

    def __init__(self, base: Source, pieces: Iterable[Piece]) -> None:
        self.base = base
        self.pieces = merge_pieces(pieces)
        self._ends = array("q")
        end = 0
        for piece in self.pieces:
            end += measure_piece(piece)
            self._ends.append(end)
        self.size = end

    def open(self) -> BinaryIO:
        return io.BufferedReader(_PieceReader(self.pieces), BUFFER)

    def read(self, offset: int, length: int) -> bytes:
        parts = [piece if isinstance(piece, bytes) else piece.source.read(piece.offset, piece.length) for piece in self.cut(offset, length)]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def cut(self, offset: int, length: int) -> list[Piece]:
        """The pieces of `length` bytes at `offset`."""
        stop = min(offset + length, self.size)
        found: list[Piece] = []
        index = bisect_right(self._ends, offset)
        while offset < stop:
            piece = self.pieces[index]
            end = self._ends[index]
            start = end - measure_piece(piece)
            found.append(cut_piece(piece, offset - start, min(stop, end) - offset))
            offset = end
            index += 1
        return found

    def spans(self) -> Iterator[tuple[int, Span]]:
        """Every span with the offset at which it stands in the planned file."""
        start = 0
        for piece, end in zip(self.pieces, self._ends, strict=True):
            if isinstance(piece, Span):
                yield start, piece
            start = end


def measure_piece(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else piece.length


def cut_piece(piece: Piece, offset: int, length: int) -> Piece:
    """`length` bytes at `offset` of one piece. A part of a borrowed span gets a digest of its own."""
    if isinstance(piece, bytes):
        return piece[offset : offset + length]
    if length == piece.length:
        return piece
    part = piece._replace(offset=piece.offset + offset, length=length)
    return borrow_span(part.source, part.offset, part.length) if piece.role == BORROWED else part


def borrow_span(source: Source, offset: int, length: int) -> Span:
    """A span of a file that is not the transcript, with the digest of what it holds now."""
    return Span(source, offset, length, BORROWED, digest_range(source, offset, length))


def digest_range(source: Source, offset: int, length: int) -> bytes:
    """SHA-256 of a range, read in parts of 1 MiB."""
    digest = hashlib.sha256()
    for start in range(offset, offset + length, BUFFER):
        digest.update(source.read(start, min(BUFFER, offset + length - start)))
    return digest.digest()


def merge_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The same bytes in as few pieces as can be, so that equal plans compare equal and long runs of new rows stay one literal."""
    merged: list[Piece] = []
    literal: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, bytes):
            literal.append(piece)
            continue
        if piece.length == 0:
            continue
        if any(literal):
            merged.append(b"".join(literal))
        literal.clear()
        last = merged[-1] if merged else b""
        if isinstance(last, Span) and _continues(last, piece):
            merged[-1] = last._replace(length=last.length + piece.length)
        else:
            merged.append(piece)
    if any(literal):
        merged.append(b"".join(literal))
    return tuple(merged)


def _continues(last: Span, piece: Span) -> bool:
    same = last.source is piece.source and last.role == piece.role and last.role != BORROWED
    return same and last.offset + last.length == piece.offset


class _PieceReader(io.RawIOBase):
    """Reads the pieces one after the other. Each file is opened once and closed with the reader."""

    def __init__(self, pieces: tuple[Piece, ...]) -> None:
        super().__init__()
        self._pieces = iter(pieces)
        self._streams: dict[int, BinaryIO] = {}
        self._stack = ExitStack()
        self._literal: memoryview = memoryview(b"")
        self._stream: BinaryIO | None = None
        self._left = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._begin(piece)
        wanted = min(self._left, len(view))
        if self._stream is None:
            view[:wanted] = self._literal[len(self._literal) - self._left :][:wanted]
            count = wanted
        else:
            count = self._stream.readinto(view[:wanted])  # type: ignore[attr-defined]
            if not count:
                # The file is shorter than it was: let the reader end early; whoever planned with it compares sizes.
                self._left = 0
                return 0
        self._left -= count
        return count

    def _begin(self, piece: Piece) -> None:
        self._left = measure_piece(piece)
        if isinstance(piece, bytes):
            self._literal = memoryview(piece)
            self._stream = None
            return
        stream = self._streams.get(id(piece.source))
        if stream is None:
            opened = self._stack.enter_context(piece.source.open())
            # This reader has a buffer of its own above it; a second one below would only copy everything once more.
            stream = self._streams[id(piece.source)] = getattr(opened, "raw", opened)
        stream.seek(piece.offset)
        self._stream = stream

    def close(self) -> None:
        self._stack.close()
        super().close()
