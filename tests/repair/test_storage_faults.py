"""Disks that are full, failing or read-only, and folders that one may not write in."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.repair.storage import files, undo
from tests.repair.faults import record_calls, watch_calls
from tests.repair.sessions import (
    DAMAGED,
    NOW,
    assert_one_line,
    assert_untouched,
    call,
    join,
    list_names,
    plan,
    read_bytes,
    user,
    write,
)

ROOT = os.geteuid() == 0


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_an_error_at_any_call_leaves_the_file_and_no_litter(transcript: Path, code: int) -> None:
    planned = plan(transcript)
    new = read_bytes(planned.source)
    total = len(record_calls(lambda: write(planned)))
    refused = 0
    for step in range(total):
        for entry in transcript.parent.iterdir():
            entry.unlink()
        transcript.write_bytes(DAMAGED)
        planned = plan(transcript)

        def fail(number: int, name: str, arguments: tuple[Any, ...], step: int = step) -> None:
            if number == step and name != "close":
                raise OSError(code, os.strerror(code))

        try:
            with watch_calls(fail):
                write(planned)
        except DoctorError as error:
            assert_one_line(error)
            assert error.kind in ("unwritable", "unreadable")
            if transcript.read_bytes() == new:
                assert "the new file is in place all the same" in error.message
            else:
                refused += 1
                litter = [name for name in list_names(transcript) if name != transcript.name]
                assert transcript.read_bytes() == DAMAGED and litter in ([], [".transcript.jsonl.doctor.lock"]), (step, litter)
    assert refused > 20


@pytest.mark.parametrize("file", [".bak-doctor-", ".tmp"])
def test_a_disk_that_stores_other_bytes_is_noticed_before_anything_is_replaced(
    transcript: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(transcript)
    opened: dict[int, str] = {}
    real_open, real_write = os.open, os.write

    def note_name(path: str, *arguments: Any) -> int:
        descriptor = real_open(path, *arguments)
        opened[descriptor] = str(path)
        return descriptor

    def flip(descriptor: int, data: Any) -> int:
        content = bytes(data)
        return real_write(descriptor, content.replace(b"two", b"twO") if file in opened.get(descriptor, "") else content)

    monkeypatch.setattr(os, "open", note_name)
    monkeypatch.setattr(os, "write", flip)
    with pytest.raises(DoctorError, match="does not hold what was copied into it"):
        write(planned)
    assert_untouched(transcript)


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "rename"])
def test_an_interruption_right_behind_the_swap_keeps_the_backup(transcript: Path, exchange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan(transcript)
    new = read_bytes(planned.source)
    find_exchange, replace = files.find_exchange, os.replace

    def interrupt(job: Any) -> Any:
        def interrupted(first: str, second: str) -> bool:
            job(first, second)
            raise KeyboardInterrupt

        return interrupted

    if exchange:
        monkeypatch.setattr(files, "find_exchange", lambda: interrupt(find_exchange()))
    else:
        monkeypatch.setattr(files, "find_exchange", lambda: None)
        monkeypatch.setattr(os, "replace", interrupt(replace))
    with pytest.raises(KeyboardInterrupt):
        write(planned)
    monkeypatch.undo()
    assert transcript.read_bytes() == new
    assert len(list_names(transcript)) == 4, "backup, quarantine and receipt stay, nothing else"
    undo(str(transcript), now=NOW + 1)
    assert transcript.read_bytes() == DAMAGED


def test_disk_full_on_a_real_small_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], check=False, capture_output=True).returncode:
        pytest.skip("may not mount")
    try:
        path = disk / "transcript.jsonl"
        content = join(user("x" * 30_000), call("a"))
        path.write_bytes(content)
        with pytest.raises(DoctorError, match="the disk is full") as caught:
            write(plan(path))
        assert caught.value.kind == "unwritable"
        assert_one_line(caught.value)
        assert_untouched(path, content)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_limit_on_file_size(transcript: Path) -> None:
    planned = plan(transcript)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(DAMAGED) // 2, limits[1]))
    try:
        with pytest.raises(DoctorError, match="larger than this process or file system may write"):
            write(planned)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_untouched(transcript)


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
@pytest.mark.parametrize("mode", [0o500, 0o700])
def test_without_permission(transcript: Path, mode: int) -> None:
    planned = plan(transcript)
    (transcript.parent if mode == 0o500 else transcript).chmod(mode if mode == 0o500 else 0o400)
    try:
        with pytest.raises(DoctorError, match="no permission") as caught:
            write(planned)
    finally:
        transcript.parent.chmod(0o700)
    assert_one_line(caught.value)
    assert_untouched(transcript)


@pytest.mark.skipif(not ROOT, reason="changes the user for a moment")
@pytest.mark.parametrize("read_only", ["folder", "file"])
def test_without_permission_as_another_user(transcript: Path, read_only: str) -> None:
    for folder in [*reversed(transcript.relative_to("/").parents)][1:]:
        path = Path("/") / folder
        path.chmod(path.stat().st_mode | 0o055)
    transcript.chmod(0o644)
    if read_only == "file":
        transcript.parent.chmod(0o777)
    planned = plan(transcript)
    os.seteuid(65534)
    try:
        with pytest.raises(DoctorError, match="no permission; run as the owner") as caught:
            write(planned)
    finally:
        os.seteuid(0)
    assert caught.value.kind == "unwritable"
    assert_untouched(transcript)


def test_a_read_only_file_system(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", str(disk)], check=False, capture_output=True).returncode:
        pytest.skip("may not mount")
    try:
        path = disk / "transcript.jsonl"
        path.write_bytes(DAMAGED)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(DoctorError, match="read-only file system; write elsewhere with --output"):
            write(plan(path))
        assert_untouched(path)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_name_too_long_for_a_backup(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 240 + ".jsonl")
    path.write_bytes(DAMAGED)
    with pytest.raises(DoctorError, match="no room for the ending of a backup") as caught:
        write(plan(path))
    assert caught.value.kind == "unwritable"
    assert_untouched(path)
