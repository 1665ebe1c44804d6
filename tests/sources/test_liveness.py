"""Somebody is in the session, or nobody is: locks, owners and recorded times decide, a file's own time never."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.eventlog import EventLog, Execution
from doctor.model import Liveness
from doctor.sources.liveness import parse_time, probe_liveness

STAMP = "2026-01-02T03:04:05.000000000+00:00"
THEN = 1_767_323_045.0


def make_log(end_line: int = -1) -> EventLog:
    log = EventLog("events.jsonl", None)
    log.executions = (Execution(0, STAMP, "hi", 1, end_line, "", "", 0, STAMP, ""),)
    log.last_time = STAMP
    return log


def make_lock(home: Path, owner: dict[str, object] | None = None) -> Path:
    folder = home / "v1" / "0f" / "sid"
    folder.mkdir(parents=True)
    (folder / "session.lock").write_bytes(b"")
    if owner is not None:
        (folder / "owner.json").write_text(json.dumps(owner))
    return folder / "session.lock"


def probe(log: EventLog | None = None, now: float = THEN, home: Path | None = None) -> bool:
    return probe_liveness(session_id="sid", log=log, now=now, state_home=str(home) if home else None).is_live


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        (STAMP, THEN),
        ("2026-01-02T03:04:05Z", THEN),
        ("2026-01-02T03:04:05.5", THEN + 0.5),
        ("2026-01-02T05:04:05.250+02:00", THEN + 0.25),
        ("yesterday", None),
        ("2026-13-40T99:00:00Z", None),
    ],
)
def test_times_of_any_precision(stamp: str, seconds: float | None) -> None:
    assert parse_time(stamp) == seconds


def test_an_open_execution_is_live_for_fifteen_minutes() -> None:
    assert probe(make_log(), THEN + 60)
    assert not probe(make_log(), THEN + 16 * 60)
    assert not probe(make_log(), THEN - 16 * 60)
    assert not probe(make_log(end_line=3), THEN + 60)
    assert not probe(None)


def test_a_held_lock_is_live_and_a_left_one_is_not(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    lock = make_lock(tmp_path)
    assert not probe(home=tmp_path)
    with open(lock, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert probe(home=tmp_path)
    assert not probe(home=tmp_path)


def test_an_owner_counts_while_its_process_lives_on_this_host(tmp_path: Path) -> None:
    owner = {"app": "app-cli", "active": True, "pid": os.getpid(), "hostname": socket.gethostname()}
    lock = make_lock(tmp_path, owner)
    found = probe_liveness(session_id="sid", log=None, now=THEN, state_home=str(tmp_path))
    assert found.is_live and str(os.getpid()) in found.reason
    for change in ({"active": False}, {"hostname": "elsewhere"}, {"pid": 2**22 + 7}, {"pid": None}):
        lock.with_name("owner.json").write_text(json.dumps(owner | change))
        assert not probe(home=tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hostname": "elsewhere"}, "another host"),
        ({"pid": 2**22 + 7}, "gone"),
        ({"acquired_at": "2001-01-01T00:00:00+00:00"}, "its number"),
    ],
)
def test_a_stale_lock_is_told_from_a_live_one(tmp_path: Path, change: dict[str, object], words: str) -> None:
    if "acquired_at" in change and not os.path.exists("/proc/self/stat"):
        pytest.skip("only Linux tells when a process started")
    owner = {"app": "app-cli", "active": True, "pid": os.getpid(), "hostname": socket.gethostname()}
    make_lock(tmp_path, owner | change)
    found = probe_liveness(session_id="sid", log=None, now=THEN, state_home=str(tmp_path))
    assert not found.is_live and "stale lock" in found.reason and words in found.reason


def test_two_doctors_that_look_are_not_taken_for_the_client(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    lock = make_lock(tmp_path)
    with open(lock, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        assert not probe(home=tmp_path)


def test_another_doctor_at_work_is_live_and_its_left_lock_is_not(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "transcript.jsonl"
    with open(tmp_path / ".transcript.jsonl.doctor.lock", "wb") as stream:
        assert not look_at(path).is_live
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert "another amplifier-doctor" in look_at(path).reason
    assert not look_at(path).is_live


def test_an_announced_append_is_live_for_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    pending = tmp_path / "transcript.jsonl.append-pending"
    pending.write_bytes(b"")
    assert "appending" in look_at(path, pending.stat().st_mtime + 1).reason
    assert not look_at(path, pending.stat().st_mtime + 60).is_live


def test_a_fresh_checkpoint_is_live_where_no_events_tell(tmp_path: Path) -> None:
    metadata = {"status": "in_progress", "last_updated": STAMP}
    path = tmp_path / "transcript.jsonl"
    assert "checkpoint" in look_at(path, THEN + 60, metadata=metadata).reason
    assert not look_at(path, THEN + 3600, metadata=metadata).is_live
    assert not look_at(path, THEN + 60, metadata=metadata | {"status": "complete"}).is_live
    assert not look_at(path, THEN + 60, metadata=metadata, log=make_log(end_line=3)).is_live


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux tells who has a file open")
@pytest.mark.parametrize(("mode", "is_live"), [("ab", True), ("rb", False)])
def test_who_has_the_file_open_for_writing_is_in_the_session(tmp_path: Path, mode: str, is_live: bool) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(b"")
    script = f"import sys; stream = open({str(path)!r}, {mode!r}); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline()
        found = look_at(path, thorough=True)
        assert found.is_live == is_live and (str(writer.pid) in found.reason) == is_live
        assert look_at(path, path.stat().st_mtime + 1).is_live == is_live
        assert not look_at(path, path.stat().st_mtime + 600).is_live, "a plain check of an old file does not look at all processes"
        writer.communicate()
    assert not look_at(path, thorough=True).is_live


def look_at(path: Path, now: float = THEN, **more: object) -> Liveness:
    return probe_liveness(**{"session_id": "", "log": None, "now": now, "state_home": None, "path": os.path.realpath(path)} | more)
