"""Formats on the command line: the exit code is the same for all, and a report is whole or not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from doctor.cli import main
from doctor.output.reporters import FORMATS
from tests.cli.sessions import DISPLACED, MISSING, PROMPT, SOUND, write_session

UNANSWERED = (*SOUND, PROMPT)
"""Information only: the last user message has no reply."""

Break = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_session(tmp_path / "tree", SOUND, "a-sound")
    write_session(tmp_path / "tree", MISSING, "b-missing")
    write_session(tmp_path / "tree", SOUND, "c-sound")
    write_session(tmp_path / "info", UNANSWERED, "info")
    write_session(tmp_path / "displaced", DISPLACED, "displaced")
    (tmp_path / "empty").mkdir()
    return tmp_path


def leave_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing breaks."""


def break_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """One rule crashes at every session."""
    from doctor.analysis import registry
    from doctor.api import fixing, judging

    def crash(session: object) -> Any:
        raise RuntimeError("a bug in a rule")

    rules = tuple(rule._replace(check=crash, needs=0) if rule.code == "AD308" else rule for rule in registry.load_rules())
    for module in (judging, fixing):
        monkeypatch.setattr(module, "load_rules", lambda: rules)
    monkeypatch.setattr(judging, "load_common_rules", lambda: rules)


def fail_at_second(error: BaseException) -> Break:
    """The second session of the corpus can't be read, or Ctrl+C comes while it is."""

    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        from doctor.api import reading

        read = reading.read_session

        def read_or_fail(path: str, **how: object) -> object:
            if "b-missing" in path:
                raise error
            return read(path, **how)

        monkeypatch.setattr(reading, "read_session", read_or_fail)

    return install


UNREADABLE = fail_at_second(PermissionError(13, "Permission denied"))
INTERRUPTED = fail_at_second(KeyboardInterrupt())

