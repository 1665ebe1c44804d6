"""What only a real process shows: pipes, closed streams, encodings, terminals."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.cli.streams import wants_color
from tests.cli.sessions import MISSING, SOUND, encode, write_session

COMMAND = [sys.executable, "-m", "doctor"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "choice", "environment", "color"),
    [
        (io.StringIO(), None, {}, False),
        (Terminal(), None, {}, True),
        (Terminal(), None, {"NO_COLOR": "1"}, False),
        (Terminal(), None, {"NO_COLOR": ""}, True),
        (Terminal(), None, {"TERM": "dumb"}, False),
        (Terminal(), False, {}, False),
        (io.StringIO(), True, {"NO_COLOR": "1"}, True),
    ],
)
def test_color(stream: io.StringIO, choice: bool | None, environment: dict[str, str], color: bool) -> None:
    assert wants_color(stream, choice, environment) is color


@pytest.mark.parametrize(("rows", "code"), [(SOUND, 0), (MISSING, 1)])
@pytest.mark.parametrize("format", ["human", "json"])
def test_a_reader_that_leaves_changes_nothing(rows: object, code: int, format: str, tmp_path: Path) -> None:
    path = write_session(tmp_path, rows)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "check", "--format", format, str(path)], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    path = write_session(tmp_path, MISSING)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "check", str(path)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("amplifier-doctor: ") and done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_streams_are_one_line(tmp_path: Path) -> None:
    path = write_session(tmp_path, MISSING)
    script = 'exec "$0" -m doctor check "$1" >&-'
    done = subprocess.run(["sh", "-c", script, sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    script = 'exec "$0" -m doctor check - <&-'
    done = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    "stderr", ["2>&-", pytest.param("2>/dev/full", marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="-"))]
)
def test_where_nobody_can_be_told_the_exit_code_says_it(stderr: str, tmp_path: Path) -> None:
    script = f'exec "$0" -m doctor check --format json "$1" {stderr}'
    done = subprocess.run(["sh", "-c", script, sys.executable, str(tmp_path / "nowhere")], stdout=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert json.loads(done.stdout)["errors"]  # and nothing else stands in the report


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_will_do(encoding: str, tmp_path: Path) -> None:
    path = write_session(tmp_path, ({"role": "user", "content": "你好"}, *MISSING[1:]))
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([*COMMAND, "check", str(path)], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert "error[AD301]" in done.stdout.decode(encoding)


def test_standard_input_through_a_pipe() -> None:
    done = subprocess.run([*COMMAND, "check", "-", "--format", "concise"], input=encode(MISSING), capture_output=True, check=False)
    assert done.returncode == 1 and done.stdout.startswith(b"-:2:1: AD301 error ") and done.stderr == b""


def test_a_path_that_is_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\x1b[2J"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with open(folder + b"/transcript.jsonl", "wb") as file:
        file.write(encode(MISSING))
    for format in ("human", "concise", "json"):
        done = subprocess.run([*COMMAND, "check", "--format", format, folder], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (1, b"")
        assert b"\x1b" not in done.stdout
