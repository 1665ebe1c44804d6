"""A fast reader for logs whose lines may be huge: a request line embeds the whole conversation.

Blocks go through one reusable buffer. A line that starts with the exact prefix of the logging hook shows its kind in its first bytes;
lines of unwanted kinds are passed over without being put together. A line that starts in any other way is parsed whole, never guessed.
Not seen: damage in the middle of a huge unwanted line, unless it lies in its last TAIL_BYTES.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from doctor.model import Source
from doctor.sources.events.boiling import HEAD_ONLY, WANTED, Event, boil_event, boil_head
from doctor.sources.events.damage import FoundRecord, JsonObject, find_records, parse_record

BLOCK_BYTES = 1 << 19
"""64 KiB to 1 MiB measure alike."""
HEAD_BYTES = 4_096
"""Enough for an envelope with a provider's error text in it."""
TAIL_BYTES = 4_096
"""A torn line is glued to the next one, which is nearly always small: it begins within the last bytes."""
LONGEST_ODD_LINE = 1 << 28
"""A line without the hook's prefix is read whole up to this size, then taken for binary rubbish."""

_HEAD = re.compile(
    rb'\{"ts": ?"([^"\\]{10,40})", ?"lvl": ?"[A-Z]+", ?"schema": ?\{"name": ?"amplifier\.log", ?"ver": ?"[0-9.]+"\}, ?"event": ?"([^"\\]{1,80})"'
)
_DATA = re.compile(rb', ?"data": ?\{')
_NEXT = b'{"ts":'
_MARK = b"\xef\xbb\xbf"
_WHOLE, _HEAD_ONLY = 1, 2
_MODES = {name.encode(): _WHOLE for name in WANTED} | {name.encode(): _HEAD_ONLY for name in HEAD_ONLY}
_BRACE, _RETURN = ord("}"), ord("\r")


