"""What a row says about itself beside its message: its id and time, the turn that wrote it, what it answers, and what sets it apart.

Chat platforms spell these in many ways; the aliases are those that public exports use. Read eagerly for chat logs, and for a single row
when a rule asks about another transcript.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HIDDEN = 1  # deleted, muted or superseded by an edit: neither asks nor answers
PROACTIVE = 2  # a greeting, a reminder, a scheduled or autonomous message: answers nobody
FAILED = 4  # an error in the place of a reply
HUMAN = 8  # written by a person who took over
BRANCH = 16  # a regenerated or edited version of another row
HANDOVER = 32  # from here on a person answers
TREE = 64  # the link names the previous row of a tree, not the message that is answered

ID_KEYS = ("id", "messageId", "message_id", "uuid")
TIME_KEYS = ("timestamp", "createdAt", "created_at", "ts", "time", "at")
TURN_KEYS = ("turnId", "turn_id", "runId", "run_id", "interactionId", "interaction_id")
LINK_KEYS = ("replyTo", "reply_to", "inReplyTo", "in_reply_to", "parentID", "parentId", "parent_id")
CONTEXT_KEYS = ("contextThrough", "context_through")
THREAD_KEYS = ("threadId", "thread_id", "thread", "conversationId", "conversation_id", "channelId", "channel_id", "chatId", "chat_id",
               "sessionId", "session_id")  # fmt: skip
AUTHOR_KEYS = ("userId", "user_id", "authorId", "author", "senderId", "sender", "name")
_HIDING = ("deleted", "isDeleted", "is_deleted", "deletedAt", "deleted_at", "hidden", "muted", "retracted")
_BRANCHING = ("regeneratedFrom", "regenerated_from", "regenerationOf", "regenerated", "retryOf", "retry_of", "editOf", "edit_of",
              "editedFrom", "replaces", "supersedes", "versionOf", "variantOf", "branchId", "branch_id", "branch")  # fmt: skip
_SUPERSEDING = ("editOf", "edit_of", "editedFrom", "replaces", "supersedes")
_ORIGINS = ("source", "origin", "trigger", "kind", "type", "category", "event")
_UNASKED = frozenset(("proactive", "scheduled", "schedule", "cron", "loop", "timer", "reminder", "greeting", "welcome", "notification",
                      "broadcast", "autonomous", "heartbeat"))  # fmt: skip
_PERSONS = frozenset(("operator", "human_agent", "human-agent", "support", "staff", "moderator"))
"""Not `agent`: on most platforms that is the model."""
_SPEAKERS = ("author", "sender", "sentBy", "sent_by", "answeredBy", "authorType", "senderType", "sender_type", "source")
_TELLING = frozenset((
    *TURN_KEYS, *LINK_KEYS, *CONTEXT_KEYS, *THREAD_KEYS, *AUTHOR_KEYS, *_HIDING, *_BRANCHING, *_ORIGINS, *_SPEAKERS, "status", "error",
    "isError", "proactive", "scheduled", "greeting",
))  # fmt: skip
_DIGITS = ("4", "5")
_ROLES = ("user", "assistant", "system", "tool")  # no set: what a row names its role may be anything, a list too
_HANDOVER = r"(?i)\b(?:hand(?:ed|ing)?[ _-]?(?:over|off)|take[ _-]?over|taken over|escalated to|transferred to|live agent|human agent)"
_ERROR_OF_SYSTEM = (
    r"(?i)^\W*(?:[\w-]+ ){0,2}(?:error|exception)(?:\s*[:(\d]|\s*$| occurred| while)|^\W*[\w-]+ \([45]\d\d\)|^\W*[45]\d\d\b|"
    r"\bturn (?:failed|errored)\b"
)
_ERROR_OF_ASSISTANT = r"(?i)^\W*(?:(?:[\w-]+ )?error\W{0,3}\(?[45]\d\d\b|[\w-]+ \([45]\d\d\):|[45]\d\d(?::| \{))"
_FAILURES = ("error", "failed", "errored", "failure")
EARLIEST, LATEST = 1e8, 253_370_764_800.0
"""Before 1973 it is no time at all: a counter, a duration, a clock that was never set (Go writes the year 1). Behind 9998 calendars end."""
MILLISECONDS, MICROSECONDS, NANOSECONDS = 1e11, 1e14, 1e17
"""From these numbers on an epoch time is no longer in seconds (the year 5138), milliseconds or microseconds."""


FEWEST_REVERSED = 4
"""Rows with a time from which on their reverse order is a habit and no accident."""


class RowNote(Record):
    """`time` in seconds since the epoch, None where there is none that can be read; `stamp` as it was written; `spelling`: iso, naive
    (without a zone), s, ms, us, ns, bad, or "" for a row without time. `author` is that of a user row. `marks`: a sum of the above."""

    id: str = ""
    time: float | None = None
    stamp: str = ""
    spelling: str = ""
    turn: str = ""
    links: tuple[str, ...] = ()
    context: str = ""
    thread: str = ""
    author: str = ""
    marks: int = 0
    supersedes: str = ""


NOTHING = RowNote()


class Notes(Record):
    """The notes of all messages of a transcript, message by message. `threads`: message indexes of each conversation in the order of
    time. `events`: (line, row) of rows that are no messages but tell of turns."""

    rows: list[RowNote]
    threads: dict[str, list[int]]
    events: list[tuple[int, dict[str, Any]]]


def is_newest_first(times: Sequence[float | None]) -> bool:
    """Whether a conversation is kept in reverse, as APIs hand it out: no row is newer than the one before it. A few may be chance."""
    known = [time for time in times if time is not None]
    return len(known) >= FEWEST_REVERSED and known[0] > known[-1] and all(one >= other for one, other in pairwise(known))


def order_threads(notes: Sequence[RowNote]) -> dict[str, list[int]]:
    """Message indexes by thread, each in the order of time; a row without a time stays behind its neighbour in the file. Of rows with one
    time the file decides, read from its end where it is kept newest first."""
    threads: dict[str, list[tuple[float, int]]] = {}
    latest: dict[str, float] = {}
    for index, note in enumerate(notes):
        time = note.time if note.time is not None else latest.get(note.thread, 0.0)
        latest[note.thread] = time
        threads.setdefault(note.thread, []).append((time, index))
    for rows in threads.values():
        sign = -1 if is_newest_first([notes[index].time for _, index in rows]) else 1
        rows.sort(key=lambda row: (row[0], sign * row[1]))
    return {thread: [index for _, index in rows] for thread, rows in threads.items()}


def read_note(row: Any, text: str = "") -> RowNote:
    """The note of one row; `text` is what it says, for errors that are stored as a text."""
    if not isinstance(row, dict):
        return NOTHING
    time, stamp, spelling = read_row_time(row)
    if _TELLING.isdisjoint(row) and row.get("role") in _ROLES:
        # The smallest shape, which most rows have: nothing but a text can tell more.
        role, head = row["role"], text[:60]
        may_fail = role == "system" or (role == "assistant" and ("rror" in head or "(4" in head or "(5" in head or head[:1] in _DIGITS))
        marks = find_marks(row, text) if may_fail else 0
        return RowNote(read_key(row, ID_KEYS), time, stamp, spelling, marks=marks)
    tree = not any(row.get(key) for key in LINK_KEYS[:4])
    links = read_ids(row, LINK_KEYS)
    return RowNote(
        id=read_key(row, ID_KEYS),
        time=time,
        stamp=stamp,
        spelling=spelling,
        turn=read_key(row, TURN_KEYS),
        links=links,
        context=read_key(row, CONTEXT_KEYS),
        thread=read_key(row, THREAD_KEYS),
        author=read_key(row, AUTHOR_KEYS) if row.get("role") in ("user", "human") else "",
        marks=find_marks(row, text) | (TREE if links and tree else 0),
        supersedes=read_key(row, _SUPERSEDING),
    )


def read_row_time(row: Mapping[str, Any]) -> tuple[float | None, str, str]:
    """(seconds, as written, spelling) of a row's time; Amplifier keeps it in the metadata."""
    value = next((row[key] for key in TIME_KEYS if row.get(key) is not None), None)
    if isinstance(value, dict):
        value = value.get("created")
    metadata = row.get("metadata")
    if value is None and isinstance(metadata, dict):
        value = metadata.get("timestamp")
    if value is None:
        return None, "", ""
    time, spelling = read_time(value)
    return time, str(value)[:64], spelling


