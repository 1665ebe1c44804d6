"""Chat logs: JSON Lines of `{id, timestamp, role, content}`, perhaps with turn ids, reply links and rows that tell of turns.

No standard: the smallest shape is in the README, and the usual names of other platforms are understood too (`doctor.notes`). The order
of rows in the file is kept as evidence; who answers whom is judged in the order of time.
"""

from __future__ import annotations

import os

import orjson

from doctor.eventlog import EventLog
from doctor.model import DAMAGED_LINE, SHARED_LINE, Liveness, Message, ShapeProblem, Source, Transcript
from doctor.notes import FAILED, HIDDEN, HUMAN, Notes, RowNote, order_threads, read_note
from doctor.sources.formats.amplifier_content import has_huge_number, holds_separator
from doctor.sources.formats.chat_rows import find_turn_event, read_chat_row, read_text
from doctor.sources.lines import judge_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "chat-log"
EVENTS_ENDING = ".events.jsonl"
RECENT_SECONDS = 15 * 60
"""A question that is younger may still be answered."""
MOST_SHAPE_PROBLEMS = 100
_SAYING = frozenset(("content", "text", "parts", "message", "body"))


def read_transcript(source: Source, path: str) -> Transcript:
    """Reads a chat log in one streaming pass. Rows of other types (typing, reactions) are passed over, those about turns are kept aside."""
    return read_rows(source, path, NAME)


def read_rows(source: Source, path: str, format: str) -> Transcript:
    reader = _Reader(Transcript(path, format, source))
    offset, line, raw, previous = 0, -1, b"", b""
    with source.open() as stream:
        for line, raw in enumerate(stream):
            offset += len(raw)
            reader.transcript.starts.append(offset)
            reader.read_line(raw, line, offset >= source.size, raw == previous)
            previous = raw
    return reader.finish(raw)


