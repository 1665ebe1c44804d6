"""Taking fixes back, without losing what they made."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from doctor.errors import DoctorError
from doctor.model import Liveness
from doctor.repair.storage import undo
from tests.repair.sessions import (
    DAMAGED,
    NOW,
    all_rules,
    assert_one_line,
    call,
    join,
    list_names,
    plan,
    read,
    result,
    user,
    write,
)


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
