from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from doctor.cli import main
from tests.cli.sessions import DISPLACED, MISSING, SOUND, encode, write_session


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Three sessions: sound, one result missing, one displaced; and a folder without any."""
    write_session(tmp_path / "tree", SOUND, "sound")
    write_session(tmp_path / "tree", MISSING, "missing")
    write_session(tmp_path / "tree", DISPLACED, "displaced")
    (tmp_path / "empty").mkdir()
    return tmp_path


# (arguments with {} for the folder, exit code, part of stdout, part of stderr); "" means that nothing is written there
CALLS = [
    (["check", "{}/tree/sound"], 0, "transcript.jsonl: clean · 4 rows · resumable", ""),
    (["check", "{}/tree/sound/transcript.jsonl"], 0, "clean", ""),
    (["check", "{}/tree/missing"], 1, "error[AD301]", ""),
    (["check", "{}/tree"], 1, "3 sessions: 1 clean, 2 with findings", ""),
    (["check", "{}/tree/missing", "--exit-zero"], 0, "error[AD301]", ""),
    (["check", "{}/tree/missing", "--select", "AD1"], 0, "unknown", ""),
    (["check", "{}/tree/missing", "--select", "AD1,missing-tool-result"], 1, "AD301", ""),
    (["check", "{}/tree/missing", "--ignore", "AD3", "--ignore", "AD4"], 0, "unknown", ""),
    (["check", "{}/tree/missing", "--quiet"], 1, "", ""),
    (["check", "{}/tree/missing", "--format", "concise"], 1, "transcript.jsonl:2:1: AD301 error ", ""),
    (["check", "{}/tree/sound", "--format", "concise"], 0, "", ""),
    (["check", "{}/tree", "--no-events", "--statistics"], 1, "in 1 file", ""),
    (["check", "{}/nowhere"], 2, "", "can't find"),
    (["check", "{}/empty"], 2, "", "no transcript.jsonl under"),
    (["check", "{}/empty", "--exit-zero"], 2, "", "no transcript.jsonl under"),
    (["check", "{}/nowhere", "{}/tree/sound"], 2, "clean", "can't find"),
    (["check"], 2, "", "Missing argument"),
    (["check", "--nonsense", "x"], 2, "", "No such option: --nonsense"),
    (["check", "{}/tree/sound", "--format", "xml"], 2, "", "'xml' is not one of human, concise, json"),
    (["check", "{}/tree/sound", "--fail-on", "fatal"], 2, "", "'fatal' is not one of error, warning, info"),
    (["check", "{}/tree/sound", "--select", "AD999"], 2, "", "no rule matches 'AD999'"),
    (["check", "{}/tree/sound", "--events", "{}/nowhere"], 2, "", "there is no file"),
    (["check", "{}/tree/sound", "--events", "x", "--no-events"], 2, "", "exclude each other"),
    (["chekc", "{}/tree/sound"], 2, "", "No such command 'chekc'"),
    (["--version"], 0, "amplifier-doctor 0.", ""),
    (["--help"], 0, "Exit codes: 0 clean, or only information; 1 findings", ""),
    (["check", "--help"], 0, "--no-excerpt", ""),
    ([], 2, "Commands:", ""),
]


@pytest.mark.parametrize(("arguments", "code", "out", "err"), CALLS, ids=[" ".join(call[0]) or "nothing" for call in CALLS])
def test_calls(arguments: list[str], code: int, out: str, err: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word.replace("{}", str(tree)) for word in arguments]) == code
    written = capsys.readouterr()
    assert out in written.out and err in written.err
    assert bool(out) == bool(written.out) and bool(err) == bool(written.err)
    assert "Traceback" not in written.out + written.err


@pytest.mark.parametrize(("arguments", "code"), [(call[0], call[1]) for call in CALLS if call[3]])
def test_bad_input_is_one_line(arguments: list[str], code: int, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word.replace("{}", str(tree)) for word in arguments]) == code
    error = capsys.readouterr().err
    assert error.startswith("amplifier-doctor: ") and error.count("\n") == 1


@pytest.mark.parametrize("format", ["human", "concise", "json"])
@pytest.mark.parametrize(("path", "code"), [("tree/sound", 0), ("tree/missing", 1), ("nowhere", 2)])
def test_the_exit_code_is_the_same_for_every_format(
    path: str, code: int, format: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(tree / path), "--format", format]) == code


def test_the_fast_path_says_what_the_parser_says(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("sound", "missing", "displaced"):
        path = str(tree / "tree" / name)
        fast = main(["check", path])
        fast_written = capsys.readouterr()
        assert fast == main(["check", path, "--format", "human"])
        assert fast_written == capsys.readouterr()


def test_json_lists_what_could_not_be_judged(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tree / "nowhere"), str(tree / "tree" / "missing"), "--format", "json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert [error["path"] for error in document["errors"]] == [str(tree / "nowhere")]
    assert document["files"][0]["diagnostics"][0]["code"] == "AD301"
    assert document["files"][0]["verdict"] == "after-fix"


@pytest.mark.parametrize(("rows", "code"), [(SOUND, 0), (MISSING, 1)])
def test_a_dash_is_standard_input(rows: object, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(encode(rows))))
    assert main(["check", "-"]) == code
    written = capsys.readouterr()
    assert "next:" not in written.out or "explain" in written.out
    assert written.err == ""


def test_one_unreadable_session_does_not_hide_the_others(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from doctor.api import reading

    read = reading.read_session

    def fail_on_one(path: str, **how: object) -> object:
        if "displaced" in path:
            raise RuntimeError("a bug\nin two lines")
        return read(path, **how)

    monkeypatch.setattr(reading, "read_session", fail_on_one)
    assert main(["check", str(tree / "tree")]) == 2
    written = capsys.readouterr()
    assert "error[AD301]" in written.out
    assert written.err.count("\n") == 1 and "RuntimeError: a bug in two lines" in written.err
    with_traceback = main(["check", str(tree / "tree"), "--debug"])
    assert with_traceback == 2 and "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_130(tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.api import reading

    def interrupt(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "read_session", interrupt)
    assert main(["check", str(tree / "tree")]) == 130
    assert main(["check", str(tree / "tree"), "--quiet"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_what_was_half_built_at_an_interrupt_keeps_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class Half:
        def __init__(self) -> None:
            raise KeyboardInterrupt

        def __del__(self) -> None:
            raise AttributeError("half built")

    hook = sys.unraisablehook
    monkeypatch.setattr("doctor.cli._parse", lambda words: Half())
    assert main(["check", "--quiet", "x"]) == 130
    assert capsys.readouterr().err.count("\n") == 1 and sys.unraisablehook is hook


def test_the_suggested_command_carries_what_it_needs(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tree / "tree" / "missing" / "transcript.jsonl"
    main(["check", "--no-events", "--as-request", str(path)])
    assert capsys.readouterr().out.splitlines()[-1] == f"next: amplifier-doctor fix --dry-run --as-request --no-events {path}"
