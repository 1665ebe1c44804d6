"""Applies line edits to a transcript without loading or writing it, and says which fixes can't be applied together.

Only lines that an edit names are looked at. Every line that stays keeps its bytes, its own line end included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from doctor.findings import Content, Edit, Fix, LineOf, Rewritten
from doctor.model import Source, Transcript
from doctor.records import Record
from doctor.repair.changes import measure_line
from doctor.repair.diff import render_diff
from doctor.repair.pieces import CUT, KEPT, MOVED, Piece, PiecedSource, Span, borrow_span, cut_piece, measure_piece
from doctor.rewrites import rewrite_row
from doctor.sources.source import FileSource

__all__ = ["Choice", "apply_edits", "choose", "find_clashes", "list_lines", "render_diff"]

UNREADABLE = ("torn", "nul", "invalid")
"""Kinds of line problems after which a line end is missing because the line is, not because the client writes none."""


class KeptRun(Record):
    """Lines [old, stop) that no edit names, beginning at byte `offset` of the planned file. The last one may get or lose a line end."""

    old: int
    stop: int
    offset: int


def apply_edits(transcript: Transcript, edits: Sequence[Edit]) -> PiecedSource:
    """The transcript with all edits applied, as pieces of its base file.

    Raises ValueError when replaced spans overlap, an insertion lies inside a replaced span, or a line does not exist.
    """
    return apply_and_trace(transcript, edits)[0]


def apply_and_trace(transcript: Transcript, edits: Sequence[Edit]) -> tuple[PiecedSource, list[KeptRun]]:
    """As apply_edits, and where the untouched lines are now."""
    builder = _Builder(transcript)
    line = 0
    for edit in sort_edits(edits):
        if not line <= edit.start <= edit.stop <= transcript.line_count:
            raise ValueError(f"edit of lines {edit.start}..{edit.stop} overlaps another or leaves the file")
        builder.keep(line, edit.start)
        builder.replace(edit)
        line = edit.stop
    builder.keep(line, transcript.line_count)
    return PiecedSource(builder.base, builder.finish()), builder.runs


def sort_edits(edits: Iterable[Edit]) -> list[Edit]:
    """In the order of the file. At one place insertions come before what is replaced there, by `order`, then as given."""
    return sorted(edits, key=lambda edit: (edit.start, edit.stop > edit.start, edit.order))


class _Builder:
    """Collects the pieces of the planned file line by line. `_open_end` is set behind a line that has no line end yet."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        source = transcript.source
        self.base: Source = source.base if isinstance(source, PiecedSource) else source
        self.runs: list[KeptRun] = []
        self._pieces: list[Piece] = []
        self._size = 0
        self._open_end = False
        self._last: tuple[str, int] = ("", 0)
        self._files: dict[str, Source] = {}
        self._problem_lines = {problem.line for problem in transcript.line_problems}

    def keep(self, start: int, stop: int) -> None:
        """Lines [start, stop) stay as they are."""
        if start == stop:
            return
        self._close_line()
        starts = self.transcript.starts
        self.runs.append(KeptRun(start, stop, self._size))
        self._add(self._cut(starts[start], starts[stop] - starts[start], None))
        self._open_end = stop == self.transcript.line_count and not self.transcript.ends_with_eol
        self._last = ("kept", stop - 1)

    def replace(self, edit: Edit) -> None:
        if not edit.contents:
            return
        damaged = b""
        if edit.stop == edit.start + 1 and edit.start in self._problem_lines:
            damaged = self.transcript.read_line(edit.start)
        searched = 0
        for content in edit.contents:
            self._close_line()
            found = damaged.find(content, searched) if damaged and isinstance(content, bytes) and content else -1
            if found >= 0 and isinstance(content, bytes):
                # Bytes cut out of the line they replace stay a span of the file: it is then known where they were recorded.
                self._add(self._cut(self.transcript.starts[edit.start] + found, len(content), CUT))
                searched = found + len(content)
            else:
                self._add(self._find_pieces(content))
            self._open_end = True
            self._last = ("added", 0)

    def finish(self) -> list[Piece]:
        """Gives the last line a line end, or takes it away, as the file had it."""
        transcript = self.transcript
        if self._last == ("kept", transcript.line_count - 1):
            return self._pieces
        last = transcript.line_count - 1
        unreadable = any(problem.line == last and problem.kind in UNREADABLE for problem in transcript.line_problems)
        if transcript.ends_with_eol or unreadable:
            # What a crash left behind says nothing about the file's habit; a client that appends relies on the line end.
            self._close_line()
        elif self._last[0] == "kept":
            self._drop_line_end(self._last[1])
        return self._pieces

    def _close_line(self) -> None:
        if self._open_end:
            self._add([self.transcript.eol])
            self._open_end = False

    def _add(self, pieces: list[Piece]) -> None:
        self._pieces += pieces
        self._size += sum(map(measure_piece, pieces))

    def _drop_line_end(self, line: int) -> None:
        spare = self.transcript.starts[line + 1] - self.transcript.starts[line] - measure_line(self.transcript, line)
        while spare:
            piece = self._pieces.pop()
            length = measure_piece(piece)
            if length > spare:
                self._pieces.append(cut_piece(piece, 0, length - spare))
            spare = max(0, spare - length)

    def _find_pieces(self, content: Content) -> list[Piece]:
        if isinstance(content, bytes):
            return [content]
        if isinstance(content, LineOf):
            return self._cut(self.transcript.starts[content.line], measure_line(self.transcript, content.line), MOVED)
        if isinstance(content, Rewritten):
            return [rewrite_row(self.transcript, content)]
        if content.path == self.transcript.path and isinstance(self.base, FileSource):
            return [Span(self.base, content.offset, content.length, CUT)]
        if content.path not in self._files:
            from doctor.sources.bundles import open_beside

            self._files[content.path] = open_beside(content.path)
        return [borrow_span(self._files[content.path], content.offset, content.length)]

    def _cut(self, offset: int, length: int, role: str | None) -> list[Piece]:
        """A range of the transcript as pieces of the base file. What was kept so far takes on the new role, if one is given."""
        source = self.transcript.source
        found = source.cut(offset, length) if isinstance(source, PiecedSource) else [Span(source, offset, length)]
        if role is None:
            return found
        return [piece._replace(role=role) if isinstance(piece, Span) and piece.role in (KEPT, MOVED) else piece for piece in found]


