"""Played sessions on disk for an examination, and what of them was lost."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from tests.support.amplifier_client import list_calls
from tests.support.execution_log import Row, load_rows
from tests.support.execution_parts import TRANSCRIPT, History, Turn

SOON, LATER = 5.0, 30 * 86_400.0
"""Seconds behind the last event: while an open execution counts as live, and long after."""


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


def tells_requests(history: History) -> bool:
    """Whether the log says whose an answer is: without ids, of several requests at once, any may have been answered."""
    return not history.overlaps or (history.log.dialect.request_ids and history.log.dialect.call_ids)


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
