"""The planned change as a unified diff. Only changed lines and their neighbours are read; long lines stay whole, so `patch` works on it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.model import Transcript
from doctor.records import Record
from doctor.repair.changes import LineChanges, compare_lines

CONTEXT = 3
MOST_COMPARISONS = 1_000_000
"""A gap of more old lines times new lines than this is shown as a replacement of the whole gap."""


class Gap(Record):
    """Old lines [old, old_stop) are replaced by new lines [new, new_stop)."""

    old: int
    old_stop: int
    new: int
    new_stop: int


def render_diff(before: Transcript, after: Transcript, changes: LineChanges | None = None) -> str:
    """A unified diff, "" when nothing changes.

    Bytes that are not UTF-8 come as surrogate escapes: write it with errors="surrogateescape" to get them back.
    """
    gaps = list(_find_gaps(before, after, changes or compare_lines(before, after)))
    if not gaps:
        return ""
    parts = [f"--- {before.path}\n", f"+++ {before.path}\n"]
    for hunk in _group(gaps):
        parts += _render_hunk(before, after, hunk)
    return "".join(parts)


def _find_gaps(before: Transcript, after: Transcript, changes: LineChanges) -> Iterator[Gap]:
    old = new = 0
    for block in changes.kept:
        yield from _narrow(before, after, Gap(old, block.old, new, block.new))
        old, new = block.old + block.count, block.new + block.count
        if _measure_raw(before, old - 1) != _measure_raw(after, new - 1):
            # The last line of the file got a line end, or lost it.
            old, new = old - 1, new - 1
    yield from _narrow(before, after, Gap(old, before.line_count, new, after.line_count))


def _measure_raw(transcript: Transcript, line: int) -> int:
    return transcript.starts[line + 1] - transcript.starts[line]


def _narrow(before: Transcript, after: Transcript, gap: Gap) -> Iterator[Gap]:
    """Splits a gap where lines on both sides are the same after all."""
    old_count, new_count = gap.old_stop - gap.old, gap.new_stop - gap.new
    if not old_count and not new_count:
        return
    if not old_count or not new_count or old_count * new_count > MOST_COMPARISONS:
        yield gap
        return
    from difflib import SequenceMatcher

    old_keys = [hash(_read_raw(before, line)) for line in range(gap.old, gap.old_stop)]
    new_keys = [hash(_read_raw(after, line)) for line in range(gap.new, gap.new_stop)]
    for kind, old, old_stop, new, new_stop in SequenceMatcher(None, old_keys, new_keys, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Gap(gap.old + old, gap.old + old_stop, gap.new + new, gap.new + new_stop)


def _read_raw(transcript: Transcript, line: int) -> bytes:
    return transcript.source.read(transcript.starts[line], _measure_raw(transcript, line))


def _group(gaps: list[Gap]) -> Iterator[list[Gap]]:
    """Gaps whose context would touch share a hunk."""
    group = [gaps[0]]
    for gap in gaps[1:]:
        if gap.old - group[-1].old_stop <= 2 * CONTEXT:
            group.append(gap)
        else:
            yield group
            group = [gap]
    yield group


def _render_hunk(before: Transcript, after: Transcript, gaps: list[Gap]) -> Iterator[str]:
    lead = min(CONTEXT, gaps[0].old)
    old, new = gaps[0].old - lead, gaps[0].new - lead
    old_stop = min(gaps[-1].old_stop + CONTEXT, before.line_count)
    new_stop = gaps[-1].new_stop + old_stop - gaps[-1].old_stop
    yield f"@@ -{_write_range(old, old_stop)} +{_write_range(new, new_stop)} @@\n"
    line = old
    for gap in gaps:
        yield from (_write_line(" ", before, kept) for kept in range(line, gap.old))
        yield from (_write_line("-", before, removed) for removed in range(gap.old, gap.old_stop))
        yield from (_write_line("+", after, added) for added in range(gap.new, gap.new_stop))
        line = gap.old_stop
    yield from (_write_line(" ", before, kept) for kept in range(line, old_stop))


def _write_range(start: int, stop: int) -> str:
    count = stop - start
    # An empty range names the line before it.
    return f"{start + 1 if count else start},{count}" if count != 1 else f"{start + 1}"


def _write_line(mark: str, transcript: Transcript, line: int) -> str:
    text = mark + _read_raw(transcript, line).decode("utf-8", "surrogateescape")
    return text if text.endswith("\n") else text + "\n\\ No newline at end of file\n"
