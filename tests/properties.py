"""`python -m tests.properties [--count 10000] [--seed N] [--jobs N] [--failures DIR]`: damaged and sound sessions by the thousand.

Every session comes from its number alone. Each failure is cut down to the lines that it needs and written to a folder of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.support.damage import MOVING, damage_session
from tests.support.properties import TRANSCRIPT, Room, Violation, examine_damaged, examine_sound, list_expected
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


def examine_number(number: int) -> tuple[int, list[str], list[Violation]]:
    case = draw_case(number)
    return number, case.damage, examine_case(case)


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


def write_failure(folder: str, case: Case, violations: list[Violation], count: int) -> str:
    kind = violations[0].kind
    name = "".join(letter if letter.isalnum() else "-" for letter in kind)[:60].strip("-")
    path = os.path.join(folder, f"{name}.{count}")
    os.makedirs(path, exist_ok=True)
    files = cut_down(case, kind)
    for name, data in files.items():
        with open(os.path.join(path, name), "wb") as file:
            file.write(data)
    with open(os.path.join(path, "README.txt"), "w", encoding="utf-8") as file:
        file.write(f"session {case.number}, {case.way}, damage: {', '.join(case.damage) or 'none'}\n\nin the whole session:\n")
        file.writelines(f"{found.kind}\n    {found.detail}\n" for found in violations)
        file.write("\nin the lines that are left:\n")
        file.writelines(f"{found.kind}\n    {found.detail}\n" for found in examine_case(case, files))
        file.write("\nwhat check says of them:\n")
        with Room(files) as room:
            for seen in (seen for one in room.check().files for seen in one.diagnostics):
                fix = f"{seen.fix.safety.name}: {seen.fix.title}" if seen.fix else "no fix"
                file.write(f"{seen.severity} {seen.code} line {seen.line}: {seen.message}\n    {fix}\n")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description="Examines damaged and sound sessions by the thousand.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first session")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--failures", metavar="DIR", help="where the cut-down failures go (default: a new temporary folder)")
    wanted = parser.parse_args()
    from multiprocessing import Pool

    folder = wanted.failures or os.path.join(tempfile.gettempdir(), f"property-failures-{os.getpid()}")
    kinds: Counter[str] = Counter()
    damage_of: dict[str, Counter[str]] = {}
    failed = done = 0
    start = time.monotonic()
    with Pool(wanted.jobs) as pool:
        for number, damage, violations in pool.imap_unordered(examine_number, range(wanted.seed, wanted.seed + wanted.count), chunksize=10):
            done += 1
            failed += bool(violations)
            # Every kind once a session, so that one bad session with a hundred lost rows does not drown the others.
            for violation in {found.kind: found for found in violations}.values():
                kinds[violation.kind] += 1
                damage_of.setdefault(violation.kind, Counter()).update(damage or ["none"])
                if kinds[violation.kind] <= KEPT_OF_A_KIND:
                    others = [violation, *(found for found in violations if found is not violation)]
                    path = write_failure(folder, draw_case(number), others, kinds[violation.kind])
                    print(f"FAILED session {number}: {violation.kind}: {violation.detail[:200]}\n       {path}", flush=True)
            if done % 500 == 0:
                print(f"{done} of {wanted.count} sessions, {failed} failed, {time.monotonic() - start:.0f} s", flush=True)
    for kind, count in kinds.most_common():
        often = ", ".join(f"{name} {times}" for name, times in damage_of[kind].most_common(3))
        print(f"{count:6} x {kind}   ({often})")
    print(f"{done} sessions, {done - failed} hold, {failed} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
