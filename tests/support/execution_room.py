"""Played sessions on disk for an examination, and what of them was lost."""

from __future__ import annotations

from tests.support.amplifier_client import list_calls
from tests.support.execution_log import Row, load_rows
from tests.support.execution_parts import Ask, Call, History, Turn
from tests.support.rooms import TRANSCRIPT, Folders, Store

SOON, LATER = 5.0, 30 * 86_400.0
"""Seconds behind the last event: while an open execution counts as live, and long after."""


class Room(Store):
    """A history on disk for one examination."""

    def __init__(self, history: History) -> None:
        super().__init__(list_folders(history))


def list_folders(history: History) -> Folders:
    """Its own first, then those of its children."""
    return {history.folder: history.files, **history.children}


def is_told_apart(history: History) -> bool:
    """Whether the log says whose each event is. Without ids, of several requests at once any may have been answered; and where two
    executions are at the same step, any of them may have taken the next one."""
    if not history.overlaps:
        return True
    dialect = history.log.dialect
    if not (dialect.request_ids and dialect.call_ids) or dialect.start == "prompt":
        return False
    asks = [(turn, ask) for turn in history.turns for ask in turn.asks]
    if any(ask.sent < 0 for _, ask in asks) or any(
        one is not other and ask.line < later.line < ask.sent for one, ask in asks for other, later in asks
    ):
        return False
    if any(turn.cancel or any(call.fate == "denied" for call in turn.calls) for turn in history.turns):
        return False
    if any(hesitates(history, *one) for one in asks):
        return False
    return all(is_callers_own(history, turn, call) for turn in history.turns for call in turn.calls if call.pre >= 0)


def hesitates(history: History, turn: Turn, ask: Ask) -> bool:
    """Whether another turn began between a request and what its own turn did before."""
    lines = [line for call in turn.calls for line in (call.pre, call.end) if line < ask.line]
    before = max([turn.start, *lines])
    return any(before < other.start < ask.line for other in history.turns if other is not turn)


def is_callers_own(history: History, turn: Turn, call: Call) -> bool:
    """Whether no other turn was answered and had still to call or to end, or had still to send, when the first call of this group began."""
    first = min(one.pre for one in turn.calls if one.group == call.group and one.pre >= 0) if call.pre >= 0 else -1
    for other in history.turns:
        if other is turn or not -1 < other.start < first or -1 < other.end < first:
            continue
        asks = [ask for ask in other.asks if ask.line < first]
        if asks and not -1 < asks[-1].sent < first:
            return False
        if asks and -1 < asks[-1].answered < first and not any(asks[-1].answered < one.pre < first for one in other.calls):
            return False
    return True


def is_lost(history: History, turn: Turn) -> bool:
    """Whether rows of a turn that did something are missing, and nobody took them out."""
    rows = history.rows
    is_kept = has_prompt(load_rows(history.files.get(f"{TRANSCRIPT}.backup")), turn) and not has_prompt(rows, turn)
    if turn.is_dropped or turn.start < 0 or not (has_effect(turn) or is_kept):
        return False
    here = {call["id"] for row in rows for call in list_calls(row)}
    return not has_prompt(rows, turn) or any(call.end >= 0 and call.id not in here for call in turn.calls)


def has_effect(turn: Turn) -> bool:
    # Of a prompt alone nobody says that it is lost, unless the client's backup has it.
    return (
        turn.status == "success" or bool(turn.ends.keys() & {"execution:end", "session:end"}) or any(call.end >= 0 for call in turn.calls)
    )


def has_prompt(rows: list[Row], turn: Turn) -> bool:
    return any(row["role"] == "user" and row["content"] == turn.prompt for row in rows)
