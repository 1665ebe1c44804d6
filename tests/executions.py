"""`python -m tests.executions [--count 10000] [--seed N] [--jobs N] [--failures DIR]`: played sessions by the thousand.

Every session comes from its number alone. The first failures of each kind are written to folders of their own, with what happened.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter

from tests.support.execution_parts import History
from tests.support.execution_promises import examine_history
from tests.support.execution_room import Room
from tests.support.executions import play_history
from tests.support.properties import Violation

KEPT_OF_A_KIND = 3


def examine_seed(seed: int) -> tuple[int, str, tuple[str, ...], list[Violation]]:
    history = play_history(seed)
    try:
        found = examine_history(history)
    except Exception as error:
        found = [Violation(f"crash {type(error).__name__}", f"{error}")]
    more = ("overlap",) if history.overlaps else ()
    return seed, history.kind, history.happened + more, found


def write_failure(folder: str, history: History, violations: list[Violation], count: int) -> str:
    kind = violations[0].kind
    name = "".join(letter if letter.isalnum() else "-" for letter in kind)[:60].strip("-")
    path = os.path.join(folder, f"{name}.{count}")
    for place, files in {history.folder: history.files, **history.children}.items():
        os.makedirs(os.path.join(path, place), exist_ok=True)
        for file_name, data in files.items():
            with open(os.path.join(path, place, file_name), "wb") as file:
                file.write(data)
    with open(os.path.join(path, "README.txt"), "w", encoding="utf-8") as file:
        file.write(f"seed {history.seed}, {history.kind}, {', '.join(history.happened)}\n{history.log.dialect}\n\n")
        file.writelines(f"{found.kind}\n    {found.detail}\n" for found in violations)
        for turn in history.turns:
            process = [id(one.process) for one in history.turns].index(id(turn.process))
            ends = ", ".join(f"{name} {line + 1}" for name, line in turn.ends.items())
            file.write(f"\n{turn.prompt}: starts at event {turn.start + 1}, {ends or 'no end'}; {turn.status or 'died'}")
            file.write(f"; process of turn {process}{', dropped' if turn.is_dropped else ''}{', alive' if turn.is_alive else ''}\n")
            file.writelines(
                f"    {call.id} {call.tool} {call.fate}: {call.pre + 1}-{call.end + 1} {call.placeholders}\n" for call in turn.calls
            )
            file.writelines(
                f"    request {ask.line + 1}, {ask.sent + 1}-{ask.answered + 1}, open {sorted(ask.open_calls)}, seen {sorted(ask.seen)}"
                f"{', patched' if ask.patched else ''} {ask.refusal[:60]}\n"
                for ask in turn.asks
            )
        file.write(f"\nreally overlapped: {sorted((one + 1, other + 1) for one, other in history.overlaps)}\n\nwhat check says:\n")
        with Room(history) as room:
            for seen in (seen for one in room.check(history.last_time + 1e6).files for seen in one.diagnostics):
                fix = f"{seen.fix.safety.name}: {seen.fix.title}" if seen.fix else "no fix"
                file.write(f"{seen.severity} {seen.code} {seen.confidence} line {seen.line}: {seen.message}\n    {fix}\n    {seen.why}\n")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.executions", description="Plays sessions by the thousand and examines them.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first session")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--failures", metavar="DIR", help="where failures go (default: a new temporary folder)")
    wanted = parser.parse_args()
    from multiprocessing import Pool

    folder = wanted.failures or os.path.join(tempfile.gettempdir(), f"execution-failures-{os.getpid()}")
    kinds: Counter[str] = Counter()
    played: Counter[str] = Counter()
    failed = done = 0
    start = time.monotonic()
    with Pool(wanted.jobs) as pool:
        for seed, kind, happened, violations in pool.imap_unordered(examine_seed, range(wanted.seed, wanted.seed + wanted.count), 10):
            done += 1
            failed += bool(violations)
            played.update((kind, *happened))
            for violation in {found.kind: found for found in violations}.values():
                kinds[violation.kind] += 1
                if kinds[violation.kind] <= KEPT_OF_A_KIND:
                    others = [violation, *(found for found in violations if found is not violation)]
                    path = write_failure(folder, play_history(seed), others, kinds[violation.kind])
                    print(f"FAILED {seed}: {violation.kind}: {violation.detail[:200]}\n       {path}", flush=True)
            if done % 1000 == 0:
                print(f"{done} of {wanted.count} sessions, {failed} failed, {time.monotonic() - start:.0f} s", flush=True)
    print(", ".join(f"{name} {count}" for name, count in played.most_common()))
    for kind, count in kinds.most_common():
        print(f"{count:6} x {kind}")
    print(f"{done} sessions, {done - failed} hold, {failed} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