class Choice(Record):
    """Indexes of the fixes that can be applied together, and of those that have to wait for the next round."""

    accepted: tuple[int, ...]
    waiting: tuple[int, ...]


def choose(fixes: Sequence[Fix]) -> Choice:
    """Takes fixes in the given order; one that clashes with an accepted one waits as a whole."""
    clashing = find_clashes(fixes)
    accepted = tuple(index for index in range(len(fixes)) if index not in clashing)
    return Choice(accepted, tuple(sorted(clashing)))


def find_clashes(fixes: Sequence[Fix]) -> dict[int, str]:
    """Why a fix can't join those accepted before it, by its index.

    Two fixes clash when both replace, delete or move one line, or when one inserts strictly inside a span that the other replaces.
    Insertions at one place, or at the edge of a replaced span, are fine.
    """
    taken: set[int] = set()
    inside: set[int] = set()
    places: set[int] = set()
    clashes: dict[int, str] = {}
    for index, fix in enumerate(fixes):
        lines = set(list_lines(fix))
        cores = {line for edit in fix.edits for line in range(edit.start + 1, edit.stop)}
        inserts = {edit.start for edit in fix.edits if edit.start == edit.stop}
        if shared := lines & taken:
            clashes[index] = f"line {min(shared) + 1} is changed by another fix"
        elif shared := (inserts & inside) | (cores & places):
            clashes[index] = f"another fix is at work around line {min(shared) + 1}"
        else:
            taken |= lines
            inside |= cores
            places |= inserts
    return clashes


def list_lines(fix: Fix) -> Iterator[int]:
    """Every line that a fix replaces, deletes or moves."""
    for edit in fix.edits:
        yield from range(edit.start, edit.stop)
        for content in edit.contents:
            if isinstance(content, LineOf):
                yield content.line
