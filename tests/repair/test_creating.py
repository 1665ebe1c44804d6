from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from doctor.errors import DoctorError
from doctor.repair.storage.creating import create_whole


def test_a_new_file_is_whole_and_alone(tmp_path: Path) -> None:
    create_whole(str(tmp_path / "page"), b"all of it")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"page": b"all of it"}


@pytest.mark.parametrize("force", [False, True])
def test_what_is_there_stays_unless_forced(tmp_path: Path, force: bool) -> None:
    path = tmp_path / "page"
    path.write_bytes(b"old")
    if force:
        create_whole(str(path), b"new", force=True)
    else:
        with pytest.raises(DoctorError, match="exists already") as caught:
            create_whole(str(path), b"new")
        assert caught.value.kind == "usage"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"page": b"new" if force else b"old"}


def test_spared_files_and_folders_are_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "session").write_bytes(b"precious")
    os.link(tmp_path / "session", tmp_path / "other-name")
    for name in ("session", "other-name"):
        with pytest.raises(DoctorError, match="file of the session"):
            create_whole(str(tmp_path / name), b"page", force=True, spared=[str(tmp_path / "session"), str(tmp_path / "gone")])
    with pytest.raises(DoctorError, match="no regular file"):
        create_whole(str(tmp_path), b"page", force=True)
    assert (tmp_path / "session").read_bytes() == b"precious"


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(DoctorError, match="No space left") as caught:
        create_whole(str(tmp_path / "page"), b"page")
    assert caught.value.kind == "unwritable" and list(tmp_path.iterdir()) == []
    with pytest.raises(DoctorError, match="No such file"):
        create_whole(str(tmp_path / "no" / "page"), b"page")


@pytest.mark.parametrize("taken", [False, True])
def test_file_systems_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool) -> None:
    path = tmp_path / "page"

    def refuse(*_: object) -> None:
        if taken:
            path.write_bytes(b"theirs")
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    if taken:
        with pytest.raises(DoctorError, match="exists already"):
            create_whole(str(path), b"page")
    else:
        create_whole(str(path), b"page")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"page": b"theirs" if taken else b"page"}
