"""Which turns of a chat log ran at the same time: by their events, by rows that take turns, by a reply that another one did not see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from doctor.eventlog import Execution, Overlap, TurnRecord
from doctor.model import Transcript
from doctor.notes import FAILED, name_noted_row, write_clock, write_time
from doctor.records import Record
from doctor.sources.formats.chat_rows import read_text

LONGEST_TEXT = 2_000


class Span(Record):
    """One turn: what its events and its rows say. Lines are those of the event log, indexes those of the transcript's messages."""

    record: TurnRecord
    start_line: int
    end_line: int
    parent: str
    outputs: tuple[int, ...]
    """Indexes of the rows that it wrote, in the order of time."""


def read_message(transcript: Transcript, index: int | None) -> str:
    """What a message says, read again; "" for None."""
    row = transcript.read_row(transcript.messages[index].line) if index is not None else None
    return read_text(row)[:LONGEST_TEXT] if isinstance(row, dict) else ""


def name_row(transcript: Transcript, index: int) -> str:
    return name_noted_row(transcript.messages[index].line, transcript.notes.rows[index])


def list_outputs(transcript: Transcript) -> dict[str, list[int]]:
    """Indexes of the rows that each turn wrote, by turn id, in file order. A result belongs to the turn of its call. A user row is none: it
    is stored when it arrives, whatever turn takes it up later."""
    callers: dict[str, str] = {}
    found: dict[str, list[int]] = {}
    for index, message in enumerate(transcript.messages):
        turn = transcript.notes.rows[index].turn
        if message.calls:
            callers.update(dict.fromkeys((call.id for call in message.calls), turn))
        elif message.results and not turn:
            turn = callers.get(message.results[0].call_id, "")
        if turn and message.role != "user" and message.kind != "aside":
            found.setdefault(turn, []).append(index)
    return found


def find_overlaps(
    spans: Sequence[Span], described: Mapping[int, Execution], transcript: Transcript, restarts: Sequence[float]
) -> Iterator[Overlap]:
    """Turns of one conversation of which the second started before the first ended. A turn inside another one is part of it."""
    alive: list[Span] = []
    for newer in spans:
        start = newer.record.start
        if start is None:
            continue
        alive = [older for older in alive if (lives_until(older, transcript) if older.record.end is None else older.record.end) > start]
        for older in alive:
            related = older.record.turn in (newer.parent, newer.record.turn) or older.parent == newer.record.turn
            if older.record.thread != newer.record.thread or related:
                continue
            proof = _prove(older, newer, transcript, restarts)
            if proof is not None:
                yield Overlap(described[older.start_line], described[newer.start_line], "confirmed", *proof)
        alive.append(newer)


def lives_until(span: Span, transcript: Transcript) -> float:
    """The time of the last row of a turn without an end: nothing shows that it lived on."""
    times = [time for index in span.outputs if (time := transcript.notes.rows[index].time) is not None]
    return max(times, default=float("-inf"))


def _prove(older: Span, newer: Span, transcript: Transcript, restarts: Sequence[float]) -> tuple[str, tuple[int, ...]] | None:
    start = newer.record.start or 0.0
    begun = f"turn {newer.record.turn} started at {write_clock(start)}"
    if older.record.end is not None:
        return f"{begun}, before turn {older.record.turn} ended at {write_clock(older.record.end)}", (newer.start_line, older.end_line)
    dead = next((time for time in restarts if time > (older.record.start or 0.0)), None)
    for index in older.outputs:
        time = transcript.notes.rows[index].time
        if time is not None and time > start and (dead is None or time < dead):
            return f"{begun}, and turn {older.record.turn} wrote {name_row(transcript, index)} after that", (newer.start_line,)
    return None


def find_alternations(transcript: Transcript) -> Iterator[Overlap]:
    """Turns whose rows stand between those of another turn, each pair once. Exact where file and times tell the same."""
    outputs = list_outputs(transcript)
    turn_of = {index: turn for turn, rows in outputs.items() for index in rows}
    seen: set[frozenset[str]] = set()
    for order in transcript.notes.threads.values():
        place = {index: number for number, index in enumerate(order)}
        own = [index for index in order if index in turn_of]
        last: dict[str, int] = {}
        for number, index in enumerate(own):
            turn = turn_of[index]
            before = last.get(turn)
            last[turn] = number
            if before is None or transcript.notes.rows[own[before]].marks & FAILED:
                # An error ended the turn; what follows under its id is another try.
                continue
            for between in own[before + 1 : number]:
                pair = frozenset((turn, turn_of[between]))
                if pair not in seen:
                    seen.add(pair)
                    yield _describe_alternation(transcript, outputs, turn_of, (own[before], between, index), place)


