"""Reads a log block by block through one reusable buffer, and hands its lines on."""

from __future__ import annotations

from collections.abc import Callable

from doctor.model import Source
from doctor.sources.events.envelope import HEAD, HEAD_BYTES, MODES, TAIL_BYTES, WHOLE, Scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

BLOCK_BYTES = 1 << 19
"""64 KiB to 1 MiB measure alike."""
WATCHED_BYTES = 1 << 27
"""Smaller logs are read before anybody wonders."""
LONGEST_ODD_LINE = 1 << 28
"""A line without the hook's prefix is read whole up to this size, then taken for binary rubbish."""


def scan_log(source: Source, block_bytes: int = BLOCK_BYTES, watch: Callable[[int, int], None] | None = None) -> Scan:
    """Reads a whole log. Memory: one block, or the longest line that has to be parsed. `watch` is told the bytes read, and of how many."""
    scan = Scan()
    with source.open() as stream:
        # Past the reader's own buffer: copying a gigabyte once more costs a third of the scan.
        raw = getattr(stream, "raw", stream)
        if watch is not None and source.size >= WATCHED_BYTES:
            raw = _Watched(raw, source.size, watch)
        _scan_blocks(raw, scan, min(block_bytes, source.size + 1))
    scan.flush()
    scan.forget_copies()
    if isinstance(scan.last_time, bytes):
        scan.last_time = scan.last_time.decode()
    return scan


class _Watched:
    """A stream that tells how far it was read."""

    def __init__(self, stream: BinaryIO, size: int, watch: Callable[[int, int], None]) -> None:
        self.stream, self.size, self.watch = stream, size, watch
        self.done = 0

    def readinto(self, view: memoryview) -> int:
        count = self.stream.readinto(view)
        self.done += count
        # A log that is written to meanwhile grows: the end is where nothing is left to read.
        self.watch(min(self.done, self.size - 1) if count else self.size, self.size)
        return count


def _scan_blocks(stream: BinaryIO, scan: Scan, block_bytes: int) -> None:
    """The hot loop, in one piece for speed. `buffer[:have]` holds the unfinished line, or the tail of one that is passed over."""
    buffer = bytearray(block_bytes)
    view = memoryview(buffer)
    offset = have = line = 0
    skipping = False
    while count := stream.readinto(view[have:]):
        end = have + count
        start = 0
        stop = buffer.find(b"\n", have, end)
        while stop >= 0:
            if skipping:
                skipping = False
                scan.close_skipped(buffer, start, stop, line, offset + start)
            else:
                scan.read_line(buffer, view, start, stop, line, offset + start)
            line += 1
            start = stop + 1
            stop = buffer.find(b"\n", start, end)
        rest = end - start
        if not skipping and rest >= HEAD_BYTES:
            head = HEAD.match(buffer, start, start + HEAD_BYTES)
            if head is not None and MODES.get(head[2]) != WHOLE:
                skipping = True
                scan.begin_skipped(view, start, line, head)
            elif head is None and rest > LONGEST_ODD_LINE:
                skipping = True
                scan.invalid.append(line)
        if skipping and rest > TAIL_BYTES:
            rest = TAIL_BYTES + 1
            start = end - rest
        if start:
            view[:rest] = view[start:end]
            offset += start
        elif rest == len(buffer):
            buffer = buffer + bytes(len(buffer))
            view = memoryview(buffer)
        have = rest
    if skipping:
        scan.close_skipped(buffer, 0, have, line, offset)
    elif have:
        scan.read_line(buffer, view, 0, have, line, offset)
    scan.line_count = line + bool(have)
