"""`python -m tests.executions [--count 10000] [--seed N] [--jobs N] [--failures DIR]`: played sessions by the thousand.

Every session comes from its number alone. The first failures of each kind are written to folders of their own, with what happened.
"""

from __future__ import annotations

import os
import sys

from tests.support.execution_promises import examine_history
from tests.support.execution_room import Room, list_folders
from tests.support.executions import play_history
from tests.support.properties import Violation
from tests.support.rooms import list_findings, write_folders
from tests.support.runs import Examined, run_examinations

KEPT_OF_A_KIND = 3


def examine_seed(seed: int) -> Examined:
    history = play_history(seed)
    try:
        found = examine_history(history)
    except Exception as error:
        found = [Violation(f"crash {type(error).__name__}", f"{error}")]
    return Examined(seed, (history.kind, *history.happened, *(("overlap",) if history.overlaps else ())), found)


def write_failure(path: str, seed: int, violations: list[Violation]) -> None:
    history = play_history(seed)
    write_folders(path, list_folders(history))
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
            file.writelines(list_findings(room.check(history.last_time + 1e6)))


def main() -> int:
    return run_examinations(
        "tests.executions", "Plays sessions by the thousand and examines them.", examine_seed, write_failure, KEPT_OF_A_KIND
    )


if __name__ == "__main__":
    sys.exit(main())