def read_time(value: Any) -> tuple[float | None, str]:
    """(seconds since the epoch, spelling) of an ISO text, a date in English words (RFC 2822, JavaScript's `toString`) or an epoch number,
    which may come as digits in a text. Naive times count as UTC; the unit of a number is told by its size."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d{9,19}(?:\.\d+)?\s*", value):
        value = float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _read_number(value)
    if not isinstance(value, str):
        return None, "bad"
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        worded = _read_words(value.strip())
        if worded is None:
            return None, "bad"
        moment = worded
    if moment.tzinfo is None and ":" not in value:
        return None, "bad"
    seconds = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    if not EARLIEST <= seconds < LATEST:
        return None, "bad"
    return seconds, "iso" if moment.tzinfo is not None else "naive"


def _read_words(text: str) -> datetime | None:
    """A date that names its zone behind a space (`2026-01-01 07:00:03 +0000 UTC`), or that is written in English words."""
    try:
        zoned = re.fullmatch(r"(\d{4}-\d\d-\d\d[ T][\d:.]+)\s*([+-]\d\d:?\d\d)?\s*(UTC|GMT|Z)?", text)
        if zoned is not None and (zoned[2] or zoned[3]):
            return datetime.fromisoformat(zoned[1] + (zoned[2] or "+00:00"))
        if not re.search(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)", text[:40]):
            return None
        from email.utils import parsedate_to_datetime

        script = re.match(r"\w{3} (\w{3}) (\d\d?) (\d{4}) ([\d:]+) (?:GMT|UTC)([+-]\d{4})", text)
        return parsedate_to_datetime(f"{script[2]} {script[1]} {script[3]} {script[4]} {script[5]}" if script is not None else text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _read_number(number: float) -> tuple[float | None, str]:
    if not EARLIEST <= number < 1e19:
        return None, "bad"
    for limit, unit, spelling in ((NANOSECONDS, 1e9, "ns"), (MICROSECONDS, 1e6, "us"), (MILLISECONDS, 1e3, "ms")):
        if number >= limit:
            return number / unit, spelling
    return float(number), "s"


def write_time(seconds: float) -> str:
    """An ISO text in UTC with milliseconds, for the places that show times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def write_clock(seconds: float | None) -> str:
    return write_time(seconds)[11:23] if seconds is not None else "?"


