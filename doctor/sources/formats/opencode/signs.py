"""Signs of life of the assistant messages of one session, in one order: by the event table's sequence, else by the times in the messages.

A sign belongs to the message whose execution gave it. What others do to a message is none: a sweep that ends its open calls, a successor
that closes it, a compaction that prunes it, an abort.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from doctor.records import Record
from doctor.sources.formats.opencode.entries import Entry, is_swept_error, is_swept_state
from doctor.sources.formats.opencode.values import get_object, get_text, get_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEGIN, RAN, RESULT, END, FAIL = "begin", "ran", "result", "end", "fail"
LIFE = (RESULT, END, FAIL)
"""What only a running execution does. A beginning may follow a crash."""


class Sign(Record):
    """`order` decides what came first, by > alone; `index` is that of the Entry; `line` is the event's, or the message's."""

    order: int
    time: int
    line: int
    kind: str
    index: int
    call: str = ""


class StoredEvent(Record):
    """One row of the event table. `line` counts the events of its session from 0; `time` is 0 where the table keeps none."""

    line: int
    type: str
    time: int
    data: Any


def read_times(entries: Sequence[Entry]) -> list[Sign]:
    """Signs by the times that messages and calls bear. Equal times decide nothing, so that comparing them must be strict."""
    signs: list[Sign] = []
    assistants = [index for index, entry in enumerate(entries) if entry.is_assistant and entry.created]
    follower = dict(pairwise(assistants))
    for index in assistants:
        entry = entries[index]
        signs.append(Sign(entry.created, entry.created, entry.line, BEGIN, index))
        for tool in entry.tools:
            if tool.is_hosted:
                continue
            if tool.ran:
                signs.append(Sign(tool.ran, tool.ran, entry.line, RAN, index, tool.call_id))
            if tool.ended and not tool.is_open and not tool.is_swept:
                signs.append(Sign(tool.ended, tool.ended, entry.line, RESULT, index, tool.call_id))
        if entry.completed and not is_closed_by_successor(entry, entries[follower[index]] if index in follower else None):
            if entry.error:
                if not entry.is_aborted:
                    signs.append(Sign(entry.completed, entry.completed, entry.line, FAIL, index))
            elif entry.finish:
                signs.append(Sign(entry.completed, entry.completed, entry.line, END, index))
    return signs


def is_closed_by_successor(entry: Entry, follower: Entry | None) -> bool:
    """Whether a message was only closed because another one began: the mark of a crash (V2)."""
    return follower is not None and entry.completed == follower.created != 0 and not entry.finish and not entry.error


def read_events(events: Iterable[StoredEvent], entries: Sequence[Entry]) -> list[Sign]:
    """Signs by the sequence of the event table, which needs no clock. Only the first end of each call and each message counts."""
    places = {entry.id: index for index, entry in enumerate(entries) if entry.is_assistant}
    hosted = {tool.call_id for entry in entries for tool in entry.tools if tool.is_hosted}
    signs: list[Sign] = []
    seen: set[tuple[str, int, str]] = set()
    for event in events:
        for kind, message, call in _tell(event):
            index = places.get(message)
            if index is None or call in hosted:
                continue
            key = ("stop" if kind in (END, FAIL) else kind, index, call)
            if key not in seen:
                seen.add(key)
                signs.append(Sign(event.line, event.time, event.line, kind, index, call))
    return signs


def covers(signs: Iterable[Sign], entries: Sequence[Entry]) -> bool:
    """Whether the event table knows the beginning of every assistant message. Early tables were wiped; imports have no such events."""
    begun = {sign.index for sign in signs if sign.kind == BEGIN}
    return bool(begun) and all(index in begun for index, entry in enumerate(entries) if entry.is_assistant)


def name_event(event: StoredEvent) -> str:
    """The type without its version: `session.tool.success`."""
    head, _, version = event.type.rpartition(".")
    return head if version.isdigit() else event.type


def _tell(event: StoredEvent) -> list[tuple[str, str, str]]:
    """(kind, message id, call id) of what an event is a sign of."""
    name, data = name_event(event), event.data
    if not isinstance(data, dict):
        return []
    if name == "message.updated":
        return _tell_message(get_object(data, "info"))
    if name == "message.part.updated":
        return _tell_part(get_object(data, "part"))
    kind = {
        "session.step.started": BEGIN,
        "session.tool.called": RAN,
        "session.tool.success": RESULT,
        "session.tool.failed": RESULT,
        "session.step.ended": END,
        "session.step.failed": FAIL,
    }.get(name)
    if kind is None or is_swept_error(get_object(data, "error")) or data.get("executed") is True:
        return []
    return [(kind, get_text(data, "assistantMessageID"), get_text(data, "callID"))]


def _tell_message(info: dict[str, Any]) -> list[tuple[str, str, str]]:
    if get_text(info, "role") != "assistant":
        return []
    found = [(BEGIN, get_text(info, "id"), "")]
    if get_time(get_object(info, "time"), "completed"):
        error = get_text(get_object(info, "error"), "name")
        if error:
            found += [(FAIL, get_text(info, "id"), "")] if error != "MessageAbortedError" else []
        elif info.get("finish"):
            found.append((END, get_text(info, "id"), ""))
    return found


def _tell_part(part: dict[str, Any]) -> list[tuple[str, str, str]]:
    if get_text(part, "type") != "tool":
        return []
    state = get_object(part, "state")
    if is_swept_state(state):
        return []
    kind = {"running": RAN, "completed": RESULT, "error": RESULT}.get(get_text(state, "status"))
    return [(kind, get_text(part, "messageID"), get_text(part, "callID"))] if kind else []
