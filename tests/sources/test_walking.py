"""What a walk through a tree finds: sessions of which only the events are there among them."""

from __future__ import annotations

from pathlib import Path

import pytest

import doctor
from doctor.cli import main
from doctor.sources.walking import find_transcripts

ROW = '{"role": "user", "content": "hi"}\n'
EVENT = (
    '{"ts": "2026-03-01T00:00:00+00:00", "schema": {"name": "amplifier.log"}, "event": "session:start", "session_id": "s", "data": {}}\n'
)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def find(root: Path) -> list[str]:
    return [Path(one).relative_to(root).as_posix() for one in find_transcripts(str(root))]


def test_a_session_that_was_never_saved_is_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a/transcript.jsonl": ROW, "a/events.jsonl": EVENT, "b/events.jsonl": EVENT, "c/context-intelligence/events.jsonl": EVENT},
    )
    write(tmp_path, {"d/transcript.jsonl": ROW, "d/context-intelligence/events.jsonl": EVENT})
    assert find(tmp_path) == ["a/transcript.jsonl", "b/transcript.jsonl", "c/transcript.jsonl", "d/transcript.jsonl"]


def test_a_tree_of_nothing_else_is_judged(tmp_path: Path) -> None:
    write(tmp_path, {"b/events.jsonl": EVENT})
    (file,) = doctor.check(tmp_path, environment={}, now=0.0).files
    assert [found.code for found in file.diagnostics if found.severity == "error"] == ["AD602"]


@pytest.mark.parametrize(
    "files",
    [
        {"b/events.jsonl": '{"kind": "click", "ts": 1}\n'},
        {"b/events.jsonl": ""},
        {"b/events.jsonl": EVENT, "b/chat.jsonl": ROW},
        {"b/context-intelligence/notes.txt": "x"},
    ],
)
def test_other_logs_are_no_sessions(files: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, {"a/transcript.jsonl": ROW, **files})
    assert find(tmp_path) == ["a/transcript.jsonl"]


def test_a_session_that_was_saved_in_another_project_is_found_once(tmp_path: Path) -> None:
    store = write(tmp_path, {"one/sessions/s1/events.jsonl": EVENT, "two/sessions/s1/transcript.jsonl": ROW})
    assert find(store) == ["two/sessions/s1/transcript.jsonl"]
    assert find_transcripts(str(store / "one")) == [str(store.resolve() / "two/sessions/s1/transcript.jsonl")]


def test_where_files_are_taken_by_name_an_event_log_is_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a/chat.jsonl": ROW, "b/events.jsonl": EVENT, "c/transcript.jsonl": ROW})
    monkeypatch.chdir(tmp_path)

    def count(text: str) -> int:
        (tmp_path / "amplifier-doctor.toml").write_text(text)
        assert main(["check", ".", "--format", "jsonl", "--output-file", "report.jsonl", "--exit-zero", "--no-cache"]) == 0
        return (tmp_path / "report.jsonl").read_text().count('"path": "./') + (tmp_path / "report.jsonl").read_text().count('"path":"./')

    assert count("include = ['**/chat.jsonl', '**']") >= 2
    assert "b/transcript.jsonl" not in (tmp_path / "report.jsonl").read_text()
    count("exclude = ['nothing']")
    assert "b/transcript.jsonl" in (tmp_path / "report.jsonl").read_text()


def test_a_fix_of_a_tree_passes_over_what_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, {"tree/a/transcript.jsonl": ROW, "tree/b/events.jsonl": EVENT})
    assert [Path(one.path).parent.name for one in doctor.check(tmp_path / "tree", environment={}, now=0.0).files] == ["a", "b"]
    report = doctor.fix(tmp_path / "tree", recover=True, dry_run=False, environment={}, now=0.0)
    assert [Path(one.path).parent.name for one in report.files] == ["a"] and report.errors == ()
    assert len(doctor.fix(tmp_path / "tree", output=tmp_path / "out.jsonl", environment={}, now=0.0).files) == 1
    assert doctor.fix(tmp_path / "tree" / "b", environment={}, now=0.0).files[0].rows == 0
