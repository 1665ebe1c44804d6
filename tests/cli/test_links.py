"""Transcripts that are reached through a symbolic link: the real file is worked on, the link stays, and what goes wrong is one line."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from doctor.cli import main
from tests.cli.sessions import DISPLACED, SOUND, encode, write_session
from tests.repair.faults import watch_calls

BROKEN = encode(DISPLACED)
ROOT = os.geteuid() == 0
NOBODY = 65534


class Linked:
    """A broken transcript in a store, and a session folder elsewhere whose transcript is a link to it."""

    def __init__(self, folder: Path) -> None:
        self.real = folder / "store" / "real.jsonl"
        self.link = folder / "session" / "transcript.jsonl"
        for path in (self.real, self.link):
            path.parent.mkdir()
        self.real.write_bytes(BROKEN)
        self.link.symlink_to("../store/real.jsonl")

    def assert_intact(self, content: bytes = BROKEN) -> None:
        assert os.readlink(self.link) == "../store/real.jsonl"
        assert self.real.read_bytes() == content
        assert os.listdir(self.real.parent) == [self.real.name] and os.listdir(self.link.parent) == [self.link.name]


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    return Linked(tmp_path)


def fail(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a run has to say about what went wrong."""
    assert main(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("amplifier-doctor: ") and "Errno" not in lines[0]
    return lines[0]


@contextmanager
def as_somebody_else(folder: Path) -> Iterator[None]:
    """Not as root, who may do everything."""
    for above in (folder, *folder.parents):
        if ROOT and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o055)
    if ROOT:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if ROOT:
            os.seteuid(0)


def test_the_real_file_is_repaired_and_named(linked: Linked, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", str(linked.link)]) == 0
    printed = capsys.readouterr().out
    assert [line.split() for line in printed.splitlines() if line.startswith("  written")] == [["written", str(linked.real)]]
    assert printed.splitlines()[-1] == f"undo: amplifier-doctor undo {linked.link}"
    beside = sorted(name.partition("-doctor-")[0] for name in os.listdir(linked.real.parent))
    assert beside == ["real.jsonl", "real.jsonl.bak", "real.jsonl.receipt"]
    assert os.readlink(linked.link) == "../store/real.jsonl" and os.listdir(linked.link.parent) == [linked.link.name]
    assert linked.real.read_bytes() == encode([DISPLACED[index] for index in (0, 1, 3, 2, 4)])
    assert main(["check", str(linked.link)]) == main(["check", str(linked.real)]) == 0
    assert main(["undo", str(linked.link)]) == 0
    assert linked.link.is_symlink() and linked.real.read_bytes() == BROKEN


def test_a_link_to_a_link_is_followed_to_the_end(linked: Linked) -> None:
    (linked.link.parent / "further.jsonl").symlink_to(linked.link)
    assert main(["fix", str(linked.link.parent / "further.jsonl")]) == 0
    assert linked.link.is_symlink() and (linked.link.parent / "further.jsonl").is_symlink() and not linked.real.is_symlink()
    assert linked.real.read_bytes() != BROKEN


@pytest.mark.parametrize("moment", ["fsync", "exchange"])
def test_another_process_appends_meanwhile(linked: Linked, moment: str, capsys: pytest.CaptureFixture[str]) -> None:
    row = encode([{"role": "user", "content": "typed meanwhile"}])
    done = []

    def append(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == moment and not done:
            done.append(number)
            program = "import sys; open(sys.argv[1], 'ab').write(sys.argv[2].encode())"
            subprocess.run([sys.executable, "-c", program, str(linked.link), row.decode()], check=True)

    with watch_calls(append):
        line = fail(["fix", str(linked.link)], capsys)
    if not done:
        pytest.skip("no exchange of names on this system")
    assert "changed by another program meanwhile" in line or "the file changed meanwhile" in line
    linked.assert_intact(BROKEN + row)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell who has a file open")
@pytest.mark.parametrize("through", ["link", "real"])
def test_another_process_has_it_open(linked: Linked, through: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = "import sys; file = open(sys.argv[1], 'ab'); print(); sys.stdout.flush(); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(getattr(linked, through))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        holder.stdout.readline()
        assert "is in use" in fail(["fix", str(linked.link)], capsys)
        holder.stdin.close()
    linked.assert_intact()


@pytest.mark.skipif(os.name == "nt", reason="there are other permissions")
def test_the_real_folder_may_not_be_written_to(linked: Linked, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    linked.real.chmod(0o666)
    linked.real.parent.chmod(0o555)
    with as_somebody_else(tmp_path / "store"):
        line = fail(["fix", str(linked.link)], capsys)
    linked.real.parent.chmod(0o755)
    assert f"can't write beside {linked.real}: no permission; run as the owner" in line
    linked.assert_intact()


@pytest.mark.skipif(os.name == "nt", reason="there are other permissions")
@pytest.mark.parametrize(("mode", "said"), [(0o000, "no permission to read it"), (0o444, "no permission; run as the owner")])
def test_the_real_file_may_not_be_read_or_written(
    linked: Linked, tmp_path: Path, mode: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    linked.real.parent.chmod(0o777)
    linked.real.chmod(mode)
    with as_somebody_else(tmp_path / "store"):
        line = fail(["fix", str(linked.link)], capsys)
    linked.real.chmod(0o644)
    assert said in line
    linked.assert_intact()


def test_the_disk_of_the_real_file_is_full(linked: Linked, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with watch_calls(refuse):
        line = fail(["fix", str(linked.link)], capsys)
    assert f"can't write beside {linked.real}: the disk is full" in line
    linked.assert_intact()


@pytest.mark.parametrize("command", ["check", "fix", "undo"])
@pytest.mark.parametrize("by", ["file", "folder"])
@pytest.mark.parametrize(
    ("target", "said"),
    [("../store/gone.jsonl", "a symbolic link to ../store/gone.jsonl, which is not there"), ("transcript.jsonl", "leads back to itself")],
    ids=["dangling", "loop"],
)
def test_a_link_that_leads_nowhere(
    linked: Linked, command: str, by: str, target: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    linked.link.unlink()
    linked.link.symlink_to(target)
    line = fail([command, str(linked.link if by == "file" else linked.link.parent)], capsys)
    assert line == f"amplifier-doctor: can't read {linked.link}: it is {'' if 'link' in said else 'a symbolic link that '}{said}"
    assert os.readlink(linked.link) == target and linked.real.read_bytes() == BROKEN
    assert os.listdir(linked.link.parent) == [linked.link.name]


@pytest.mark.parametrize("command", ["check", "fix"])
def test_a_link_that_leads_nowhere_hides_no_other_session(tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_session(tmp_path, SOUND)
    write_session(tmp_path, DISPLACED, "broken")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "session" / "other").symlink_to("gone")
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "transcript.jsonl").symlink_to("transcript.jsonl")
    line = fail([command, str(tmp_path)], capsys)
    assert line.endswith("lost/transcript.jsonl: it is a symbolic link that leads back to itself")
    assert ((tmp_path / "broken" / "transcript.jsonl").read_bytes() == BROKEN) == (command == "check")


def test_a_store_with_such_a_link_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = tmp_path / ".amplifier" / "projects" / "-home-dev" / "sessions"
    write_session(sessions, SOUND, "7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0")
    for folder in (sessions, sessions.parent.parent):
        (folder / "loop").symlink_to("loop")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["scan"]) == 0
    assert "7a2c5a9f" in capsys.readouterr().out
