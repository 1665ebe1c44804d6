"""Examinations by the thousand, as a command: what `python -m tests.properties` and `python -m tests.executions` share."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing import Pool
from typing import NamedTuple

from tests.support.properties import Violation

EVERY = 500
"""Sessions between two lines of progress."""


class Examined(NamedTuple):
    """One session by its number. `words` say what it is made of, and are counted."""

    number: int
    words: Sequence[str]
    violations: list[Violation]


def run_examinations(
    command: str,
    summary: str,
    examine: Callable[[int], Examined],
    write_failure: Callable[[str, int, list[Violation]], None],
    kept: int,
) -> int:
    """Examines as many sessions as the command line asks for; returns the exit code. `write_failure` gets a folder of its own, the number
    and the violations, the one that counts first; so many of a kind are `kept`."""
    parser = argparse.ArgumentParser(prog=f"python -m {command}", description=summary)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first session")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--failures", metavar="DIR", help="where failures go (default: a new temporary folder)")
    wanted = parser.parse_args()
    folder = wanted.failures or os.path.join(tempfile.gettempdir(), f"{command}-failures-{os.getpid()}")
    kinds: Counter[str] = Counter()
    words: Counter[str] = Counter()
    words_of: dict[str, Counter[str]] = {}
    failed = done = 0
    start = time.monotonic()
    with Pool(wanted.jobs) as pool:
        for one in pool.imap_unordered(examine, range(wanted.seed, wanted.seed + wanted.count), 10):
            done += 1
            failed += bool(one.violations)
            words.update(one.words)
            # Every kind once a session, so that one bad session with a hundred lost rows does not drown the others.
            for violation in {found.kind: found for found in one.violations}.values():
                kinds[violation.kind] += 1
                words_of.setdefault(violation.kind, Counter()).update(one.words)
                if kinds[violation.kind] <= kept:
                    path = os.path.join(folder, f"{name_folder(violation.kind)}.{kinds[violation.kind]}")
                    os.makedirs(path, exist_ok=True)
                    write_failure(path, one.number, [violation, *(found for found in one.violations if found is not violation)])
                    print(f"FAILED {one.number}: {violation.kind}: {violation.detail[:200]}\n       {path}", flush=True)
            if done % EVERY == 0:
                print(f"{done} of {wanted.count} sessions, {failed} failed, {time.monotonic() - start:.0f} s", flush=True)
    print(", ".join(f"{word} {count}" for word, count in words.most_common()))
    for kind, count in kinds.most_common():
        often = ", ".join(f"{word} {times}" for word, times in words_of[kind].most_common(3))
        print(f"{count:6} x {kind}   ({often})")
    print(f"{done} sessions, {done - failed} hold, {failed} fail")
    return 1 if failed else 0


def name_folder(kind: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in kind)[:60].strip("-")
