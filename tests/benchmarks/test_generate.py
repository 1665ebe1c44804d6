"""The benchmarks' generator: the same bytes each time, sound unless told otherwise, and defects that are found. Nothing is timed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import doctor
from tests.benchmarks.draw import DEFECTS
from tests.benchmarks.generate import read_size, write_corpus, write_logged_session, write_session

LATER = 1_800_000_000.0
"""Unix time long after the sessions: none of them looks live."""


def read_tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def list_errors(path: str) -> list[tuple[str, set[int]]]:
    """(code, all lines that the finding names) of each finding above info."""
    report = doctor.check(path, now=LATER, environment={})
    assert not report.errors
    return [
        (seen.code, {seen.line, *(row.line for row in seen.related)})
        for file in report.files
        for seen in file.diagnostics
        if seen.severity.value != "info"
    ]


def test_same_arguments_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_session(str(tmp_path / name / "session"), 200_000, seed="7", defects=3)
        write_logged_session(str(tmp_path / name / "logged"), 300_000, seed="7")
        list(write_corpus(str(tmp_path / name / "corpus"), 3, 30_000, defect_rate=0.5, seed="7"))
    first, second = read_tree(tmp_path / "a"), read_tree(tmp_path / "b")
    assert first == second
    assert len(first) == 2 + 3 + 3 * 2


def test_another_seed_writes_other_bytes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        write_session(str(tmp_path / seed), 30_000, seed=seed)
    assert read_tree(tmp_path / "1")["transcript.jsonl"] != read_tree(tmp_path / "2")["transcript.jsonl"]


@pytest.mark.parametrize("size", [100_000, 2_000_000])
def test_size_is_about_what_was_asked_for(tmp_path: Path, size: int) -> None:
    write_session(str(tmp_path), size)
    assert size <= os.path.getsize(tmp_path / "transcript.jsonl") <= size + 150_000


def test_requests_hold_nearly_all_bytes_of_an_event_log(tmp_path: Path) -> None:
    write_logged_session(str(tmp_path), 20_000_000)
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()
    requests = sum(len(line) for line in lines if b'"event": "llm:request"' in line[:200])
    assert requests / sum(map(len, lines)) > 0.9


def test_sound_sessions_are_found_sound(tmp_path: Path) -> None:
    write_session(str(tmp_path / "session"), 300_000)
    write_logged_session(str(tmp_path / "logged"), 1_500_000)
    assert list_errors(str(tmp_path / "session")) == []
    assert list_errors(str(tmp_path / "logged")) == []


@pytest.mark.parametrize("kind", list(DEFECTS))
def test_each_kind_of_defect_is_found_where_it_was_planted(tmp_path: Path, kind: str) -> None:
    planted = write_session(str(tmp_path), 60_000, defects=1, kinds=(kind,))
    found = list_errors(str(tmp_path))
    assert [code for code, _ in found] == [planted[0].code]
    assert planted[0].line + 1 in found[0][1]


def test_check_finds_exactly_the_planted_defects_of_a_corpus(tmp_path: Path) -> None:
    written = dict(write_corpus(str(tmp_path), 60, 12_000, defect_rate=0.3))
    planted = {path: [defect.code for defect in defects] for path, defects in written.items() if defects}
    report = doctor.check(str(tmp_path), now=LATER, environment={})
    assert not report.errors
    assert len(report.files) == 60
    found = {file.path: [seen.code for seen in file.diagnostics if seen.severity.value != "info"] for file in report.files}
    assert {os.path.realpath(path): codes for path, codes in found.items() if codes} == {
        os.path.realpath(path): codes for path, codes in planted.items()
    }
    assert len(planted) > 10


@pytest.mark.parametrize(("text", "size"), [("100K", 100_000), ("20M", 20_000_000), ("1.5g", 1_500_000_000), ("12", 12)])
def test_sizes_are_powers_of_ten(text: str, size: int) -> None:
    assert read_size(text) == size


def test_a_sound_session_gives_nothing_to_draw(tmp_path: Path) -> None:
    write_session(str(tmp_path / "alone"), 50_000)
    write_logged_session(str(tmp_path / "logged"), 300_000)
    for name in ("alone", "logged"):
        (file,) = doctor.check(str(tmp_path / name), now=LATER, environment={}).files
        assert not file.diagnostics, name
