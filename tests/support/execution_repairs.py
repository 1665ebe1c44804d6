"""What a fix of a played session must bring back, and what it must leave alone."""

from __future__ import annotations

import json
from itertools import pairwise

from tests.support.amplifier_client import PLACEHOLDER, list_calls
from tests.support.execution_log import Row, load_rows, write_result
from tests.support.execution_parts import Call, History
from tests.support.execution_room import Room, has_prompt, is_lost, is_told_apart
from tests.support.pairing_oracle import find_pairing_errors
from tests.support.properties import Violation

ONLY_RECOVERED = {"AD503", "AD504", "AD501", "AD505"}
"""Errors that a fix without `recover` may leave behind where something was lost, and the history that they come from."""


def examine_fix(history: History, room: Room, now: float) -> list[Violation]:
    before = room.read()
    report = room.fix(now)
    if report.errors:
        return [Violation(f"failure of fix: {failure.kind}", failure.message) for failure in report.errors]
    after = room.read()
    found = examine_results(history, load_rows(before), after, "fix")
    is_lossy = any(is_lost(history, turn) for turn in history.turns) or not is_told_apart(history)
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
    wanted = (
        [call.recorded, call.stored]
        if any(history.calls[id].whole and history.calls[id].fate != "hook-fails" for id in stored)
        else [call.recorded, call.stored, call.whole]
    )
    return (
        wanted
        if history.log.dialect.call_ids
        else [*wanted, call.whole, write_result(json.loads(call.whole or '{"output": ""}'), True), PLACEHOLDER]
    )


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
        # Where two processes had contexts of their own, what one of them gave up the other one still had.
        is_shared = bool(history.overlaps) and not {"compacted", "cleared"}.isdisjoint(history.happened)
        if turn.is_dropped and not is_shared and not has_prompt(load_rows(before), turn) and has_prompt(rows, turn):
            found.append(Violation("recover: a dropped turn is back", turn.prompt))
        # Behind a compaction nobody can tell a lost turn from a dropped one, unless older ones stand before it.
        survivors = [other for other in history.turns if -1 < other.start < turn.start and has_prompt(load_rows(before), other)]
        is_compacted = any(b'"context:compaction"' in line for line in history.log.lines[turn.start :])
        is_doubtful = len(survivors) < 2 and is_compacted
        if (
            not is_lost(history, turn)
            or not is_told_apart(history)
            or not history.log.dialect.call_ids
            or history.is_rewound
            or not -1 < first < turn.start
            or is_doubtful
        ):
            continue
        if not has_prompt(rows, turn):
            found.append(Violation("recover: a lost prompt is not back", turn.prompt))
        for call in turn.calls:
            if call.end >= 0 and call.id not in here and not is_compacted:
                found.append(Violation("recover: a lost call is not back", f"{call.id} of {turn.prompt}"))
    found += examine_order(history, rows)
    room.fix(now, recover=True)
    if room.read() != after:
        found.append(Violation("a second recovery changes the file", ""))
    return found


def examine_order(history: History, rows: list[Row]) -> list[Violation]:
    """Nothing stands twice, and where no turns overlapped the prompts stand in their order."""
    prompts = [row["content"] for row in rows if row["role"] == "user"]
    ids = [call["id"] for row in rows for call in list_calls(row)]
    found = [Violation("recover: twice", str(one)) for one in {*prompts, *ids} if prompts.count(one) > 1 or ids.count(one) > 1]
    here = sorted((turn for turn in history.turns if turn.start >= 0 and turn.prompt in prompts), key=lambda turn: turn.start)
    for one, other in pairwise(here):
        if not history.overlaps and prompts.index(one.prompt) > prompts.index(other.prompt):
            found.append(Violation("recover: prompts in another order", f"{one.prompt} / {other.prompt}"))
    return found
