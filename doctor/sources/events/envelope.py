"""What the lines of a log say, without parsing the huge ones: a request line embeds the whole conversation.

A line that starts with the exact prefix of the logging hook shows its kind in its first bytes;
lines of unwanted kinds are passed over without being put together. A line that starts in any other way is parsed whole, never guessed.
Not seen: damage in the middle of a huge unwanted line, unless it lies in its last TAIL_BYTES.
"""

from __future__ import annotations

import re

from orjson import loads

from doctor.sources.events.boiling import BOILERS, HEAD_ONLY, Event, boil_event, boil_head
from doctor.sources.events.damage import FoundRecord, JsonObject, find_records, parse_record

HEAD_BYTES = 4_096
"""Enough for an envelope with a provider's error text in it."""
TAIL_BYTES = 4_096
"""A torn line is glued to the next one, which is nearly always small: it begins within the last bytes."""
BATCH_BYTES = 1 << 18
"""Wanted lines are put aside and parsed in batches: between two huge lines the processor's caches are cold (a tenth of the scan)."""

HEAD = re.compile(
    rb'\{"ts": ?"([^"\\\x80-\xff]{10,40})", ?"lvl": ?"[A-Z]+", ?'
    rb'"schema": ?\{"name": ?"amplifier\.log", ?"ver": ?"[0-9.]+"\}, ?"event": ?"([^"\\\x80-\xff]{1,80})"'
)
_DATA = re.compile(rb', ?"data": ?\{')
_CLIENT = re.compile(rb'"(provider|model)": ?"([^"\\\x80-\xff]{1,200})"')
_CONVERSATION = re.compile(rb'"(?:messages|raw|request|system|tools)": ?[\[{"]')
"""Where the embedded conversation begins: what it says of models is not the client's word."""
_NEXT = b'{"ts":'
_MARK = b"\xef\xbb\xbf"
WHOLE, _HEAD_ONLY = 1, 2
MODES = {name.encode(): WHOLE for name in BOILERS} | {name.encode(): _HEAD_ONLY for name in HEAD_ONLY}
_BRACE, _RETURN = ord("}"), ord("\r")


