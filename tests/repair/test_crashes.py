"""kill -9 at every system call of a fix and of an undo: no session may be lost. Needs fork."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from doctor.repair.storage import files, undo, write_plan
from tests.repair.faults import record_calls, watch_calls
from tests.repair.sessions import DAMAGED, NOW, plan, read_bytes

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    # A runner may have threads of its own; the child uses nothing that they might hold.
    pytest.mark.filterwarnings("ignore:.* is multi-threaded:DeprecationWarning"),
]


def fix(path: Path) -> None:
    planned = plan(path)
    write_plan(planned.session, planned, now=NOW)


def kill_at(number: int, job: Callable[[], object], half: bool) -> bool:
    """Runs a job in a child that kills itself ahead of call `number`. `half`: a write gets half of its bytes out first. False: it ended."""
    child = os.fork()
    if child == 0:
        real_write = os.write

        def kill(count: int, name: str, arguments: tuple[Any, ...]) -> None:
            if count == number:
                if half and name == "write":
                    real_write(arguments[0], bytes(arguments[1])[: max(1, len(arguments[1]) // 2)])
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            with watch_calls(kill):
                job()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def start_over(folder: Path, content: bytes) -> Path:
    for entry in folder.iterdir():
        entry.unlink()
    path = folder / "transcript.jsonl"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("half", [False, True], ids=["before", "half-written"])
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "rename"])
def test_a_killed_fix_leaves_the_old_or_the_new_file_whole(
    tmp_path: Path, half: bool, exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchange:
        monkeypatch.setattr(files, "find_exchange", lambda: None)
    path = start_over(tmp_path, DAMAGED)
    new = read_bytes(plan(path).source)
    number = kills = 0
    outcomes = set()
    while True:
        path = start_over(tmp_path, DAMAGED)
        planned = plan(path)
        if not kill_at(number, lambda planned=planned: write_plan(planned.session, planned, now=NOW), half):
            break
        kills += 1
        number += 1
        content = path.read_bytes()
        assert content in (DAMAGED, new), f"call {number}: neither the old nor the new file"
        outcomes.add(content == new)
        if content == new:
            backups = [entry.read_bytes() for entry in tmp_path.iterdir() if ".bak-doctor-" in entry.name]
            assert backups == [DAMAGED], f"call {number}: the new file without a whole backup"
            undo(str(path), now=NOW + 1)
            assert path.read_bytes() == DAMAGED
        fix(path)
        assert path.read_bytes() == new, f"call {number}: what the killed run left behind is in the way"
    assert kills > 40 and outcomes == {True, False}


@pytest.mark.parametrize("half", [False, True], ids=["before", "half-written"])
def test_a_killed_undo_loses_neither_version(tmp_path: Path, half: bool) -> None:
    number = 0
    outcomes = set()
    while True:
        path = start_over(tmp_path, DAMAGED)
        fix(path)
        new = path.read_bytes()
        if not kill_at(number, lambda path=path: undo(str(path), now=NOW + 1), half):
            break
        number += 1
        content = path.read_bytes()
        outcomes.add(content == new)
        assert content in (DAMAGED, new), f"call {number}"
        everything = [entry.read_bytes() for entry in tmp_path.iterdir()]
        assert DAMAGED in everything and new in everything, f"call {number}: a version is gone"
        if content == new:
            undo(str(path), now=NOW + 2)
        assert path.read_bytes() == DAMAGED
    assert number > 30 and outcomes == {True, False}


def test_everything_is_durable_before_the_name_changes_hands(tmp_path: Path) -> None:
    """A power cut may drop whatever was not synced: contents behind the last fsync of a file, names behind the last one of the folder."""
    path = start_over(tmp_path, DAMAGED)
    planned = plan(path)
    calls = record_calls(lambda: write_plan(planned.session, planned, now=NOW))
    names = [name for name, _ in calls]
    swap = names.index("exchange") if "exchange" in names else names.index("replace")
    open_files: dict[str, int] = {}
    last_write = max(number for number, (name, _) in enumerate(calls[:swap]) if name == "write")
    last_folder_sync = max(number for number, (name, _) in enumerate(calls[:swap]) if name == "fsync")
    assert last_folder_sync > last_write
    created = [arguments[0] for name, arguments in calls[:swap] if name == "open" and arguments[1] & os.O_EXCL]
    assert len(created) == 4, "backup, quarantine, the new file, receipt"
    for number, (name, arguments) in enumerate(calls[:swap]):
        if name == "open" and arguments[1] & os.O_EXCL:
            open_files[arguments[0]] = number
    for file, opened in open_files.items():
        closed = next(number for number in range(opened, swap) if names[number] == "close")
        steps = [name for name in names[opened:closed] if name in ("write", "fsync")]
        assert steps[-1] == "fsync" and steps.count("fsync") == 1, f"{file} is not synced after its last write"
    folder_opened = max(number for number, (name, arguments) in enumerate(calls[:swap]) if name == "open" and arguments[0] == str(tmp_path))
    assert folder_opened > max(open_files.values()), "the folder is synced once all names are in it"
    assert "fsync" in names[swap:], "and again after the swap"