class Scan:
    """What one pass over a log found. `torn`, `glued`, `invalid`: line indexes. `copies`: how many wanted events stand there once more."""

    __slots__ = ("events", "torn", "glued", "invalid", "first_copy", "copies", "line_count", "last_time", "_seen")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.torn: list[int] = []
        self.glued: list[int] = []
        self.invalid: list[int] = []
        self.first_copy = -1
        self.copies = 0
        self.line_count = 0
        self.last_time: str | bytes = ""
        self._seen: set[int] = set()

    def read_line(self, buffer: bytearray, view: memoryview, start: int, stop: int, line: int, offset: int) -> None:
        """Takes the line that lies whole in `buffer[start:stop]`, without its line end, at byte `offset` of the file."""
        limit = start + HEAD_BYTES
        if limit > stop:
            limit = stop
        head = _HEAD.match(buffer, start, limit)
        if head is None:
            self._take(bytes(view[start:stop]), line, offset)
            return
        self.last_time, name = head.groups()
        mode = _MODES.get(name)
        if mode == _WHOLE:
            self._take(bytes(view[start:stop]), line, offset)
            return
        if mode == _HEAD_ONLY:
            self._take_head(buffer, view, start, limit, head, line)
        if buffer[stop - 1] != _BRACE or buffer.find(_NEXT, max(start + 1, stop - TAIL_BYTES), stop) >= 0:
            self.close_skipped(buffer, start, stop, line, offset)

    def begin_skipped(self, buffer: bytearray, view: memoryview, start: int, line: int, head: re.Match[bytes]) -> None:
        """Takes what is wanted of a long line whose rest is passed over."""
        self.last_time = head[1]
        if head[2] in _MODES:
            self._take_head(buffer, view, start, start + HEAD_BYTES, head, line)

    def close_skipped(self, buffer: bytearray, start: int, stop: int, line: int, offset: int) -> None:
        """Looks at the end of an unwanted line: was it cut, is another record glued to it?"""
        first = max(start + 1, stop - TAIL_BYTES)
        glued = buffer.find(_NEXT, first, stop)
        if glued >= 0:
            text = bytes(memoryview(buffer)[glued:stop])
            records = find_records(text)
            if records:
                self.glued.append(line)
                self._take_records(records, text, line, offset + glued - start)
                return
        end = stop - 1 if buffer[stop - 1] != _RETURN or stop - 2 < start else stop - 2
        if buffer[end] != _BRACE:
            self.torn.append(line)

    def _take(self, raw: bytes, line: int, offset: int) -> None:
        if line == 0 and raw.startswith(_MARK):
            raw, offset = raw[len(_MARK) :], offset + len(_MARK)
        if not raw or raw.isspace():
            return
        key = hash(raw)
        if key in self._seen:
            self._count_copy(line)
            return
        self._seen.add(key)
        row = parse_record(raw)
        if row is None:
            self._take_damaged(raw, line, offset)
        else:
            self._take_row(row, raw, line, offset)

    def _take_row(self, row: JsonObject, raw: bytes, line: int, offset: int) -> None:
        name = row.get("event")
        if name.__class__ is not str:
            self.invalid.append(line)
            return
        if name in HEAD_ONLY:
            event = boil_head(row, line, name, _read_time(row))
        elif name in WANTED:
            event = boil_event(row, raw, line, offset)
        else:
            self.last_time = _read_time(row) or self.last_time
            return
        self.last_time = event.time or self.last_time
        if self._is_stamped_copy(row, raw):
            self._count_copy(line)
            return
        self.events.append(event)

    def _take_head(self, buffer: bytearray, view: memoryview, start: int, stop: int, found: re.Match[bytes], line: int) -> None:
        data = _DATA.search(buffer, found.end(), stop)
        head = bytes(view[start : data.start() if data else stop])
        # Such a head holds a request id and a time stamp in nanoseconds: equal heads are copies.
        key = hash(head)
        if key in self._seen:
            self._count_copy(line)
            return
        self._seen.add(key)
        row = parse_record(head + b"}") if data else None
        self.events.append(boil_head(row or {}, line, found[2].decode(), found[1].decode()))

    def _take_damaged(self, raw: bytes, line: int, offset: int) -> None:
        records = find_records(raw)
        if not records:
            (self.torn if raw.lstrip().startswith(b"{") else self.invalid).append(line)
        elif len(records) == 1 and records[0].start == 0 and records[0].stop == len(raw.rstrip()):
            self.invalid.append(line)  # whole, but not UTF-8
        else:
            self.glued.append(line)
        self._take_records(records, raw, line, offset)

    def _take_records(self, records: list[FoundRecord], raw: bytes, line: int, offset: int) -> None:
        for record in records:
            self._take_row(record.row, raw[record.start : record.stop], line, offset + record.start)

    def _is_stamped_copy(self, row: JsonObject, raw: bytes) -> bool:
        """Older hooks stamped each line with their own clock: copies then differ in `ts` alone, and agree in data.timestamp."""
        data = row.get("data")
        if data.__class__ is not dict or data.get("timestamp").__class__ is not str:
            return False
        key = hash(raw.partition(b'"lvl"')[2] or raw)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _count_copy(self, line: int) -> None:
        if not self.copies:
            self.first_copy = line
        self.copies += 1


def _read_time(row: JsonObject) -> str:
    time = row.get("ts") or row.get("timestamp")
    return time if time.__class__ is str else ""


def scan_log(source: Source, block_bytes: int = BLOCK_BYTES) -> Scan:
    """Reads a whole log. Memory: one block, or the longest line that has to be parsed."""
    scan = Scan()
    with source.open() as stream:
        # Past the reader's own buffer: copying a gigabyte once more costs a third of the scan.
        _scan_blocks(getattr(stream, "raw", stream), scan, block_bytes)
    if isinstance(scan.last_time, bytes):
        scan.last_time = scan.last_time.decode()
    return scan


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
            head = _HEAD.match(buffer, start, start + HEAD_BYTES)
            if head is not None and _MODES.get(head[2]) != _WHOLE:
                skipping = True
                scan.begin_skipped(buffer, view, start, line, head)
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