class Scan:
    """What one pass over a log found. `torn`, `glued`, `invalid`: line indexes. `copies`: how many wanted events stand there once more."""

    __slots__ = (
        "_kept", "_kept_bytes", "_seen", "_timed_line", "copies", "events", "first_copy", "glued", "invalid", "last_time", "line_count",
        "torn",
    )  # fmt: skip

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
        self._kept: list[tuple[bytes, int, int]] = []  # (bytes, line, offset)
        self._kept_bytes = 0
        self._timed_line = -1

    def read_line(self, buffer: bytearray, view: memoryview, start: int, stop: int, line: int, offset: int) -> None:
        """Takes the line that lies whole in `buffer[start:stop]`, without its line end, at byte `offset` of the file."""
        limit = start + HEAD_BYTES
        if limit > stop:
            limit = stop
        head = HEAD.match(buffer, start, limit)
        if head is None:
            self._keep(bytes(view[start:stop]), line, offset)
            return
        self.last_time, name = head.groups()
        self._timed_line = line
        mode = MODES.get(name)
        if mode is None:
            pass
        elif mode == WHOLE:
            self._keep(bytes(view[start:stop]), line, offset)
            return
        else:
            self._keep(bytes(view[start:limit]), line, -1)
        first = start + 1 if stop - start < TAIL_BYTES else stop - TAIL_BYTES
        if buffer[stop - 1] != _BRACE or buffer.find(_NEXT, first, stop) >= 0:
            self.close_skipped(buffer, start, stop, line, offset)

    def begin_skipped(self, view: memoryview, start: int, line: int, head: re.Match[bytes]) -> None:
        """Takes what is wanted of a long line whose rest is passed over."""
        self.last_time, self._timed_line = head[1], line
        if head[2] in MODES:
            self._keep(bytes(view[start : start + HEAD_BYTES]), line, -1)

    def _keep(self, raw: bytes, line: int, offset: int) -> None:
        self._kept.append((raw, line, offset))
        self._kept_bytes += len(raw)
        if self._kept_bytes > BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Parses what was put aside. A negative offset marks the head of a line of which only the envelope is wanted."""
        kept, self._kept, self._kept_bytes = self._kept, [], 0
        seen, take_event = self._seen, self.events.append
        for raw, line, offset in kept:
            if offset < 0 and len(raw) == HEAD_BYTES:
                self._take_head(raw, line)
                continue
            key = hash(raw)
            try:
                row = loads(raw)
                data = row["data"]
                if offset < 0:
                    take_event(boil_head(row, line, row["event"], row["ts"], data))
                    continue
                is_plain = (
                    row["event"] in BOILERS
                    and data.__class__ is dict
                    and "timestamp" not in data
                    and line <= self._timed_line
                    and key not in seen
                )
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):
                is_plain = False
            if offset < 0:
                self._take_head(raw, line)
            elif is_plain:
                seen.add(key)
                take_event(boil_event(row, data, raw, line, offset))
            else:
                self._take(raw, line, offset)

    def forget_copies(self) -> None:
        """Lets go of what only telling copies apart needs: a megabyte for a log of 15,000 wanted lines."""
        self._seen = set()

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
        key = hash(raw)
        if key in self._seen:
            self._count_copy(line)
            return
        row = parse_record(raw)
        if row is not None:
            self._seen.add(key)
            self._take_row(row, raw, line, offset)
        elif line == 0 and raw.startswith(_MARK):
            self._take(raw[len(_MARK) :], line, offset + len(_MARK))
        elif raw and not raw.isspace():
            self._take_damaged(raw, line, offset)

    def _take_row(self, row: JsonObject, raw: bytes, line: int, offset: int) -> None:
        name, data = row.get("event"), row.get("data")
        if name.__class__ is not str:
            self.invalid.append(line)
            return
        if data.__class__ is not dict:
            data = {}
        if name in BOILERS:
            if "timestamp" in data and self._is_stamped_copy(data, raw):
                self._count_copy(line)
                return
            self.events.append(boil_event(row, data, raw, line, offset))
        elif name in HEAD_ONLY:
            self.events.append(boil_head(row, line, name, _read_time(row), data))
        if line > self._timed_line:
            self.last_time, self._timed_line = _read_time(row) or self.last_time, line

    def _take_head(self, raw: bytes, line: int) -> None:
        # Copies do no harm here: a request id counts once.
        found = HEAD.match(raw)
        data = _DATA.search(raw, found.end())
        row = parse_record(raw[: data.start()] + b"}") if data else None
        known = _read_client(raw, data.end()) if data and found[2] == b"llm:request" else {}
        self.events.append(boil_head(row or {}, line, found[2].decode(), found[1].decode(), known))

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

    def _is_stamped_copy(self, data: JsonObject, raw: bytes) -> bool:
        """Older hooks stamped each line with their own clock: copies then differ in `ts` alone, and agree in data.timestamp."""
        if data["timestamp"].__class__ is not str:
            return False
        key = hash(raw.partition(b'"lvl"')[2] or raw[1:])
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _count_copy(self, line: int) -> None:
        if not self.copies:
            self.first_copy = line
        self.copies += 1


def _read_client(raw: bytes, start: int) -> JsonObject:
    """The provider and the model of a request, as far as its first bytes name them."""
    conversation = _CONVERSATION.search(raw, start)
    stop = conversation.start() if conversation else len(raw)
    return {name.decode(): value.decode() for name, value in reversed(_CLIENT.findall(raw, start, stop))}


def _read_time(row: JsonObject) -> str:
    time = row.get("ts") or row.get("timestamp")
    return time if time.__class__ is str else ""
