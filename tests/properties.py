"""`python -m tests.properties [--count 10000] [--seed N] [--jobs N] [--failures DIR]`: damaged and sound sessions by the thousand.

Every session comes from its number alone. Each failure is cut down to the lines that it needs and written to a folder of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.support.damage import MOVING, damage_session
from tests.support.properties import Room, Violation, examine_damaged, examine_sound, list_expected
from tests.support.rooms import TRANSCRIPT, list_findings, write_folders
from tests.support.runs import Examined, run_examinations
from tests.support.sessions import build_session

MOST_TRIES = 400
"""Examinations spent on cutting one failure down."""
KEPT_OF_A_KIND = 5
EVERY_SOUND = 5
"""One session in so many stays undamaged, and one gets only damage after which no recorded result may be missing."""
MOVING_NAMES = tuple(damage.__name__ for damage in MOVING)


class Case(NamedTuple):
    """One session by its number. `way`: sound, moving or damaged."""

    number: int
    way: str
    files: dict[str, bytes]
    damage: list[str]
    expected: dict[str, str]


def draw_case(number: int) -> Case:
    random = Random(f"case {number}")
    draft = build_session(random)
    sound = draft.files()
    if number % EVERY_SOUND == 0:
        return Case(number, "sound", sound, [], {})
    if number % EVERY_SOUND == 1:
        files, damage = damage_session(draft, random, kinds=MOVING_NAMES)
        return Case(number, "moving", files, damage, list_expected(sound[TRANSCRIPT], files))
    files, damage = damage_session(draft, random)
    return Case(number, "damaged", files, damage, {})


def examine_case(case: Case, files: dict[str, bytes] | None = None) -> list[Violation]:
    files = case.files if files is None else files
    try:
        return examine_sound(files) if case.way == "sound" else examine_damaged(files, case.expected)
    except Exception as error:
        return [Violation(f"crash {type(error).__name__}", f"{error}")]


def examine_number(number: int) -> Examined:
    case = draw_case(number)
    return Examined(number, case.damage or ["none"], examine_case(case))


def cut_down(case: Case, kind: str) -> dict[str, bytes]:
    """The files with as few lines as still show a violation of this kind. Sound and moving cases stay whole: they rest on all rows."""
    files = dict(case.files)
    if case.way != "damaged":
        return files
    tries = MOST_TRIES

    def still_fails(candidate: dict[str, bytes]) -> bool:
        nonlocal tries
        tries -= 1
        return any(found.kind == kind for found in examine_case(case, candidate))

    for name in [name for name in files if name != TRANSCRIPT]:
        candidate = {key: data for key, data in files.items() if key != name}
        if still_fails(candidate):
            files = candidate
    for name in [name for name in (TRANSCRIPT, "events.jsonl") if name in files]:
        files[name] = cut_lines(files[name], lambda data, name=name: tries > 0 and still_fails({**files, name: data}))
    return files


def cut_lines(data: bytes, still_fails: Callable[[bytes], bool]) -> bytes:
    """Leaves out runs of lines, halving the length of the runs, as long as the failure stays."""
    lines = data.splitlines(keepends=True) if b"\n" not in data else [line + b"\n" for line in data.split(b"\n")]
    if b"\n" in data:
        lines[-1] = lines[-1][:-1]
    size = max(1, len(lines) // 2)
    while size:
        start = 0
        while start < len(lines):
            shorter = lines[:start] + lines[start + size :]
            if still_fails(b"".join(shorter)):
                lines = shorter
            else:
                start += size
        size //= 2
    return b"".join(lines)


def write_failure(path: str, number: int, violations: list[Violation]) -> None:
    case = draw_case(number)
    files = cut_down(case, violations[0].kind)
    write_folders(path, {"": files})
    with open(os.path.join(path, "README.txt"), "w", encoding="utf-8") as file:
        file.write(f"session {case.number}, {case.way}, damage: {', '.join(case.damage) or 'none'}\n\nin the whole session:\n")
        file.writelines(f"{found.kind}\n    {found.detail}\n" for found in violations)
        file.write("\nin the lines that are left:\n")
        file.writelines(f"{found.kind}\n    {found.detail}\n" for found in examine_case(case, files))
        file.write("\nwhat check says of them:\n")
        with Room(files) as room:
            file.writelines(list_findings(room.check()))


def main() -> int:
    summary = "Examines damaged and sound sessions by the thousand."
    return run_examinations("tests.properties", summary, examine_number, write_failure, KEPT_OF_A_KIND)


if __name__ == "__main__":
    sys.exit(main())
