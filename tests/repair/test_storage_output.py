"""Writing the planned file somewhere else."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.repair.storage import Written
from doctor.sources.source import MemorySource
from tests.repair.faults import record_calls, watch_calls
from tests.repair.sessions import (
    DAMAGED,
    all_rules,
    assert_one_line,
    assert_untouched,
    plan,
    read,
    read_bytes,
    write,
)


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