def name_noted_row(line: int, note: RowNote) -> str:
    """`row 2 (m2, 07:08:14.000)`: a message as findings name it, with its id and time where it has them."""
    known = [part for part in (note.id, write_clock(note.time) if note.time is not None else "") if part]
    return f"row {line + 1}" + (f" ({', '.join(known)})" if known else "")


def read_key(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """The first of some keys that holds a text or a number, as text."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, dict):
            value = value.get("id")
        if (isinstance(value, str) and value) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return ""


def read_ids(row: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, ...]:
    """As read_key, for keys that may hold a list."""
    for key in keys:
        values = row.get(key) if isinstance(row.get(key), list) else [row.get(key)]
        found = tuple(text for value in values or () if (text := read_key({"": value}, ("",))))
        if found:
            return found
    return ()


def find_marks(row: Mapping[str, Any], text: str) -> int:
    role = row.get("role")
    status = row.get("status")
    marks = HIDDEN if any(row.get(key) for key in _HIDING) or status in ("deleted", "hidden", "muted", "discarded") else 0
    origins = [value.lower() for key in _ORIGINS if isinstance(value := row.get(key), str)]
    if any(row.get(key) is True for key in ("proactive", "scheduled", "greeting")) or _UNASKED.intersection(origins):
        marks |= PROACTIVE
    if any(row.get(key) for key in _BRANCHING):
        marks |= BRANCH
    if any(re.search(_HANDOVER, origin) for origin in origins) or (role == "system" and re.search(_HANDOVER, text[:400])):
        marks |= HANDOVER
    speakers = {_name_speaker(row.get(key)) for key in _SPEAKERS} if role == "assistant" else {_name_speaker(role)}
    if speakers & (_PERSONS if role != "assistant" else _PERSONS | {"human"}):
        marks |= HUMAN
    if role != "user" and _is_failure(row, role, status, text):
        marks |= FAILED
    return marks


def _name_speaker(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("type") or value.get("kind") or value.get("role")
    return value.lower() if isinstance(value, str) else ""


def _is_failure(row: Mapping[str, Any], role: Any, status: Any, text: str) -> bool:
    if row.get("error") or row.get("isError") or row.get("type") == "error" or role == "error" or status in _FAILURES:
        return role != "tool"
    pattern = _ERROR_OF_ASSISTANT if role in ("assistant", "ai", "model") else _ERROR_OF_SYSTEM
    return role != "tool" and re.search(pattern, text[:300]) is not None