# what is done to the run, the arguments with {} for the folder, the exit code
RUNS: dict[str, tuple[Break, list[str], int]] = {
    "clean": (leave_alone, ["check", "{}/tree/a-sound"], 0),
    "findings": (leave_alone, ["check", "{}/tree"], 1),
    "findings, exit zero": (leave_alone, ["check", "--exit-zero", "{}/tree"], 0),
    "below threshold": (leave_alone, ["check", "{}/info"], 0),
    "at threshold": (leave_alone, ["check", "--fail-on", "info", "{}/info"], 1),
    "unreadable": (UNREADABLE, ["check", "{}/tree"], 2),
    "unreadable, exit zero": (UNREADABLE, ["check", "--exit-zero", "{}/tree"], 2),
    "no match": (leave_alone, ["check", "{}/nowhere"], 2),
    "no session": (leave_alone, ["check", "{}/empty"], 2),
    "no such rule": (leave_alone, ["check", "--select", "AD999", "{}/tree"], 2),
    "crash of a rule": (break_rule, ["check", "{}/tree/a-sound"], 2),
    "interrupted": (INTERRUPTED, ["check", "{}/tree"], 130),
    "fix: nothing to do": (leave_alone, ["fix", "{}/tree/a-sound"], 0),
    "fix: done": (leave_alone, ["fix", "{}/displaced"], 0),
    "fix: would change": (leave_alone, ["fix", "--dry-run", "{}/displaced"], 1),
    "fix: unreadable": (UNREADABLE, ["fix", "{}/tree"], 2),
    "fix: crash of a rule": (break_rule, ["fix", "{}/tree/a-sound"], 2),
    "fix: interrupted": (INTERRUPTED, ["fix", "{}/tree"], 130),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", RUNS)
def test_the_exit_code_is_the_same_for_every_format(
    name: str, format: str, tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare, words, code = RUNS[name]
    prepare(monkeypatch)
    arguments = [word.replace("{}", str(tree)) for word in words]
    assert main([*arguments, "--format", format, "--format", f"{format}:{tree}/report"]) == code
    written = capsys.readouterr()
    assert "Traceback" not in written.out + written.err
    reports = sorted(path.name for path in tree.iterdir() if path.is_file())
    if code == 130 or name == "no such rule":
        assert reports == [], "a run that did not end leaves no report"
        if format in ("json", "sarif", "junit", "github", "markdown"):
            assert written.out == "", "no half of a document"
    else:
        assert reports == ["report"]
        text = (tree / "report").read_text("utf-8")
        # Drawings differ in width only, and here in nothing.
        assert text == written.out
        parse(format, text)


def parse(format: str, text: str) -> None:
    if format in ("json", "sarif"):
        json.loads(text)
    elif format == "jsonl":
        assert [json.loads(line)["type"] for line in text.splitlines()][-1] == "summary"
    elif format == "junit":
        ElementTree.fromstring(text)


def test_several_formats_in_one_run(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", str(tree / "tree"), "--format", "concise", "--format", f"sarif:{tree}/o.sarif", "--format", f"junit:{tree}/o.xml"]
    assert main(arguments) == 1
    written = capsys.readouterr()
    assert written.out.count("AD301 error") == 1 and written.err == ""
    results = json.loads((tree / "o.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert "AD301" in [result["ruleId"] for result in results]
    assert ElementTree.parse(tree / "o.xml").getroot().attrib["failures"] == str(len([one for one in results if one["level"] != "note"]))


def test_fixes_are_spelled_out_unless_contents_are_hidden(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(tree / "displaced"), "--format", "sarif"])
    text = capsys.readouterr().out
    assert "a.txt b.txt" in text and json.loads(text)["runs"][0]["results"][0]["fixes"]
    main(["check", str(tree / "displaced"), "--format", "sarif", "--no-excerpt"])
    assert "a.txt b.txt" not in capsys.readouterr().out


def test_an_output_file_takes_the_place_of_standard_output(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree / "tree"), "--output-file", str(tree / "o.txt")]) == 1
    written = capsys.readouterr()
    assert written.out == "" and "error[AD301]" in (tree / "o.txt").read_text("utf-8")
    assert written.err == (f"amplifier-doctor: 3 sessions: 2 clean, 1 with findings · 1 error · 1 safe fix; written to {tree}/o.txt\n")
    assert main(["check", str(tree / "tree"), "--output-file", str(tree / "o.txt"), "--quiet"]) == 1
    assert capsys.readouterr().err == ""
    assert main(["check", str(tree / "tree"), "--format", "json", "--output-file", "-"]) == 1
    json.loads(capsys.readouterr().out)


def test_quiet_leaves_files_alone(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree / "tree"), "--quiet", "--format", "human", "--format", f"json:{tree}/o.json"]) == 1
    assert capsys.readouterr().out == "" and json.loads((tree / "o.json").read_text("utf-8"))["summary"]["errors"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "xml"], "'xml' is not one of human, concise, json"),
        (["--format", "sarif:"], "name the file behind the colon"),
        (["--format", "json", "--format", "sarif"], "two formats would go to standard output"),
        (["--format", "json:{}/o", "--format", "sarif:{}/./o"], "two formats would go to"),
        (["--format", "json:{}/o", "--output-file", "{}/p"], "every --format has a file already"),
        (["--format", "json:{}/nowhere/o"], "there is no such folder"),
        (["--format", "json:{}/tree"], "it is a folder"),
        (["--format", "json:{}/tree/a-sound/transcript.jsonl"], "called like a file of a session"),
        (["--format", "json:{}/copy.jsonl"], "which is looked at"),
    ],
)
def test_bad_places_are_one_line(arguments: list[str], said: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    transcript = tree / "tree" / "a-sound" / "transcript.jsonl"
    before = transcript.read_bytes()
    (tree / "copy.jsonl").write_bytes(before)
    paths = [str(transcript), str(tree / "copy.jsonl")]
    assert main(["check", *paths, *(word.replace("{}", str(tree)) for word in arguments)]) == 2
    written = capsys.readouterr()
    assert said in written.err and written.err.count("\n") == 1 and written.out == ""
    assert transcript.read_bytes() == (tree / "copy.jsonl").read_bytes() == before
    assert [path for path in tree.rglob("*") if ".tmp" in path.name] == []


def test_a_transcript_that_can_not_be_read_is_not_replaced(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.api import reading

    def fail(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied")

    odd = tree / "odd.jsonl"
    odd.write_bytes(b"kept")
    monkeypatch.setattr(reading, "read_session", fail)
    assert main(["check", str(odd), "--format", f"json:{odd}"]) == 2
    assert odd.read_bytes() == b"kept"


def test_a_repaired_transcript_is_not_replaced_by_its_report(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tree / "repaired.jsonl"
    assert main(["fix", str(tree / "displaced"), "-o", str(out), "--output-file", str(out)]) == 2
    assert "name another file for the report" in capsys.readouterr().err
    assert not out.exists()


def test_an_old_report_stays_until_the_new_one_is_whole(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tree / "o.json"
    report.write_text("old")
    report.chmod(0o640)
    with monkeypatch.context() as patched:
        INTERRUPTED(patched)
        assert main(["check", str(tree / "tree"), "--format", f"json:{report}"]) == 130
    assert report.read_text() == "old"
    assert main(["check", str(tree / "tree"), "--format", f"json:{report}"]) == 1
    assert json.loads(report.read_text("utf-8"))["summary"]["files"] == 3 and report.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tree.iterdir() if path.is_file()) == ["o.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_a_link_stays_a_link(tree: Path) -> None:
    (tree / "real").write_text("old")
    (tree / "link").symlink_to("real")
    assert main(["check", str(tree / "tree"), "--format", f"concise:{tree}/link"]) == 1
    assert (tree / "link").is_symlink() and "AD301" in (tree / "real").read_text("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_and_a_device(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree / "tree"), "--format", "json:/dev/full"]) == 2
    error = capsys.readouterr().err
    assert error == "amplifier-doctor: can't write /dev/full: No space left on device\n"
    assert main(["check", str(tree / "tree"), "--format", "json:/dev/null"]) == 1
    assert not Path("/dev/null").is_file()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_by_its_name(tree: Path) -> None:
    command = [sys.executable, "-m", "doctor", "check", str(tree / "tree"), "--format"]
    done = subprocess.run([*command, "json:/dev/stdout"], capture_output=True, check=False)
    assert done.returncode == 1 and json.loads(done.stdout)["summary"]["errors"] == 1
    twice = [*command, "json", "--format", "sarif:/dev/stdout"]
    with (tree / "o").open("wb") as file:
        runs = [subprocess.run(twice, stdout=place, stderr=subprocess.PIPE, text=True, check=False) for place in (subprocess.PIPE, file)]
    for done in runs:
        assert done.returncode == 2 and "two formats would go to standard output" in done.stderr


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_any_number_of_formats_goes_nowhere(tree: Path) -> None:
    assert main(["check", str(tree / "tree"), "--format", "json:/dev/null", "--format", "sarif:/dev/null"]) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_a_stream_that_is_not_unicode(format: str, tree: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "doctor", "check", str(tree / "displaced"), "--format", format]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, b"") and done.stdout.isascii()
    parse(format, done.stdout.decode("ascii"))
    if format in ("human", "concise", "github", "markdown"):
        assert rb"\u" not in done.stdout and rb"\x" not in done.stdout


@pytest.mark.parametrize("format", FORMATS)
def test_color_is_for_drawings_only(format: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(tree / "displaced"), "--format", format, "--color"])
    assert ("\x1b[" in capsys.readouterr().out) == (format == "human")
    main(["check", str(tree / "displaced"), "--format", format])
    assert "\x1b[" not in capsys.readouterr().out


@pytest.mark.parametrize("format", ["jsonl", "sarif"])
def test_a_reader_that_leaves_does_not_stop_the_other_formats(format: str, tree: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "doctor", "check", str(tree / "tree"), "--format", format, "--format", f"concise:{tree}/o.txt"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"") and "AD301" in (tree / "o.txt").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_in_a_run_over_many_sessions(tmp_path: Path) -> None:
    for number in range(3_000):
        write_session(tmp_path / "many", SOUND, f"{number:04}")
    command = [
        sys.executable,
        "-m",
        "doctor",
        "check",
        str(tmp_path / "many"),
        "--format",
        "jsonl",
        "--format",
        f"sarif:{tmp_path}/o.sarif",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None and run.stderr is not None
        first = run.stdout.readline()
        run.send_signal(signal.SIGINT)
        rest, error = run.stdout.read(), run.stderr.read()
    assert run.returncode == 130 and error.startswith("amplifier-doctor: interrupted") and error.count("\n") == 1
    rows = [json.loads(line)["type"] for line in (first + rest).splitlines()]
    assert rows[0] == "run" and "summary" not in rows, "what was judged until then stays readable, and says that it is not all"
    assert [path.name for path in tmp_path.iterdir()] == ["many"]
