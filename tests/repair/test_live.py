"""A session that somebody is in, proved with a real process: looked at, not touched, and repaired once it is quiet."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor import check, fix
from doctor.cli import main
from doctor.findings import Failure, FileReport
from doctor.repair.waiting import repeat_while_busy
from tests.cli.sessions import DISPLACED, MISSING, REPLY, call, encode, result

pytest.importorskip("fcntl")

ROUNDS = 200
SESSION = "7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0"


class Client:
    """The process of tests/repair/writer.py, and the session that it works on."""

    def __init__(self, home: Path) -> None:
        self.transcript = home / ".amplifier" / "projects" / "-home-dev" / "sessions" / SESSION / "transcript.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.lock = home / "state" / "v1" / "0f" / SESSION / "session.lock"
        self.lock.parent.mkdir(parents=True)
        self.environment = {"AMPLIFIER_SESSION_STATE_HOME": str(home / "state"), "HOME": str(home)}
        script = str(Path(__file__).with_name("writer.py"))
        self.process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, rows: list[dict[str, Any]], pause: float) -> None:
        assert self.process.stdin is not None
        order = {"transcript": str(self.transcript), "lock": str(self.lock), "rows": [json.dumps(row) for row in rows], "pause": pause}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def expect(self, word: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == word

    def read_rows(self) -> list[dict[str, Any]]:
        data = self.transcript.read_bytes()
        assert data.endswith(b"\n")
        return [json.loads(line) for line in data.splitlines()]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    made = Client(tmp_path)
    yield made
    made.process.communicate(timeout=10)


def test_a_live_session_is_looked_at_refused_and_waited_for(client: Client, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name, value in client.environment.items():
        monkeypatch.setenv(name, value)
    client.transcript.write_bytes(encode(DISPLACED))
    client.begin([REPLY, REPLY], pause=0.4)
    client.expect("in")

    (file,) = check(str(client.transcript)).files
    assert file.verdict == "live"
    assert f"test-client (process {client.process.pid} on " in file.liveness
    assert "AD605" in [found.code for found in file.diagnostics]

    assert main(["fix", SESSION[:8]]) == 2
    assert "is in use" in capsys.readouterr().err
    assert main(["fix", "--wait", "0.05", SESSION[:8]]) == 2
    assert len(list(client.transcript.parent.iterdir())) == 1, "nothing is left beside a file that was not touched"

    assert main(["fix", "--wait", "20", SESSION[:8]]) == 0
    client.expect("out")
    rows = client.read_rows()
    assert rows[1]["tool_calls"][0]["id"] == rows[2]["tool_call_id"] and rows[-2:] == [REPLY, REPLY]


def test_nothing_is_torn_or_lost_whenever_they_meet(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    # No power fails here, and a slow disk would make this test slow.
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    chance = random.Random(7)
    waited = 0
    for number in range(ROUNDS):
        for left in client.transcript.parent.iterdir():
            left.unlink()
        client.transcript.write_bytes(encode(DISPLACED))
        added = [call(f"new_{number}"), result(f"new_{number}"), REPLY]
        client.begin(added, pause=chance.uniform(0, 0.006))
        time.sleep(chance.uniform(0, 0.012))
        report = fix(client.transcript, dry_run=False, wait=20, environment=client.environment)
        client.expect("in")
        client.expect("out")
        assert report.errors == () and report.files[0].verdict == "resumable"
        rows = client.read_rows()
        assert rows == [DISPLACED[0], DISPLACED[1], DISPLACED[3], DISPLACED[2], *DISPLACED[4:], *added]
        waited += report.files[0].rows > len(DISPLACED)
    assert waited > 0, "at least once the doctor has to come second"


def make_attempts(*outcomes: tuple[str, str]) -> tuple[list[int], Any]:
    """Attempts with these verdicts and kinds of failure, and how many were made."""
    made: list[int] = []

    def attempt() -> tuple[FileReport, list[Failure]]:
        verdict, kind = outcomes[min(len(made), len(outcomes) - 1)]
        made.append(1)
        return FileReport("x", "amplifier", "", verdict, 1, ()), [Failure("x", kind, "said")] if kind else []

    return made, attempt


@pytest.mark.parametrize(
    ("outcomes", "seconds", "number"),
    [
        ((("live", ""), ("live", "live"), ("resumable", "changed"), ("resumable", "")), 60.0, 4),
        ((("live", ""),), 0.0, 1),
        ((("live", ""),), 0.2, 11),
        ((("resumable", "unwritable"),), 60.0, 1),
    ],
)
def test_only_a_busy_session_is_tried_again_and_only_so_long(outcomes, seconds: float, number: int) -> None:
    now = [0.0]
    made, attempt = make_attempts(*outcomes)
    repeat_while_busy(attempt, seconds, lambda: round(now[0], 6), lambda length: now.__setitem__(0, now[0] + length))
    assert len(made) == number


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell who has a file open")
def test_a_broken_session_that_another_process_has_open_is_live(tmp_path: Path) -> None:
    """A fix was suggested by check, and then refused by fix: check had not asked who has the file open."""
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(encode(DISPLACED))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    program = "import sys; file = open(sys.argv[1], 'ab'); print(); sys.stdout.flush(); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        holder.stdout.readline()
        (file,) = check(str(path), environment={}).files
        assert file.verdict == "live" and f"process {holder.pid} on " in file.liveness
        assert "AD605" in [found.code for found in file.diagnostics]
        holder.stdin.close()
    (file,) = check(str(path), environment={}).files
    assert file.verdict == "after-fix"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell who has a file open")
def test_who_insists_gets_what_a_live_session_would_still_wait_for(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(encode(MISSING))
    program = "import sys; file = open(sys.argv[1], 'ab'); print(); sys.stdout.flush(); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        holder.stdout.readline()
        assert fix(path, dry_run=False, environment={}).errors[0].kind == "live"
        (file,) = fix(path, dry_run=False, force=True, environment={}).files
        assert [step.code for step in file.fix.applied] == ["AD301"] and file.fix.written and file.verdict == "live"
        holder.stdin.close()
