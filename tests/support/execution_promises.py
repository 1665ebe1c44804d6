"""What the doctor must say of a played history, and what it must not: `examine_history(history)` returns what does not hold."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any

from tests.support.amplifier_client import PLACEHOLDER, list_calls
from tests.support.execution_log import Row, load_rows, write_result
from tests.support.execution_parts import TRANSCRIPT, Call, History, Turn
from tests.support.executions import TRANSIENT
from tests.support.pairing_oracle import find_pairing_errors
from tests.support.properties import Violation

SOON, LATER = 5.0, 30 * 86_400.0
"""Seconds behind the last event: while an open execution counts as live, and long after."""
ONLY_RECOVERED = {"AD503", "AD504", "AD501", "AD505"}
"""Errors that a fix without `recover` may leave behind where something was lost, and the history that they come from."""


class Room:
    """A history on disk for one examination."""

    def __init__(self, history: History) -> None:
        self.base = tempfile.mkdtemp(prefix="execution-")
        self.folder = os.path.join(self.base, history.folder)
        self.path = os.path.join(self.folder, TRANSCRIPT)
        for folder, files in {history.folder: history.files, **history.children}.items():
            os.mkdir(os.path.join(self.base, folder))
            for name, data in files.items():
                with open(os.path.join(self.base, folder, name), "wb") as file:
                    file.write(data)

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def check(self, now: float) -> Any:
        import doctor

        return doctor.check(self.path, now=now, environment={})

    def fix(self, now: float, **how: Any) -> Any:
        import doctor

        return doctor.fix(self.path, now=now, environment={}, dry_run=False, **how)


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
        if seen.code == "AD502" and tells_requests(history) and (seen.line - 1 not in by_start or by_start[seen.line - 1].ends):
            found.append(Violation("AD502 for an execution that ended", seen.message))
        if seen.code != "AD501":
            continue
        places = {row.label: row.line - 1 for row in seen.related}
        pair = (places["the first starts"], places["the second starts"])
        if not set(pair) <= set(by_start):
            found.append(Violation("AD501 with a wrong start", seen.message))
            continue
        if seen.confidence.value != "confirmed":
            if seen.severity.value == "error":
                found.append(Violation("AD501 possible, but an error", seen.message))
            continue
        told.add(pair)
        if pair not in history.overlaps:
            found.append(Violation("AD501 where nothing overlapped", f"{seen.message}; {seen.why}"))
        if not tells_requests(history) or len(history.overlaps) > 1:
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


def is_callers_own(history: History, turn: Turn, call: Call) -> bool:
    """Whether no other turn was answered and had still to call or to end when the first call of this group began."""
    first = min(one.pre for one in turn.calls if one.group == call.group and one.pre >= 0) if call.pre >= 0 else -1
    for other in history.turns:
        if other is turn or not -1 < other.start < first or -1 < other.end < first:
            continue
        asks = [ask for ask in other.asks if ask.line < first]
        if asks and -1 < asks[-1].answered < first and not any(asks[-1].answered < one.pre < first for one in other.calls):
            return False
    return True


def tells_requests(history: History) -> bool:
    """Whether the log says whose an answer is: without ids, of several requests at once, any may have been answered."""
    return not history.overlaps or (history.log.dialect.request_ids and history.log.dialect.call_ids)


def list_provable(history: History) -> dict[tuple[int, int], str]:
    """Pairs of start lines, and what in the log proves that both were alive."""
    proofs = {}
    dialect = history.log.dialect
    by_start = {turn.start: turn for turn in history.turns}
    for pair in history.overlaps:
        older, newer = by_start[pair[0]], by_start[pair[1]]
        for call in older.calls:
            is_provable = dialect.request_ids and dialect.call_ids and is_callers_own(history, older, call)
            if is_provable and -1 < call.pre < newer.start < call.end:
                proofs[pair] = f"a: {call.tool} from {call.pre + 1} to {call.end + 1}"
        for ask in older.asks[:1]:
            if ask.has_id and -1 < ask.sent < newer.start < ask.answered:
                proofs.setdefault(pair, f"c: request {ask.sent + 1}, answer {ask.answered + 1}")
        both = (older.ends.get("orchestrator:complete", -1), newer.ends.get("orchestrator:complete", -1))
        first = min(both)
        open_others = [one for one in history.turns if one not in (older, newer) and -1 < one.start < first and not -1 < one.end < first]
        between = [turn for turn in history.turns if min(both) < turn.start < max(both)]
        if dialect.start == "execution" and dialect.request_ids and len(history.overlaps) == 1 and min(both) > newer.start and not open_others and not between:
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
    found += [Violation("AD507 for a placeholder that came later", id) for id in sorted(told - early - doubtful)]
    if history.log.dialect.call_ids:
        found += [Violation("AD507 missing", id) for id in sorted(early - guessed - doubtful)]
    rows = history.rows
    replies = {block["text"] for row in rows if row["role"] == "assistant" and isinstance(row["content"], list) for block in row["content"] if "text" in block}
    for seen in diagnostics:
        if seen.code == "AD402" and seen.line and tells_requests(history):
            turn = next((turn for turn in history.turns if turn.prompt == rows[seen.line - 1]["content"]), None)
            if turn is not None and turn.reply in replies:
                found.append(Violation("AD402 for an answered message", seen.message))
    metadata = history.files.get("metadata.json", b"")
    stale = b'"status": "in_progress"' in metadata and TRANSCRIPT in history.files
    if stale != any(seen.code == "AD603" for seen in diagnostics):
        found.append(Violation("AD603 wrong", f"in progress: {stale}"))
    return found


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
        elif tells_requests(history) and not ask.patched & ask.open_calls and ask.refusal in ("", TRANSIENT):
            found.append(Violation("AD505 for a request that was not refused for it", one.message))
    if not tells_requests(history) or not history.log.dialect.call_ids:
        return found
    for turn, ask in asks.values():
        known = [id for id in ask.seen if calls[id].end > ask.line]
        is_told = turn.start < 0 or turn.start in told
        if ask.answered >= 0 and known and not is_told and (any(id in ask.patched for id in known) or any(id in ask.refusal for id in known)):
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
    if any(is_reminder(one) and other["role"] == "tool" for one, other in zip(rows, rows[1:], strict=False)):
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
    return turn.status == "success" or bool(turn.ends.keys() & {"execution:end", "session:end"}) or any(call.end >= 0 for call in turn.calls)


def has_prompt(rows: list[Row], turn: Turn) -> bool:
    return any(row["role"] == "user" and row["content"] == turn.prompt for row in rows)


# AD605


def examine_life(history: History, room: Room) -> list[Violation]:
    soon = history.last_time + SOON
    before = room.read()
    (file,) = room.check(soon).files
    alive = [turn for turn in history.turns if turn.is_alive and turn.start >= 0 and not turn.ends]
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


def examine_fix(history: History, room: Room, now: float) -> list[Violation]:
    before = room.read()
    report = room.fix(now)
    if report.errors:
        return [Violation(f"failure of fix: {failure.kind}", failure.message) for failure in report.errors]
    after = room.read()
    found = examine_results(history, load_rows(before), after, "fix")
    is_lossy = any(is_lost(history, turn) for turn in history.turns)
    for seen in (seen for file in room.check(now).files for seen in file.diagnostics):
        # A prompt that failed while an older one was answered goes to the end with --unsafe only.
        is_expected = (is_lossy and seen.code in ONLY_RECOVERED) or (seen.code == "AD401" and bool(history.overlaps))
        if seen.severity.value == "error" and not is_expected and not (seen.code == "AD602" and "metadata.json" not in history.files):
            found.append(Violation(f"error {seen.code} left by fix", f"line {seen.line}: {seen.message}"))
    room.fix(now)
    if room.read() != after:
        found.append(Violation("a second fix changes the file", ""))
    return found


def examine_results(history: History, before: list[Row], after: bytes, how: str) -> list[Violation]:
    """Behind each call stands its result, once: the stored one, else the recorded one, else a placeholder."""
    found = [Violation(f"{how}: pairing error", str(error)) for error in find_pairing_errors(after)]
    stored = {row["tool_call_id"]: row["content"] for row in before if row["role"] == "tool" and is_real(history, row)}
    rows = load_rows(after)
    for index, row in enumerate(rows):
        for called in list_calls(row):
            call = history.calls[called["id"]]
            answers = [one["content"] for one in take_results(rows, index + 1) if one["tool_call_id"] == call.id]
            wanted = list_wanted(history, call, stored)
            if len(answers) != 1 or (wanted and answers[0] not in wanted):
                found.append(Violation(f"{how}: a result is not back", f"{call.id} {call.tool}: {answers}, wanted {wanted}"))
    for id in stored:
        if not any(row["role"] == "tool" and row["tool_call_id"] == id for row in rows):
            found.append(Violation(f"{how}: a stored result is gone", id))
    return found


def take_results(rows: list[Row], start: int) -> list[Row]:
    stop = start
    while stop < len(rows) and rows[stop]["role"] == "tool":
        stop += 1
    return rows[start:stop]


def is_real(history: History, row: Row) -> bool:
    return row["content"] != PLACEHOLDER and '"cancelled": true' not in row["content"] and row["tool_call_id"] in history.calls


def list_wanted(history: History, call: Call, stored: dict[str, str]) -> list[str]:
    """The contents that may stand behind a call; [] where nobody knows any."""
    if call.id in stored:
        return [stored[call.id]]
    if call.end < 0:
        return []
    if history.log.dialect.start == "each" and "reminder" in history.happened:
        # The few results that a hook changed are all that tells how this client stores its results.
        return [call.recorded, call.stored or "", write_result(json.loads(call.whole), True)] if call.whole else [call.recorded]
    # Where no other result shows how this client writes them, the whole object is right: it loses nothing.
    wanted = [call.recorded, call.stored] if any(id in history.calls and history.calls[id].whole for id in stored) else [call.recorded, call.stored, call.whole]
    return wanted if history.log.dialect.call_ids else [*wanted, call.whole, PLACEHOLDER]


def examine_recovery(history: History, room: Room, now: float) -> list[Violation]:
    before = room.read()
    report = room.fix(now, recover=True)
    if report.errors:
        return [Violation(f"failure of fix --recover: {failure.kind}", failure.message) for failure in report.errors]
    after = room.read()
    found = examine_results(history, load_rows(before), after, "recover")
    rows = load_rows(after)
    here = {call["id"] for row in rows for call in list_calls(row)}
    first = min((turn.start for turn in history.turns if turn.start >= 0 and has_prompt(load_rows(before), turn)), default=-1)
    for turn in history.turns:
        if turn.is_dropped and not has_prompt(load_rows(before), turn) and has_prompt(rows, turn):
            found.append(Violation("recover: a dropped turn is back", turn.prompt))
        # Behind a compaction nobody can tell a lost turn from a dropped one, unless older ones stand before it.
        survivors = [other for other in history.turns if -1 < other.start < turn.start and has_prompt(load_rows(before), other)]
        is_doubtful = len(survivors) < 2 and any(b'"context:compaction"' in line for line in history.log.lines[turn.start :])
        if not is_lost(history, turn) or not history.log.dialect.call_ids or history.is_rewound or not -1 < first < turn.start or is_doubtful:
            continue
        if not has_prompt(rows, turn):
            found.append(Violation("recover: a lost prompt is not back", turn.prompt))
        for call in turn.calls:
            if call.end >= 0 and call.id not in here:
                found.append(Violation("recover: a lost call is not back", f"{call.id} of {turn.prompt}"))
    found += examine_order(history, rows)
    room.fix(now, recover=True)
    if room.read() != after:
        found.append(Violation("a second recovery changes the file", ""))
    return found


def examine_order(history: History, rows: list[Row]) -> list[Violation]:
    """Nothing stands twice, and prompts of turns that did not overlap stand in their order."""
    prompts = [row["content"] for row in rows if row["role"] == "user"]
    ids = [call["id"] for row in rows for call in list_calls(row)]
    found = [Violation("recover: twice", str(one)) for one in {*prompts, *ids} if prompts.count(one) > 1 or ids.count(one) > 1]
    here = sorted((turn for turn in history.turns if turn.start >= 0 and turn.prompt in prompts), key=lambda turn: turn.start)
    for one, other in zip(here, here[1:], strict=False):
        if (one.start, other.start) not in history.overlaps and prompts.index(one.prompt) > prompts.index(other.prompt):
            found.append(Violation("recover: prompts in another order", f"{one.prompt} / {other.prompt}"))
    return found
