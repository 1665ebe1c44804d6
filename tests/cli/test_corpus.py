"""Runs over many sessions as a user meets them: the same words for any number of processes, and no traces when they are stopped."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from doctor.cli import main
from tests.cli.sessions import MISSING, SOUND, write_session

HERE = Path(__file__).parents[2]
RUN = "from doctor.cli import run; run()"
SLOW = """
import sys, time
from doctor.analysis import engine
from doctor.rulekit import Rule
diagnose = engine.diagnose
def act(session, rules, *more, **named):
    name = session.transcript.path.split("/")[-2]
    if name == "slow":
        print("waiting", file=sys.stderr, flush=True)
        time.sleep(120)
    if name == "deadly":
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "buggy":
        def crash(session):
            raise KeyError("a bug")
        rules = [rules[0]._replace(check=crash, needs=0), *rules[1:]]
    return diagnose(session, rules, *more, **named)
import doctor.api.judging, doctor.analysis.survey
doctor.api.judging.diagnose = doctor.analysis.survey.diagnose = act
from doctor.cli import run
run()
"""
"""The doctor with sessions that behave badly, by the names of their folders. Workers inherit it, since they are forked."""

forks = pytest.mark.skipif(sys.platform != "linux", reason="workers are not forked here")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(80):
        write_session(tmp_path / "tree", MISSING if number % 40 == 7 else SOUND, f"{number:03}")
    return tmp_path / "tree"


def start(*words: object, script: str = RUN, **how: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": HERE} | how
    return subprocess.Popen(command, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


def list_group(group: int) -> list[str]:
    """The processes of a process group, zombies among them."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(group)]


def wait_until_gone(group: int) -> bool:
    for _ in range(100):
        if not list_group(group):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("format", ["human", "concise", "json"])
def test_any_number_of_processes_says_the_same(tree: Path, format: str, capfd: pytest.CaptureFixture[str]) -> None:
    said = []
    for options in (["--jobs", "1", "--no-cache"], ["--jobs", "2", "--no-cache"], ["--jobs", "3"], ["--jobs", "auto"]):
        assert main(["check", str(tree), "--format", format, *options]) == 1
        said.append(capfd.readouterr())
    assert len(set(said)) == 1 and said[0].out.count("AD301") >= 2


def test_scan_says_the_same_too(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = []
    for jobs in ("1", "2"):
        assert main(["scan", str(tree), "--jobs", jobs, "--format", "jsonl"]) == 1
        said.append([{**json.loads(line), "age_seconds": 0} for line in capfd.readouterr().out.splitlines()])
    assert said[0] == said[1] and len(said[0]) == 80
    assert [row["session_id"] for row in said[0] if row["broken"]] == [row["session_id"] for row in said[0][:2]]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--jobs", "0"], "--jobs takes auto or a number from 1 to 256, not '0'"),
        (["--jobs", "many"], "--jobs takes auto or a number"),
        (["--no-cache", "--cache-dir", "x"], "exclude each other"),
        (["--engine", "ray"], "'ray' is not one of local, dask"),
    ],
)
def test_wrong_usage_is_one_line(tree: Path, words: list[str], reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree), *words]) == 2
    said = capfd.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and reason in said.err


def test_statistics(tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree), "--statistics", "--format", "concise"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[2:5] == ["2  AD301  error    missing-tool-result  in 2 files, 2 safe fixes", "systems", "  80  amplifier  320 rows"]
    assert lines[5] == "slowest" and len(lines) == 11


def test_the_cache_is_where_it_was_put_and_one_session_needs_none(tree: Path, tmp_path: Path) -> None:
    assert main(["check", "-q", str(tree), "--cache-dir", str(tmp_path / "cache")]) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["verdicts-1.sqlite"]
    assert main(["check", "-q", str(tree / "000" / "transcript.jsonl"), "--cache-dir", str(tmp_path / "other")]) == 0
    assert not (tmp_path / "other").exists()


@forks
def test_an_interrupt_ends_all_processes_without_a_word_too_many(tree: Path) -> None:
    write_session(tree, SOUND, "slow")
    process = start("check", tree, "--jobs", "2", "--no-cache", script=SLOW)
    assert process.stderr is not None and process.stderr.readline() == "waiting\n"
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and said == "amplifier-doctor: interrupted; nothing was left half written\n"
    assert wait_until_gone(process.pid), list_group(process.pid)


@forks
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_do_not_outlive_their_parent(tree: Path, number: int) -> None:
    write_session(tree, SOUND, "slow")
    process = start("check", tree, "--jobs", "2", "--no-cache", script=SLOW)
    assert process.stderr is not None and process.stderr.readline() == "waiting\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    assert wait_until_gone(process.pid), list_group(process.pid)


@forks
@pytest.mark.parametrize("command", ["check", "scan"])
def test_a_killed_worker_costs_one_line(tree: Path, command: str) -> None:
    deadly = write_session(tree, SOUND, "deadly")
    more = ["--no-cache"] if command == "check" else []
    process = start(command, tree, "--jobs", "2", *more, "--format", "json", script=SLOW)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert said.count("\n") == 1 and said.startswith(f"amplifier-doctor: can't judge {deadly}: the process that ")
    report = json.loads(out)
    assert len(report["files" if command == "check" else "sessions"]) == (80 if command == "check" else 81)
    assert [error["kind"] for error in report["errors"]] == ["killed"]
    assert wait_until_gone(process.pid)


@forks
def test_a_rule_that_crashes_in_a_worker_is_reported_as_in_the_plain_run(tree: Path) -> None:
    write_session(tree, SOUND, "buggy")
    said = []
    for jobs in ("1", "2"):
        process = start("check", tree, "--jobs", jobs, "--no-cache", "--format", "json", script=SLOW)
        said.append((*process.communicate(timeout=120), process.returncode))
    assert said[0] == said[1] and said[0][2] == 2
    assert "rule AD101 crashed (KeyError: 'a bug'" in said[0][1] and said[0][1].count("\n") == 1


@forks
def test_a_reader_that_leaves_early_leaves_nobody_behind(tree: Path) -> None:
    process = start("check", tree, "--jobs", "2", "--no-cache", "--format", "concise")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        said = process.stderr.read()
    assert process.wait(timeout=60) == 1 and said == ""
    assert wait_until_gone(process.pid)


@pytest.mark.skipif(not hasattr(pty, "openpty"), reason="no terminals here")
def test_a_bar_on_a_terminal_and_none_in_a_log(tree: Path) -> None:
    for number in range(80, 1_500):
        write_session(tree, SOUND, f"{number:04}")
    ours, theirs = pty.openpty()
    process = start("check", tree, "--jobs", "1", "--no-cache", stderr=theirs)
    os.close(theirs)
    out, _ = process.communicate(timeout=120)
    drawn = b""
    while True:
        try:
            block = os.read(ours, 65_536)
        except OSError:
            break
        if not block:
            break
        drawn += block
    os.close(ours)
    assert b"/1,500" in drawn and drawn.endswith(b"\r\x1b[K") and "1,500 sessions" in out and "\r" not in out
    plain = start("check", tree, "--jobs", "1", "--no-cache")
    assert plain.communicate(timeout=120) == (out, "")
