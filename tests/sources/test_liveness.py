"""Somebody is in the session, or nobody is: locks, owners and recorded times decide, a file's own time never."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from doctor.eventlog import EventLog, Execution
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
