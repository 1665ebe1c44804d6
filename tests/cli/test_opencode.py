"""OpenCode on the command line: databases, sessions in them, ids from the store of this machine, repaired exports."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.sources.formats.opencode.database import close_databases
from tests.support.cases import build_database
from tests.test_fixtures import FIXTURES

REAL = FIXTURES / "opencode-real-database" / "input" / "opencode.sql"
OVERLAP = "ses_dd8ccb7ddffeeopqEm70j93hGE"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder of a user who has one database."""
    data = tmp_path / "data"
    (data / "opencode").mkdir(parents=True)
    for name in ("OPENCODE_DB", "AMPLIFIER_HOME", "AMPLIFIER_AGENT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    yield build_database(data / "opencode" / "opencode.db", REAL.read_text())
    close_databases()


def test_every_session_of_a_database_is_judged(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(store), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [file["session_id"][:8] for file in report["files"]] == ["ses_dd8c", "ses_dd8c", "ses_dd8d", "ses_dd8d"]
    assert all(file["path"] == f"{store}#{file['session_id']}" and file["format"] == "opencode" for file in report["files"])
    assert {found["code"]: found["confidence"] for found in report["files"][0]["diagnostics"]}["AD501"] == "confirmed"


@pytest.mark.parametrize("words", [["{store}", "--session", OVERLAP], ["{store}#ses_dd8cc"], ["ses_dd8cc"], [OVERLAP]])
def test_one_session_is_chosen_in_many_ways(store: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *(word.format(store=store) for word in words)]) == 1
    said = capsys.readouterr().out
    assert "AD501" in said and "4 rows · 32 events" in said and "sessions:" not in said


def test_other_channels_and_a_named_database_are_known(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store.rename(store.with_name("opencode-beta.db"))
    assert main(["check", OVERLAP]) == 1
    shutil.move(store.with_name("opencode-beta.db"), store.parent.parent / "mine.sqlite")
    assert main(["check", OVERLAP]) == 2
    monkeypatch.setenv("OPENCODE_DB", str(store.parent.parent / "mine.sqlite"))
    assert main(["check", OVERLAP]) == 1
    capsys.readouterr()


def test_scan_lists_the_sessions(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan"]) == 1
    assert len(re.findall(r"^ses_", capsys.readouterr().out, re.MULTILINE)) == 4


def test_a_store_that_cannot_be_read_is_one_line_and_stops_no_other(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = store.with_name("opencode-old.db")
    broken.touch()
    assert main(["scan"]) == 2
    said = capsys.readouterr()
    assert len(re.findall(r"^ses_", said.out, re.MULTILINE)) == 5 and said.err.count("\n") == 1 and "is empty (0 bytes)" in said.err
    assert main(["check", str(store.parent)]) == 2
    said = capsys.readouterr()
    assert "4 sessions" in said.out and said.err.count("\n") == 1 and "opencode-old.db is empty (0 bytes)" in said.err


def test_an_unknown_session_is_one_line(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(store), "--session", "ses_zz"]) == 2
    assert capsys.readouterr().err == f"amplifier-doctor: {store} holds no session whose id begins with ses_zz; it holds 4 others\n"
    assert main(["check", "ses_zz"]) == 2
    assert main(["fix", "--in-place", "-o", "x.json", str(store)]) == 2
    assert "leave one out" in capsys.readouterr().err


def test_a_time_line_is_drawn_of_a_session_without_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(FIXTURES / "opencode-real-overlap-after" / "input" / "session.json")]) == 0
    assert "overlap, confirmed" in capsys.readouterr().out


def test_an_export_is_repaired_into_a_new_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = FIXTURES / "opencode-real-overlap-during" / "input" / "session.json"
    target = tmp_path / "repaired.json"
    assert main(["fix", str(source), "-o", str(target)]) == 0
    assert "end bash (toolu_3835adea1b164907bb31) in row 81 as interrupted" in capsys.readouterr().out.replace("\n         ", " ")
    state = json.loads(target.read_bytes())["messages"][1]["parts"][1]["state"]
    assert state["status"] == "error" and state["metadata"]["output"] == ""
    assert main(["fix", str(target), "--dry-run"]) == 0
    assert "would apply" not in capsys.readouterr().out


@pytest.fixture
def project(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database of a name that no walk looks for."""
    folder = store.parent.parent / "project"
    folder.mkdir()
    shutil.move(store, folder / "mine.db")
    monkeypatch.chdir(folder)
    return folder


def check_codes(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """(code, beginning of the session's id) of all that a check says."""
    capsys.readouterr()
    main(["check", *words, "--format", "json"])
    said = capsys.readouterr()
    assert "name a session" not in said.err
    return [(found["code"], file["session_id"][:9]) for file in json.loads(said.out)["files"] for found in file["diagnostics"]]


def test_a_baseline_takes_the_sessions_of_a_database(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "mine.db"]) == 0
    assert main(["check", "mine.db", "--baseline", "amplifier-doctor-baseline.json"]) == 0
    assert "accepted by the baseline" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "words", "sessions"),
    [
        ("", ["mine.db"], ["ses_dd8cc", "ses_dd8d0"]),
        ('exclude = ["mine.db"]', ["mine.db"], ["ses_dd8cc", "ses_dd8d0"]),
        ('exclude = ["mine.db"]', ["mine.db", "--force-exclude"], []),
        ('include = ["*.db"]', ["."], ["ses_dd8cc", "ses_dd8d0"]),
        ('include = ["*.db"]\nexclude = ["mine.db#ses_dd8cc*"]', ["."], ["ses_dd8d0"]),
        ('[per-file-ignores]\n"mine.db" = ["AD402"]', ["mine.db"], []),
        ('[per-file-ignores]\n"mine.db#ses_dd8d*" = ["AD402"]', ["mine.db"], ["ses_dd8cc"]),
        ('[per-file-ignores]\n"other.db" = ["AD402"]', ["mine.db"], ["ses_dd8cc", "ses_dd8d0"]),
    ],
)
def test_patterns_mean_a_database_or_one_of_its_sessions(
    project: Path, settings: str, words: list[str], sessions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "amplifier-doctor.toml").write_text(settings)
    assert [session for code, session in check_codes(words, capsys) if code == "AD402"] == sessions


def test_a_session_in_two_databases_is_named_by_its_places(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = store.with_name("opencode-beta.db")
    shutil.copy(store, other)
    assert main(["check", OVERLAP]) == 2
    assert f"{other}#{OVERLAP}" in "".join(capsys.readouterr().err.split("\n"))