class _Reader:
    """Collects messages and their notes, row by row."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.notes: list[RowNote] = []
        self.events: list[tuple[int, dict[str, Any]]] = []
        self.superseded: set[tuple[str, str]] = set()
        self.latest: dict[tuple[str, str, str], int] = {}
        self.spoken: set[int] = set()
        """Indexes of rows that call tools and say something too."""

    def read_line(self, raw: bytes, line: int, is_last: bool, is_repeated: bool) -> None:
        transcript = self.transcript
        if raw.endswith(b"\r\n"):
            transcript.crlf_lines.append(line)
        if not raw.strip():
            transcript.blank_lines.append(line)
            return
        try:
            rows, flags = [orjson.loads(raw)], 0
        except ValueError:
            judged = judge_line(raw, line, is_last)
            rows, flags = list(judged.rows), 0
            if judged.problem is not None:
                transcript.line_problems.append(judged.problem)
                flags = 0 if judged.problem.kind == "bom" else DAMAGED_LINE
            flags |= SHARED_LINE if len(rows) > 1 else 0
        if has_huge_number([rows]) or (not raw.isascii() and holds_separator(raw)):
            from doctor.sources.unusual_bytes import find_unusual_bytes

            transcript.byte_notes += find_unusual_bytes(raw, line)
        for row in rows:
            self.read_row(row, line, flags)
        if is_repeated and rows and isinstance(rows[0], dict) and "role" in rows[0]:
            transcript.repeated_lines.append(line)

    def read_row(self, row: Any, line: int, flags: int) -> None:
        if not isinstance(row, dict):
            self.note_problem(ShapeProblem(line, "object", "the row is no object"))
        elif "role" in row:
            text = read_text(row)
            note = read_note(row, text)
            message = read_chat_row(row, line, note, text)
            self.add(message._replace(flags=message.flags | flags), note, text)
        elif find_turn_event(row):
            self.events.append((line, row))
        elif "type" not in row and "event" not in row and not _SAYING.isdisjoint(row):
            # A row without a word, such as a head with the conversation's title, is no message that lost its role.
            self.note_problem(ShapeProblem(line, "role", "the row has no 'role', and no 'type' that says what else it is"))

    def add(self, message: Message, note: RowNote, text: str) -> None:
        if message.flags or message.kind in ("failure", "aside"):
            self.transcript.unusual.append(len(self.transcript.messages))
        self.transcript.messages.append(message)
        self.notes.append(note)
        if note.id:
            # A streamed or edited message is stored again under its id: of its versions the last one speaks.
            older = self.latest.get((note.thread, note.id, message.role))
            if older is not None:
                self.hide(older)
            self.latest[note.thread, note.id, message.role] = len(self.notes) - 1
        if message.kind == "call" and text.strip():
            self.spoken.add(len(self.notes) - 1)
        if note.supersedes:
            self.superseded.add((note.thread, note.supersedes))

    def note_problem(self, problem: ShapeProblem) -> None:
        self.transcript.shape_problem_count += 1
        if len(self.transcript.shape_problems) < MOST_SHAPE_PROBLEMS:
            self.transcript.shape_problems.append(problem)

    def finish(self, last: bytes) -> Transcript:
        transcript = self.transcript
        transcript.ends_with_eol = last.endswith(b"\n") or not last
        transcript.eol = b"\r\n" if last.endswith(b"\r\n") else b"\n"
        self._rename_agents()
        self._hide_superseded()
        if not any(message.results for message in transcript.messages):
            # A log that keeps no results shows its calls to people: there is nothing to pair.
            for index, message in enumerate(transcript.messages):
                if message.calls:
                    transcript.messages[index] = message._replace(calls=(), kind="reply" if index in self.spoken else "system")
        transcript.notes = Notes(self.notes, order_threads(self.notes), self.events)
        return transcript

    def _rename_agents(self) -> None:
        """`agent` and `bot` are the model where nobody is called the assistant, and a person who helps out where somebody is."""
        messages = self.transcript.messages
        has_assistant = any(message.role == "assistant" for message in messages)
        for index, message in enumerate(messages):
            if message.role in ("agent", "bot") and message.kind == "odd":
                messages[index] = message._replace(role="assistant", kind="reply")
                if has_assistant and message.role == "agent":
                    self.notes[index] = self.notes[index]._replace(marks=self.notes[index].marks | HUMAN)

    def _hide_superseded(self) -> None:
        """What an edit replaced is asked no more."""
        for index, note in enumerate(self.notes):
            if (note.thread, note.id) in self.superseded:
                self.hide(index)

    def hide(self, index: int) -> None:
        self.transcript.messages[index] = self.transcript.messages[index]._replace(kind="aside")
        self.notes[index] = self.notes[index]._replace(marks=self.notes[index].marks | HIDDEN)


def describe_session(transcript: Transcript, path: str, events: str | bool | None = None, now: float = 0.0) -> dict[str, Any]:
    """Keyword arguments of Session: the turns as an event log, the conversation's id, and whether a question is still being answered.

    `events`: a file with the rows about turns, False for none, None for `<name>.events.jsonl` beside the log. Without such a file those
    in the log itself count.

    Raises DoctorError: the named file can't be read, or tells of no turn.
    """
    from doctor.sources.formats.chat_turns import read_turns

    beside = find_events(path) if events is None else events
    log = read_turns(transcript, beside if isinstance(beside, str) else "")
    threads = [thread for thread in transcript.notes.threads if thread]
    session_id = threads[0] if len(transcript.notes.threads) == 1 and threads else ""
    return {"events": log, "session_id": session_id, "liveness": _probe(transcript, log, now)}


def find_events(path: str) -> str | None:
    """`chat.events.jsonl` beside `chat.jsonl`."""
    beside = os.path.splitext(path)[0] + EVENTS_ENDING
    return beside if beside != path and os.path.isfile(beside) else None


def _probe(transcript: Transcript, log: EventLog | None, now: float) -> Liveness:
    """Live while an open turn, or a question without an answer, is no older than the grace period."""
    for order in transcript.notes.threads.values():
        for index in reversed(order):
            note, kind = transcript.notes.rows[index], transcript.messages[index].kind
            if kind in ("reply", "failure") or note.marks & FAILED:
                break
            if kind in ("prompt", "call", "result") and note.time is not None and -RECENT_SECONDS < now - note.time < RECENT_SECONDS:
                return Liveness(True, f"its last message is {max(0, round(now - note.time))} seconds old and waits for its reply")
    for turn in log.turns if log is not None else ():
        if turn.end is None and turn.start is not None and -RECENT_SECONDS < now - turn.start < RECENT_SECONDS:
            return Liveness(True, f"turn {turn.turn} is open and started {max(0, round(now - turn.start))} seconds ago")
    return Liveness(False, "")
