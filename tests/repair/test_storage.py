"""Writing a plan: what lies beside the file afterwards, and who is kept out meanwhile."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.findings import Failure
from doctor.model import Liveness
from doctor.repair.storage import Written, undo
from doctor.sources.liveness import is_locked
from tests.repair.faults import watch_calls
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
    if os.geteuid() == 0:
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
            held.append(is_locked(str(lock)))

    planned = plan(transcript)
    with open(lock, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(DoctorError, match="the client holds the session's lock") as caught:
            write(planned, client_locks=[str(lock)])
    assert caught.value.kind == "live"
    assert_untouched(transcript)
    with watch_calls(probe):
        write(planned, client_locks=[str(lock), str(tmp_path / "missing.lock")])
    assert held == [True] and lock.exists()


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
