"""Writing a plan, and everything that can go wrong while it is written."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import stat
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.findings import Failure
from doctor.model import Liveness
from doctor.repair.plans import Plan
from doctor.repair.storage import Written, files, undo, write_plan
from doctor.sources.source import MemorySource
from tests.repair.faults import record_calls, watch_calls
from tests.repair.sessions import DAMAGED, NOW, all_rules, call, join, plan, read, read_bytes, result, user

ROOT = os.geteuid() == 0


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    folder = tmp_path / "session"
    folder.mkdir()
    path = folder / "transcript.jsonl"
    path.write_bytes(DAMAGED)
    return path


def write(planned: Plan, **named: Any) -> Written:
    return write_plan(planned.session, planned, now=named.pop("now", NOW), **named)


def list_names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


def assert_untouched(path: Path, content: bytes = DAMAGED, beside: tuple[str, ...] = ()) -> None:
    assert path.read_bytes() == content
    assert list_names(path) == sorted([path.name, *beside])


def assert_one_line(error: DoctorError) -> None:
    assert "\n" not in error.message and "Errno" not in error.message and len(error.message) < 400


def test_a_fix_leaves_backup_quarantine_and_receipt(transcript: Path) -> None:
    planned = plan(transcript)
    new = read_bytes(planned.source)
    written = write(planned)
    assert transcript.read_bytes() == new != DAMAGED
    assert Path(written.backup).read_bytes() == DAMAGED
    assert len(list_names(transcript)) == 4, "no temporary file, no lock"
    quarantined = Path(written.quarantine).read_bytes().splitlines()
    assert len(quarantined) == len(planned.quarantined) == 2
    assert all(line in DAMAGED for line in quarantined)
    paper = json.loads(Path(written.receipt).read_bytes())
    assert paper["before"] == {"size": len(DAMAGED), "sha256": sha256(DAMAGED).hexdigest()}
    assert paper["after"] == {"size": len(new), "sha256": sha256(new).hexdigest()}
    assert [fix["code"] for fix in paper["fixes"]] == [fix.code for fix in planned.applied]
    old_lines, new_lines = DAMAGED.split(b"\n"), new.split(b"\n")
    for row in paper["rows"]["moved"]:
        assert old_lines[row["from"] - 1] == new_lines[row["to"] - 1]
        assert sha256(old_lines[row["from"] - 1]).hexdigest() == row["sha256"]
    for row in paper["rows"]["added"]:
        assert sha256(new_lines[row["line"] - 1]).hexdigest() == row["sha256"]
    for row in paper["rows"]["removed"]:
        assert sha256(old_lines[row["line"] - 1]).hexdigest() == row["sha256"] and row["quarantined"]
    assert str(transcript.parent) not in Path(written.receipt).read_text(), "a moved folder must not make the receipt wrong"


def test_mode_and_owner_stay(transcript: Path) -> None:
    transcript.chmod(0o640)
    if ROOT:
        os.chown(transcript, 1234, 4321)
    before = transcript.stat()
    written = write(plan(transcript))
    for path in (transcript, Path(written.backup), Path(written.quarantine), Path(written.receipt)):
        after = path.stat()
        assert stat.S_IMODE(after.st_mode) == 0o640
        assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert Path(written.backup).stat().st_nlink == 1, "a real copy: a writer that holds the old file open must not change it"


def test_nothing_to_fix_writes_nothing(transcript: Path) -> None:
    transcript.write_bytes(join(user("hi")))
    assert write(plan(transcript)) == Written("")
    assert_untouched(transcript, join(user("hi")))


def test_a_failed_plan_is_not_written(transcript: Path) -> None:
    planned = plan(transcript)._replace(failure=Failure(str(transcript), "internal", "no proof"))
    with pytest.raises(DoctorError, match="no proof"):
        write(planned)
    assert_untouched(transcript)


@pytest.mark.parametrize("target", ["../store/real.jsonl", "/absolute"])
def test_a_symlink_is_followed_and_stays(transcript: Path, tmp_path: Path, target: str) -> None:
    store = tmp_path / "store"
    store.mkdir()
    real = store / "real.jsonl"
    real.write_bytes(DAMAGED)
    transcript.unlink()
    transcript.symlink_to(real if target == "/absolute" else target)
    written = write(plan(transcript))
    assert transcript.is_symlink() and real.read_bytes() == transcript.read_bytes() != DAMAGED
    assert Path(written.backup).parent == store and list_names(transcript) == ["transcript.jsonl"]
    undo(str(transcript), now=NOW + 1)
    assert transcript.is_symlink() and real.read_bytes() == DAMAGED


def test_a_live_session_is_refused_unless_forced(transcript: Path) -> None:
    planned = plan(transcript)
    planned.session.liveness = Liveness(True, "its lock is held")
    with pytest.raises(DoctorError, match="in use: its lock is held") as caught:
        write(planned)
    assert caught.value.kind == "live"
    assert_untouched(transcript)
    assert write(planned, force=True).path


def test_a_second_doctor_is_refused(transcript: Path) -> None:
    lock = transcript.parent / ".transcript.jsonl.doctor.lock"
    with open(lock, "wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        for force in (False, True):
            with pytest.raises(DoctorError, match="another amplifier-doctor is at work") as caught:
                write(plan(transcript), force=force)
            assert caught.value.kind == "live"
        with pytest.raises(DoctorError, match="another amplifier-doctor"):
            undo(str(transcript), now=NOW)
    assert_untouched(transcript, beside=(lock.name,))
    assert write(plan(transcript)).path, "a lock that a killed run left behind is not in the way"
    assert not lock.exists()


def test_a_lock_that_vanishes_while_it_is_taken_is_taken_anew(transcript: Path) -> None:
    """The other doctor removes the name when it is done; whoever had opened it before must not hold a lock that nobody else sees."""
    planned = plan(transcript)
    lock = transcript.parent / ".transcript.jsonl.doctor.lock"
    opened = []

    def remove_once(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "stat" and arguments[0] == str(lock) and not opened:
            opened.append(number)
            lock.unlink()

    with watch_calls(remove_once):
        assert write(planned).path
    assert opened and not lock.exists()


def test_the_clients_lock_is_held_meanwhile_and_respected(transcript: Path, tmp_path: Path) -> None:
    lock = tmp_path / "session.lock"
    lock.write_bytes(b"")
    held = []

    def probe(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name in ("exchange", "replace"):
            done = subprocess.run(["flock", "--nonblock", str(lock), "true"], check=False)
            held.append(done.returncode)

    planned = plan(transcript)
    with open(lock, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(DoctorError, match="the client holds the session's lock") as caught:
            write(planned, client_locks=[str(lock)])
    assert caught.value.kind == "live"
    assert_untouched(transcript)
    with watch_calls(probe):
        write(planned, client_locks=[str(lock), str(tmp_path / "missing.lock")])
    assert held == [1] and lock.exists()


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
        with watch_calls(act), pytest.raises(DoctorError, match="changed by another program|does not hold what was copied") as caught:
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


def test_a_file_that_is_gone(transcript: Path) -> None:
    planned = plan(transcript)
    transcript.unlink()
    with pytest.raises(DoctorError, match="gone") as caught:
        write(planned)
    assert_one_line(caught.value)
    assert list_names(transcript) == []


def test_two_fixes_in_one_microsecond_have_two_backups(transcript: Path) -> None:
    first = write(plan(transcript))
    fixed = transcript.read_bytes()
    transcript.write_bytes(fixed + join(call("late")))
    second = write(plan(transcript))
    assert first.backup != second.backup
    assert Path(first.backup).read_bytes() == DAMAGED and Path(second.backup).read_bytes() == fixed + join(call("late"))


def test_output_leaves_the_input_alone(transcript: Path, tmp_path: Path) -> None:
    planned = plan(transcript)
    new = read_bytes(planned.source)
    transcript.chmod(0o600)
    planned = plan(transcript)
    output = tmp_path / "fixed.jsonl"
    assert write(planned, output=str(output)) == Written(str(output))
    assert output.read_bytes() == new and stat.S_IMODE(output.stat().st_mode) == 0o600
    assert_untouched(transcript)
    output.write_bytes(b"mine")
    with pytest.raises(DoctorError, match="exists already") as caught:
        write(planned, output=str(output))
    assert caught.value.kind == "usage" and output.read_bytes() == b"mine"
    write(planned, output=str(output), force=True)
    assert output.read_bytes() == new
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["fixed.jsonl", "session"]


@pytest.mark.parametrize("force", [True, False])
def test_output_never_names_the_input_or_a_device(transcript: Path, tmp_path: Path, force: bool) -> None:
    link = tmp_path / "link"
    link.symlink_to(transcript)
    for output in (str(transcript), str(link), "/dev/null", str(tmp_path)):
        with pytest.raises(DoctorError) as caught:
            write(plan(transcript), output=output, force=force)
        assert caught.value.kind == "usage"
    with pytest.raises(DoctorError, match="the file or its folder is gone"):
        write(plan(transcript), output=str(tmp_path / "no" / "such" / "folder"), force=force)
    assert_untouched(transcript)


def test_output_works_for_a_stream_and_in_place_does_not(tmp_path: Path) -> None:
    from doctor.repair.planner import plan_fix

    session = read("-", MemorySource(DAMAGED))
    planned = plan_fix(session, all_rules())
    write(planned, output=str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == read_bytes(planned.source)
    with pytest.raises(DoctorError, match="--output"):
        write(planned)


def test_output_fails_whole_or_not_at_all(transcript: Path, tmp_path: Path) -> None:
    output = tmp_path / "fixed.jsonl"
    total = len(record_calls(lambda: write(plan(transcript), output=str(output))))
    for step in range(total):
        output.unlink(missing_ok=True)
        planned = plan(transcript)

        def fail(number: int, name: str, arguments: tuple[Any, ...], step: int = step) -> None:
            if number == step and name not in ("close", "unlink"):
                raise OSError(errno.ENOSPC, "full")

        try:
            with watch_calls(fail):
                write(planned, output=str(output))
        except DoctorError as error:
            assert_one_line(error)
        assert not output.exists() or output.read_bytes() == read_bytes(planned.source)
        assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []
    assert_untouched(transcript)


def test_undo_twice_goes_back_two_fixes(transcript: Path) -> None:
    write(plan(transcript))
    once = transcript.read_bytes()
    continued = once + join(call("late"))
    transcript.write_bytes(continued)
    write(plan(transcript), now=NOW + 10)
    twice = transcript.read_bytes()
    undone = undo(str(transcript), now=NOW + 20)
    assert transcript.read_bytes() == continued and Path(undone.kept).read_bytes() == twice
    with pytest.raises(DoctorError, match="changed since it was fixed"):
        undo(str(transcript), now=NOW + 30)
    transcript.write_bytes(once)
    undone = undo(str(transcript), now=NOW + 40)
    assert transcript.read_bytes() == DAMAGED and Path(undone.kept).read_bytes() == once
    with pytest.raises(DoctorError, match="nothing to undo") as caught:
        undo(str(transcript), now=NOW + 50)
    assert caught.value.kind == "usage"


def test_two_fixes_in_a_row_are_undone_in_a_row(transcript: Path) -> None:
    from doctor.findings import Safety
    from doctor.repair.planner import plan_fix

    transcript.write_bytes(join(user("hi"), result("nobody"), call("a")))
    safe = plan(transcript)
    write(safe)
    once = transcript.read_bytes()
    write(plan_fix(read(transcript), all_rules(), Safety.UNSAFE), now=NOW + 1)
    assert transcript.read_bytes() != once
    undo(str(transcript), now=NOW + 2)
    assert transcript.read_bytes() == once
    undo(str(transcript), now=NOW + 3)
    assert transcript.read_bytes() == join(user("hi"), result("nobody"), call("a"))


def test_undo_refuses_a_changed_file_unless_forced(transcript: Path) -> None:
    written = write(plan(transcript))
    changed = transcript.read_bytes() + join(user("new work"))
    transcript.write_bytes(changed)
    with pytest.raises(DoctorError, match="changed since it was fixed") as caught:
        undo(str(transcript), now=NOW + 1)
    assert caught.value.kind == "changed" and transcript.read_bytes() == changed
    assert_one_line(caught.value)
    undone = undo(str(transcript), now=NOW + 2, force=True)
    assert transcript.read_bytes() == DAMAGED and Path(undone.kept).read_bytes() == changed
    assert Path(written.backup).exists(), "an undo takes nothing away"


def test_undo_keeps_the_mode(transcript: Path) -> None:
    write(plan(transcript))
    transcript.chmod(0o600)
    undone = undo(str(transcript), now=NOW + 1)
    assert stat.S_IMODE(transcript.stat().st_mode) == stat.S_IMODE(Path(undone.kept).stat().st_mode) == 0o600


def test_undo_without_receipt_or_with_a_damaged_backup(transcript: Path) -> None:
    with pytest.raises(DoctorError, match="no receipt of a fix"):
        undo(str(transcript), now=NOW)
    written = write(plan(transcript))
    fixed = transcript.read_bytes()
    Path(written.backup).write_bytes(DAMAGED[:-1])
    with pytest.raises(DoctorError, match="is not the backup that its receipt describes"):
        undo(str(transcript), now=NOW)
    Path(written.backup).unlink()
    with pytest.raises(DoctorError, match="no such file"):
        undo(str(transcript), now=NOW)
    assert transcript.read_bytes() == fixed and len(list_names(transcript)) == 3


def test_undo_works_after_the_folder_was_moved(transcript: Path, tmp_path: Path) -> None:
    write(plan(transcript))
    moved = tmp_path / "elsewhere"
    transcript.parent.rename(moved)
    undo(str(moved / "transcript.jsonl"), now=NOW + 1)
    assert (moved / "transcript.jsonl").read_bytes() == DAMAGED


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"backup": "x"}', b'{"backup": 1, "before": {}, "after": {}}', b"\xff"])
def test_a_damaged_receipt_is_passed_over(transcript: Path, content: bytes) -> None:
    write(plan(transcript))
    transcript.with_name(transcript.name + ".receipt-doctor-99990101T000000000000Z.json").write_bytes(content)
    undo(str(transcript), now=NOW + 1)
    assert transcript.read_bytes() == DAMAGED


def test_undo_of_a_live_session_is_refused(transcript: Path) -> None:
    write(plan(transcript))
    with pytest.raises(DoctorError, match="in use"):
        undo(str(transcript), now=NOW + 1, liveness=Liveness(True, "its owner is running"))
    undo(str(transcript), now=NOW + 1, liveness=Liveness(True, "its owner is running"), force=True)
    assert transcript.read_bytes() == DAMAGED