def _describe_alternation(
    transcript: Transcript,
    outputs: Mapping[str, Sequence[int]],
    turn_of: Mapping[int, str],
    rows: tuple[int, int, int],
    place: Mapping[int, int],
) -> Overlap:
    turn, other = turn_of[rows[0]], turn_of[rows[1]]
    lines = tuple(transcript.messages[index].line for index in rows)
    parts = sorted((_describe_rows(transcript, one, outputs[one], place) for one in (turn, other)), key=lambda part: part.start_line)
    names = [name_row(transcript, index) for index in rows]
    text = f"{names[1]} of turn {other} stands between {names[0]} and {names[2]} of turn {turn}"
    is_certain = list(rows) == sorted(rows)
    if not is_certain:
        text += " by their times, but not in the file"
    return Overlap(parts[0], parts[1], "confirmed" if is_certain else "possible", text, lines)


def _describe_rows(transcript: Transcript, turn: str, indexes: Iterable[int], place: Mapping[int, int]) -> Execution:
    """A turn of which nothing but its rows is known."""
    rows = sorted(indexes, key=lambda index: place.get(index, index))
    messages, notes = transcript.messages, transcript.notes.rows
    first, last = (write_time(time) if (time := notes[index].time) is not None else "" for index in (rows[0], rows[-1]))
    replies = [index for index in rows if messages[index].kind == "reply"]
    asked = next((index for index, note in enumerate(notes) if note.turn == turn and messages[index].kind == "prompt"), None)
    lines = [messages[index].line for index in rows]
    return Execution(
        start_line=min(lines), start_time=first, prompt=read_message(transcript, asked) or f"turn {turn}", text_key=0,
        end_line=max(lines), end_time=last, status="", last_line=max(lines), last_time=last,
        response=read_message(transcript, replies[-1] if replies else None),
    )  # fmt: skip


def find_blind(transcript: Transcript, spans: Sequence[Span], described: Mapping[int, Execution]) -> Iterator[Overlap]:
    """Turns whose start nobody recorded, but whose context ends before a reply that was finished before their own."""
    messages, notes = transcript.messages, transcript.notes.rows
    span_of = {index: span for span in spans for index in span.outputs}
    for order in transcript.notes.threads.values():
        place = {index: number for number, index in enumerate(order)}
        ids = {notes[index].id: index for index in order if notes[index].id}
        replies = [index for index in order if messages[index].kind == "reply"]
        for one, other in pairwise(replies):
            span = span_of.get(other)
            context = (span.record.context if span else "") or notes[other].context
            seen = ids.get(context)
            same = notes[one].turn == notes[other].turn != "" or (span is not None and span_of.get(one) is span)
            if not context or seen is None or same or (span is not None and span.record.start is not None):
                continue
            if place[one] > place[seen] and (notes[one].time or 0.0) < (notes[other].time or 0.0):
                yield _describe_blind(transcript, (seen, one, other), (span_of.get(one), span), described)


def _describe_blind(
    transcript: Transcript, rows: tuple[int, int, int], spans: tuple[Span | None, Span | None], described: Mapping[int, Execution]
) -> Overlap:
    seen, one, other = (transcript.messages[index].line for index in rows)
    names = [transcript.notes.rows[index].turn or f"of row {transcript.messages[index].line + 1}" for index in rows[1:]]
    shown = [name_row(transcript, index) for index in rows]
    text = (
        f"the reply in {shown[2]} was written from the conversation up to {shown[0]}: without the reply in {shown[1]}, "
        "which was finished before it"
    )
    if spans[0] is not None and spans[1] is not None:
        older, newer = described[spans[0].start_line], described[spans[1].start_line]
        return Overlap(older, newer, "confirmed", text, (older.start_line, newer.start_line))
    older, newer = (_describe_rows(transcript, name, [index], {}) for name, index in zip(names, rows[1:], strict=True))
    return Overlap(older, newer, "confirmed", text, (seen, one, other))
