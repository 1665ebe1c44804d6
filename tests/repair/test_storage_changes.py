"""Somebody else writes the file, or one that the plan borrows from, while a fix is under way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.repair.storage import files
from tests.repair.faults import record_calls, watch_calls
from tests.repair.sessions import (
    DAMAGED,
    assert_one_line,
    assert_untouched,
    join,
    plan,
    read_bytes,
    user,
    write,
)


def append_row(path: Path) -> bytes:
    row = join(user("typed meanwhile"))
    with open(path, "ab") as stream:
        stream.write(row)
    return DAMAGED + row


def replace_file(path: Path) -> bytes:
    other = path.with_name("other")
    other.write_bytes(DAMAGED + b"\n")
    os.replace(other, path)
    return DAMAGED + b"\n"


def rewrite_in_place(path: Path) -> bytes:
    """Same size, same inode, old mtime: what `cp -p` of another version does."""
    status = path.stat()
    content = DAMAGED.replace(b"one", b"ONE")
    with open(path, "r+b") as stream:
        stream.write(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return content


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "rename"])
@pytest.mark.parametrize("change", [append_row, replace_file, rewrite_in_place])
def test_a_file_that_changes_between_reading_and_renaming_is_left_alone(
    transcript: Path, change: Any, exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchange:
        monkeypatch.setattr(files, "find_exchange", lambda: None)
    planned = plan(transcript)
    calls = record_calls(lambda: write(planned))
    last = max(number for number, (name, _) in enumerate(calls) if name in ("exchange", "replace"))
    steps = [number for number in range(last + 1) if calls[number][0] in ("open", "fsync", "exchange", "replace")]
    for step in steps:
        for entry in transcript.parent.iterdir():
            entry.unlink()
        transcript.write_bytes(DAMAGED)
        planned = plan(transcript)
        content = b""

        def act(number: int, name: str, arguments: tuple[Any, ...], step: int = step) -> None:
            nonlocal content
            if number == step:
                content = change(transcript)

        if calls[step][0] == "replace" or (calls[step][0] == "exchange" and change is rewrite_in_place):
            continue  # The gap that no look can close: after the swap, size, inode and time are all that is left to tell by.
        with watch_calls(act), pytest.raises(DoctorError, match=r"changed by another program|does not hold what was copied") as caught:
            write(planned)
        assert caught.value.kind == "changed"
        assert_one_line(caught.value)
        assert_untouched(transcript, content)


def test_a_writer_in_the_very_last_moment_wins(transcript: Path) -> None:
    """Between the last look and the swap: only the exchange of names can tell, and gives the other's file back."""
    planned = plan(transcript)
    content = b""

    def act(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal content
        if name == "exchange" and not content:
            content = append_row(transcript)

    if files.find_exchange() is None:
        pytest.skip("no exchange of names on this system")
    with watch_calls(act), pytest.raises(DoctorError, match="changed by another program"):
        write(planned)
    assert_untouched(transcript, content)


def test_a_backup_that_changes_after_planning_stops_the_fix(transcript: Path) -> None:
    whole = b'{"role": "assistant", "content": [{"type": "text", "text": "the end of the story"}]}'
    transcript.write_bytes(join(user("hi")) + whole[:60])
    backup = transcript.with_name("transcript.jsonl.backup")
    backup.write_bytes(join(user("hi")) + whole + b"\n")
    planned = plan(transcript)
    assert read_bytes(planned.source) == join(user("hi")) + whole + b"\n"
    backup.write_bytes(backup.read_bytes().replace(b"story", b"STORY"))
    with pytest.raises(DoctorError, match=r"transcript\.jsonl\.backup was changed"):
        write(planned)
    assert_untouched(transcript, join(user("hi")) + whole[:60], beside=(backup.name,))
