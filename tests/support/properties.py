"""What must hold for every session, however damaged: `examine_damaged(files)` and `examine_sound(files)` return what does not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.support.cases import find_hidden
from tests.support.conservation import find_inventions, find_losses, find_moves, find_result_id, is_placeholder, parse
from tests.support.pairing_oracle import find_pairing_errors
from tests.support.rooms import TRANSCRIPT, Store
from tests.support.sessions import NOW, SESSION_ID


class Violation(NamedTuple):
    """`kind` groups violations of one promise; `detail` is one line for people."""

    kind: str
    detail: str


def describe(failure: Any) -> str:
    """Kind and message of a failure without what differs from session to session: paths, numbers, quoted texts."""
    said = failure.message.rpartition(f"{TRANSCRIPT}: ")[2]
    said = re.sub(r"«[^»]*»|\([^)]*\)", "(…)", said)
    return f"{failure.kind}: " + re.sub(r"\b(?:toolu_\w+|\d+)\b", "#", said)[:140]


class Room(Store):
    """A session folder on disk for one examination."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__({SESSION_ID: files}, NOW)

    def find_hidden(self) -> list[str]:
        from doctor.analysis.registry import load_rules
        from doctor.analysis.targets import aim_session
        from doctor.sources.session import read_session

        session = read_session(self.path, now=NOW)
        aim_session(session)
        return find_hidden(session, load_rules())


def examine_sound(files: Mapping[str, bytes]) -> list[Violation]:
    """A session that nothing is wrong with: no finding above info, no change."""
    with Room(files) as room:
        report = room.check()
        found = [Violation(f"failure {describe(failure)}", failure.message) for failure in report.errors]
        for file in report.files:
            found += [
                Violation(f"false alarm {seen.code}", f"line {seen.line}: {seen.message}")
                for seen in file.diagnostics
                if seen.severity.value != "info"
            ]
        fixed = room.fix(dry_run=False)
        if room.read() != files[TRANSCRIPT] or any(file.fix.changed for file in fixed.files):
            found.append(Violation("changes a sound session", titles(fixed)))
    return found


def examine_damaged(files: Mapping[str, bytes], expected: Mapping[str, str] | None = None) -> list[Violation]:
    """Any session: all promises of a safe and of an unsafe fix. `expected`: texts by id of results that must be in the fixed file."""
    before = files[TRANSCRIPT]
    with Room(files) as room:
        checked = room.check()
        found = [Violation(f"failure of check: {describe(failure)}", failure.message) for failure in checked.errors]
        found += (
            [] if checked.errors else [Violation("a rule is passed over that would find something", code) for code in room.find_hidden()]
        )
        planned = room.fix(dry_run=True)
        if room.read() != before or len(os.listdir(room.folder)) != len(files):
            found.append(Violation("a dry run writes", str(sorted(os.listdir(room.folder)))))
        if not checked.errors:
            found += examine_fix(room, before, planned, expected or {})
    with Room(files) as room:
        if not checked.errors:
            found += examine_unsafe_fix(room)
    return found


def examine_fix(room: Room, before: bytes, planned: Any, expected: Mapping[str, str]) -> list[Violation]:
    report = room.fix(dry_run=False)
    found = [Violation(f"failure of fix: {describe(failure)}", failure.message) for failure in report.errors]
    if report.errors:
        if room.read() != before:
            found.append(Violation("a failed fix writes", titles(report)))
        return found
    after = room.read()
    if titles(planned) != titles(report):
        found.append(Violation("a dry run says something else", f"{titles(planned)} / {titles(report)}"))
    file = report.files[0]
    quarantine = read_file(file.fix.quarantine)
    found += [
        Violation(f"loss: {loss.why}", f"line {loss.line + 1}: {loss.data[:160]!r}") for loss in find_losses(before, after, quarantine)
    ]
    found += [Violation(f"move: {loss.why}", f"{loss.data[:160]!r}") for loss in find_moves(before, after)]
    found += [Violation(f"invention: {loss.why}", f"{loss.data[:160]!r}") for loss in find_inventions(before, after)]
    found += examine_rest(room, report, after, "safe", 2)
    found += [Violation("pairing error that nothing reports", error) for error in find_unreported(after, file.diagnostics)]
    found += [Violation("refusal that nothing reports", error) for error in find_unexplained_refusals(room)]
    held = {find_result_id(row): flatten(row) for row in read_rows(after) if find_result_id(row) is not None and not is_placeholder(row)}
    found += [Violation("a recorded result is not back", f"{id}: {text[:120]}") for id, text in expected.items() if held.get(id) != text]
    if after != before:
        found += examine_undo(room, before)
    elif file.fix.changed or file.fix.applied:
        found.append(Violation("says it changed what it did not", titles(report)))
    return found


def examine_unsafe_fix(room: Room) -> list[Violation]:
    report = room.fix(dry_run=False, unsafe=True)
    if report.errors:
        return [Violation(f"failure of fix --unsafe: {describe(failure)}", failure.message) for failure in report.errors]
    after = room.read()
    found = examine_rest(room, report, after, "unsafe", 1)
    # A call or result without id ("null") can't be paired by anybody.
    left = [error for error in find_unreported(after, report.files[0].diagnostics, manual_only=True) if not error.endswith(" null")]
    return found + [Violation("pairing error after --unsafe", error) for error in left]


