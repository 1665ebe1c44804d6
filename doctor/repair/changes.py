"""Which lines of a transcript stayed, moved, came and went in a planned file; told from its pieces, without reading what stayed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from doctor.model import Transcript
from doctor.records import Record
from doctor.repair.pieces import KEPT, MOVED, PiecedSource, Span


class Block(Record):
    """`count` lines that stayed: from line `old` on in the file as it is, from line `new` on in the planned file."""

    old: int
    new: int
    count: int


class LineChanges(Record):
    """All lines of both files, sorted out. Indexes are 0-based; `moved` holds (old, new)."""

    kept: tuple[Block, ...]
    moved: tuple[tuple[int, int], ...]
    added: tuple[int, ...]
    removed: tuple[int, ...]


def measure_line(transcript: Transcript, line: int) -> int:
    """Length of a line without its line end, for two bytes of reading."""
    start, stop = transcript.starts[line], transcript.starts[line + 1]
    tail = transcript.source.read(max(start, stop - 2), min(2, stop - start))
    if tail == b"\r\n":
        return stop - start - 2
    return stop - start - 1 if tail.endswith(b"\n") else stop - start


def compare_lines(before: Transcript, after: Transcript) -> LineChanges:
    """`after` must be the same transcript, or one that was read from pieces of it."""
    if after.source is before.source:
        return LineChanges((Block(0, 0, before.line_count),), (), (), ())
    if not isinstance(after.source, PiecedSource) or after.source.base is not before.source:
        raise ValueError("the planned file is not made of pieces of this transcript")
    kept: list[Block] = []
    moved: dict[int, int] = {}
    for start, span in after.source.spans():
        if span.source is not before.source or span.role not in (KEPT, MOVED):
            continue
        block = _align(before, after, start, span)
        if span.role == MOVED:
            for step in range(block.count):
                moved.setdefault(block.old + step, block.new + step)
        elif block.count and (not kept or block.old >= kept[-1].old + kept[-1].count):
            _append_block(kept, block)
    kept_starts = [block.old for block in kept]
    pairs = tuple(pair for pair in sorted(moved.items()) if not _is_kept(kept, kept_starts, pair[0]))
    added = _list_gaps([(block.new, block.count) for block in kept], {new for _, new in pairs}, after.line_count)
    removed = _list_gaps([(block.old, block.count) for block in kept], {old for old, _ in pairs}, before.line_count)
    return LineChanges(tuple(kept), pairs, tuple(added), tuple(removed))


def _align(before: Transcript, after: Transcript, start: int, span: Span) -> Block:
    """The whole lines of one span. A line counts as whole when its content is the same on both sides, whatever its line end."""
    old = bisect_left(before.starts, span.offset)
    new = bisect_left(after.starts, start + before.starts[min(old, before.line_count)] - span.offset)
    end = span.offset + span.length
    aligned = old < before.line_count and new < after.line_count and before.starts[old] - span.offset == after.starts[new] - start
    if not aligned or before.starts[old] >= end:
        return Block(old, new, 0)
    last = max(bisect_right(before.starts, end) - 1, old)
    if last == before.line_count or before.starts[last] == end:
        last -= 1
    count = last - old + 1
    length = measure_line(before, last)
    whole = before.starts[last] + length <= end and new + count <= after.line_count and length == measure_line(after, new + count - 1)
    return Block(old, new, count if whole else count - 1)


def _append_block(kept: list[Block], block: Block) -> None:
    last = kept[-1] if kept else Block(-1, -1, 0)
    if block.old == last.old + last.count and block.new == last.new + last.count:
        kept[-1] = last._replace(count=last.count + block.count)
    else:
        kept.append(block)


def _is_kept(kept: list[Block], kept_starts: list[int], line: int) -> bool:
    index = bisect_right(kept_starts, line) - 1
    return index >= 0 and line < kept[index].old + kept[index].count


def _list_gaps(runs: Iterable[tuple[int, int]], without: set[int], stop: int) -> Iterator[int]:
    """Lines of [0, stop) that are in no (start, count) run and not in `without`."""
    line = 0
    for start, count in [*runs, (stop, 0)]:
        yield from (gap for gap in range(line, start) if gap not in without)
        line = start + count
