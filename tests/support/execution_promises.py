"""What the doctor must say of a played history, and what it must not: `examine_history(history)` returns what does not hold."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.support.amplifier_client import PLACEHOLDER, list_calls
from tests.support.execution_log import Row
from tests.support.execution_parts import Call, History, Turn
from tests.support.execution_repairs import examine_fix, examine_recovery
from tests.support.execution_room import LATER, SOON, Room, is_lost, is_told_apart
from tests.support.execution_turns import TRANSIENT
from tests.support.properties import Violation
from tests.support.rooms import TRANSCRIPT


def examine_history(history: History) -> list[Violation]:
    later = history.last_time + LATER
    with Room(history) as room:
        report = room.check(later)
        found = [Violation(f"failure of check: {failure.kind}", failure.message) for failure in report.errors]
        for file in report.files:
            found += examine_overlaps(history, file.diagnostics)
            found += examine_notes(history, file.diagnostics)
        if TRANSCRIPT not in history.files:
            return found
        found += examine_errors(history, [seen for file in report.files for seen in file.diagnostics])
        if history.is_cut:
            found += examine_life(history, room)
        if not report.errors:
            found += examine_fix(history, room, later)
    with Room(history) as room:
        return found + examine_recovery(history, room, later)


# AD501 and AD502


def examine_overlaps(history: History, diagnostics: Any) -> list[Violation]:
    found = []
    told = set()
    by_start = {turn.start: turn for turn in history.turns if turn.start >= 0}
    for seen in diagnostics:
        if seen.code == "AD502" and is_told_apart(history) and (seen.line - 1 not in by_start or by_start[seen.line - 1].ends):
            found.append(Violation("AD502 for an execution that ended", seen.message))
        if seen.code != "AD501":
            continue
        places = {row.label: row.line - 1 for row in seen.related}
        pair = (places["the first starts"], places["the second starts"])
        if not set(pair) <= set(by_start):
            found += [Violation("AD501 with a wrong start", seen.message)] if is_told_apart(history) else []
            continue
        if seen.confidence.value != "confirmed":
            if seen.severity.value == "error":
                found.append(Violation("AD501 possible, but an error", seen.message))
            continue
        told.add(pair)
        if pair not in history.overlaps:
            kind = "AD501 of two that did not overlap" if history.overlaps else "AD501 where nothing overlapped"
            if is_told_apart(history):
                found.append(Violation(kind, f"{seen.message}; {seen.why}"))
        if not is_told_apart(history) or len(history.overlaps) > 1:
            # Without ids nothing says which of two requests was answered, and the ends of three at once can't be told apart.
            continue
        names = {line: b'"session:end"' in text for line, text in enumerate(history.log.lines)}
        for line, label in zip(pair, ("the first ends", "the second ends"), strict=True):
            end = places.get(label, -1)
            # A process that leaves ends what it had open: which process that was is not in the log.
            is_known = end in by_start[line].ends.values() or end == by_start[line].end or (not by_start[line].ends and names.get(end))
            if not is_known:
                found.append(Violation("AD501 with a wrong end", f"{label} {places.get(label, -1) + 1}: {seen.message}"))
    for pair, why in list_provable(history).items():
        if pair not in told:
            found.append(Violation(f"AD501 not found, proof {why[:1]}", f"events {pair[0] + 1} and {pair[1] + 1}: {why}"))
    return found


def list_provable(history: History) -> dict[tuple[int, int], str]:
    """Pairs of start lines, and what in the log proves that both were alive."""
    proofs = {}
    dialect = history.log.dialect
    by_start = {turn.start: turn for turn in history.turns}
    for pair in history.overlaps:
        older, newer = by_start[pair[0]], by_start[pair[1]]
        if dialect.start == "prompt" and not newer.asks:
            # Where only the prompt is announced, an execution is seen from its first request on.
            continue
        for call in older.calls:
            if is_told_apart(history) and -1 < call.pre < newer.start < call.end:
                proofs[pair] = f"a: {call.tool} from {call.pre + 1} to {call.end + 1}"
        for ask in older.asks[:1]:
            if is_told_apart(history) and ask.has_id and "named" not in history.happened and -1 < ask.sent < newer.start < ask.answered:
                proofs.setdefault(pair, f"c: request {ask.sent + 1}, answer {ask.answered + 1}")
        both = (older.ends.get("orchestrator:complete", -1), newer.ends.get("orchestrator:complete", -1))
        first = min(both)
        open_others = [one for one in history.turns if one not in (older, newer) and -1 < one.start < first and not -1 < one.end < first]
        between = [turn for turn in history.turns if min(both) < turn.start < max(both)]
        if (
            dialect.start == "execution"
            and dialect.request_ids
            and len(history.overlaps) == 1
            and min(both) > newer.start
            and not open_others
            and not between
        ):
            proofs.setdefault(pair, f"d: ends {both[0] + 1} and {both[1] + 1}")
    return proofs


# AD402, AD505, AD507, AD603


def examine_notes(history: History, diagnostics: Any) -> list[Violation]:
    found = examine_requests(history, [seen for seen in diagnostics if seen.code == "AD505"])
    warnings = [seen for seen in diagnostics if seen.code == "AD507" and seen.severity.value == "warning"]
    told = {id for seen in warnings if seen.confidence.value == "confirmed" for id in seen.ids}
    guessed = {id for seen in warnings for id in seen.ids}
    early = {call.id for call in list_shadowed(history) if any(call.placeholders) and call.end >= 0}
    doubtful = {call.id for call in list_shadowed(history) if len(set(call.placeholders)) > 1}
    found += [Violation("AD507 for a placeholder that came later", id) for id in sorted(told - early - doubtful) if is_told_apart(history)]
    if is_told_apart(history):
        found += [Violation("AD507 missing", id) for id in sorted(early - guessed - doubtful) if begins_within(history, id)]
    rows = history.rows
    replies = {
        block["text"]
        for row in rows
        if row["role"] == "assistant" and isinstance(row["content"], list)
        for block in row["content"]
        if "text" in block
    }
    for seen in diagnostics:
        if seen.code == "AD402" and seen.line and is_told_apart(history):
            turn = next((turn for turn in history.turns if turn.prompt == rows[seen.line - 1]["content"]), None)
            if turn is not None and turn.reply in replies:
                found.append(Violation("AD402 for an answered message", seen.message))
    metadata = history.files.get("metadata.json", b"")
    stale = b'"status": "in_progress"' in metadata and TRANSCRIPT in history.files
    if stale != any(seen.code == "AD603" for seen in diagnostics):
        found.append(Violation("AD603 wrong", f"in progress: {stale}"))
    return found


def begins_within(history: History, id: str) -> bool:
    """Whether a turn began while a call ran: the repair before a prompt comes before all that the log says of it."""
    call = history.calls[id]
    return any(call.pre < turn.start < call.end for turn in history.turns)


def list_shadowed(history: History) -> list[Call]:
    calls = history.calls
    return [calls[row["tool_call_id"]] for row in history.rows if row["role"] == "tool" and row["content"] == PLACEHOLDER]


def examine_requests(history: History, seen: list[Any]) -> list[Violation]:
    found = []
    asks = {ask.line: (turn, ask) for turn in history.turns for ask in turn.asks}
    calls = history.calls
    told = set()
    for one in seen:
        turn, ask = asks.get(one.line - 1, (None, None))
        if turn is None or ask is None:
            found.append(Violation("AD505 with a wrong line", one.message))
            continue
        told.add(turn.start)
        if not ask.open_calls:
            found.append(Violation("AD505 without an open call", one.message))
        elif not set(one.ids) <= ask.open_calls:
            found.append(Violation("AD505 names other calls", f"{one.ids}, open: {sorted(ask.open_calls)}; {one.message}"))
        elif is_told_apart(history) and not ask.patched & ask.open_calls and ask.refusal in ("", TRANSIENT):
            found.append(Violation("AD505 for a request that was not refused for it", one.message))
    if not is_told_apart(history) or not history.log.dialect.call_ids:
        return found
    for turn, ask in asks.values():
        known = [id for id in ask.seen if calls[id].end > ask.line]
        is_told = turn.start < 0 or turn.start in told
        if (
            ask.answered >= 0
            and known
            and not is_told
            and (any(id in ask.patched for id in known) or any(id in ask.refusal for id in known))
        ):
            found.append(Violation("AD505 missing", f"request {ask.line + 1}, open: {sorted(ask.seen)}"))
    return found


def examine_errors(history: History, diagnostics: list[Any]) -> list[Violation]:
    """A history of executions that followed one another has no error that its rows do not deserve."""
    if history.overlaps:
        return []
    deserved = set()
    rows = history.rows
    results = {row["tool_call_id"] for row in rows if row["role"] == "tool"}
    calls = [calls["id"] for row in rows for calls in list_calls(row)]
    if any(id not in results for id in calls):
        deserved |= {"AD301", "AD503"}
    if any(call.end >= 0 for call in list_shadowed(history)):
        deserved |= {"AD305"}
    if any(row["role"] == "tool" and '"cancelled": true' in row["content"] for row in rows):
        deserved |= {"AD305"}
    if any(is_lost(history, turn) for turn in history.turns):
        deserved |= {"AD504", "AD503"}
    if any(is_reminder(one) and other["role"] == "tool" for one, other in pairwise(rows)):
        deserved |= {"AD303"}
    if "metadata.json" not in history.files:
        deserved |= {"AD602"}
    return [
        Violation(f"error {seen.code} that nothing deserves", f"line {seen.line}: {seen.message}")
        for seen in diagnostics
        if seen.severity.value == "error" and seen.code not in deserved
    ]


def is_reminder(row: Row) -> bool:
    return row["role"] == "user" and str(row["content"]).startswith("<system-reminder")


# AD605


def examine_life(history: History, room: Room) -> list[Violation]:
    soon = history.last_time + SOON
    before = room.read()
    (file,) = room.check(soon).files
    alive = [turn for turn in history.turns if turn.is_alive and turn.start >= 0 and not turn.ends and not turn.status and turn.asks]
    if alive and not is_told_apart(history):
        alive = []
    if alive and alive[-1] is not max(history.turns, key=lambda turn: turn.start):
        # An older one that was silent since a process came or went can't be told from a dead one.
        leavings = [line for line, text in enumerate(history.log.lines) if b'"session:resume"' in text or b'"session:end"' in text]
        alive = [turn for turn in alive if not leavings or max(leavings) < find_last_sign(turn)]
    is_told = any(seen.code == "AD605" for seen in file.diagnostics)
    found = []
    if alive and not is_told:
        found.append(Violation("AD605 missing", f"alive: {[turn.start + 1 for turn in alive]}"))
    if is_told:
        report = room.fix(soon)
        if room.read() != before or not any(failure.kind == "live" for failure in report.errors):
            found.append(Violation("fix writes to a live session", str(report.errors)))
    if any(seen.code == "AD605" for one in room.check(soon + LATER).files for seen in one.diagnostics):
        found.append(Violation("AD605 weeks later", file.liveness))
    return found


def find_last_sign(turn: Turn) -> int:
    lines = [line for call in turn.calls for line in (call.pre, call.end)]
    return max([turn.start, *lines, *(line for ask in turn.asks for line in (ask.line, ask.sent, ask.answered))])


# Repairs