def examine_rest(room: Room, report: Any, after: bytes, how: str, least: int) -> list[Violation]:
    """What a fix left: nothing that it could fix itself, the same as a new check sees, and nothing for a second fix."""
    file = report.files[0]
    found = [
        Violation(f"{how}: fixable finding left {seen.code}", f"line {seen.line}: {seen.message}; {seen.fix.title}")
        for seen in file.diagnostics
        if seen.fix is not None and seen.fix.safety >= least and seen.severity.value == "error"
    ]
    fresh = room.check()
    found += [Violation(f"{how}: failure of the second check: {describe(failure)}", failure.message) for failure in fresh.errors]
    seen = sorted(f"{found.code}:{found.line}" for one in fresh.files for found in one.diagnostics)
    told = sorted(f"{found.code}:{found.line}" for found in file.diagnostics)
    if seen != told and not fresh.errors:
        found.append(Violation(f"{how}: a new check sees something else", f"told {told}, seen {seen}"))
    again = room.fix(dry_run=False, unsafe=how == "unsafe")
    if room.read() != after:
        found.append(Violation(f"{how}: a second fix changes the file", titles(again)))
    return found


def examine_undo(room: Room, before: bytes) -> list[Violation]:
    import doctor

    try:
        doctor.undo(room.path)
    except Exception as error:
        return [Violation("undo fails", f"{type(error).__name__}: {error}")]
    return [] if room.read() == before else [Violation("undo brings back other bytes", "")]


def list_expected(sound: bytes, files: Mapping[str, bytes]) -> dict[str, str]:
    """Texts by id of the results of a sound session which the damaged one still holds, or its events do."""
    left = {find_result_id(row) for row in read_rows(files[TRANSCRIPT]) if not is_placeholder(row)}
    logged = "events.jsonl" in files
    return {id: flatten(row) for row in read_rows(sound) if (id := find_result_id(row)) is not None and (logged or id in left)}


def read_rows(data: bytes) -> list[Any]:
    return [row for line in data.split(b"\n") if (row := parse(line.strip().removeprefix(b"\xef\xbb\xbf"))) is not None]


def flatten(row: Any) -> str:
    """The text of a result, whether it is stored as a string or as one text block."""
    content = row.get("content")
    if isinstance(content, str):
        return content
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return "".join(str(block.get("text", "")) for block in blocks)


def titles(report: Any) -> str:
    return json.dumps([f"{step.code} {step.title}" for file in report.files for step in (file.fix.applied if file.fix else ())])


def read_file(path: str) -> bytes:
    if not path:
        return b""
    with open(path, "rb") as file:
        return file.read()


def find_unexplained_refusals(room: Room) -> list[str]:
    """What any of the five APIs would refuse after a safe fix although no error-level finding names its row or its id, or although a safe
    fix of such a finding is on offer."""
    import doctor
    from doctor.refusals import PAIRING_RULES, WIRES

    report = doctor.check(room.path, now=NOW, environment={}, wires=WIRES)
    refusals = []
    for file in report.files:
        errors = [seen for seen in file.diagnostics if seen.severity.value == "error" and (seen.fix is None or seen.fix.safety < 2)]
        named = {line for seen in errors for line in (seen.line, *(row.line for row in seen.related))}
        ids = {id for seen in errors for id in seen.ids}
        many = {seen.code for seen in errors}
        for verdict in file.wires:
            for violation in verdict.errors:
                rows = {line + 1 for line in violation.lines}
                # One finding stands for all unsigned thinking of a file; a row without a usable role is sent to nobody, so that the
                # next one counts as the first.
                by_file = bool({"AN-22": {"AD405"}, "GM-02": {"AD202", "AD406"}}.get(violation.rule, set()) & many)
                # One unanswered call or orphan shifts what an API that counts parts says of later rows.
                by_file = by_file or (violation.rule in PAIRING_RULES and any(code.startswith("AD3") for code in many))
                covered = rows & named or ids.intersection(violation.ids) or by_file
                if not covered:
                    refusals.append(f"{verdict.wire} {violation.rule} rows {sorted(rows)}: {violation.text[:160]}")
    return refusals


def find_unreported(data: bytes, diagnostics: Any, manual_only: bool = False) -> list[str]:
    """Pairing errors that no error-level finding accounts for: none names their row or their id, nor an unreadable row that holds the id.

    `manual_only`: findings that could have been fixed account for nothing.
    """
    errors = [seen for seen in diagnostics if seen.severity.value == "error"]
    if manual_only:
        errors = [seen for seen in errors if seen.fix is None or seen.fix.safety == 0]
    lines = data.split(b"\n")
    named = {line for seen in errors for line in (seen.line, *(row.line for row in seen.related))}
    ids = {id for seen in errors for id in seen.ids}
    unreadable = b"\n".join(lines[line - 1] for line in named if 0 < line <= len(lines) and parse(lines[line - 1]) is None)
    return [
        f"{error.rule} line {error.line + 1} {error.id}"
        for error in find_pairing_errors(data)
        if error.line + 1 not in named and error.id not in ids and error.id.encode() not in unreadable
    ]
