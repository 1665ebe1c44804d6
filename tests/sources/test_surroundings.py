"""What a run over many sessions looks up once must be what each of them would find for itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor.sources.surroundings import FEW_QUESTIONS, Surroundings


@pytest.mark.parametrize(
    "place", ["a/s/t.jsonl", "link/s/t.jsonl", "a/linked/t.jsonl", "a/s/other.jsonl", "a/s/gone.jsonl", "a/gone/t.jsonl"]
)
def test_real_paths_are_those_of_the_system(tmp_path: Path, place: str) -> None:
    (tmp_path / "a" / "s").mkdir(parents=True)
    (tmp_path / "a" / "s" / "t.jsonl").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "linked").symlink_to(tmp_path / "a" / "s")
    (tmp_path / "a" / "s" / "other.jsonl").symlink_to("t.jsonl")
    path = str(tmp_path / place)
    around = Surroundings()
    for _ in range(2):
        real, is_link = around.find_real(path)
        assert real == os.path.realpath(path)
        assert is_link == os.path.islink(path)


@pytest.mark.parametrize("path", ["t.jsonl", "./t.jsonl", "s/../t.jsonl", "s/t.jsonl", "../x/t.jsonl"])
def test_relative_paths_too(tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x" / "s").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "x")
    assert Surroundings().find_real(path)[0] == os.path.realpath(path)


def test_names_are_those_of_the_last_look_until_it_is_renewed(tmp_path: Path) -> None:
    around = Surroundings()
    assert around.list_names(str(tmp_path)) == frozenset()
    (tmp_path / "new").write_text("")
    assert around.list_names(str(tmp_path)) == frozenset()
    around.renew()
    assert around.list_names(str(tmp_path)) == frozenset({"new"})
    assert around.list_names(str(tmp_path / "gone")) is None


def test_a_look_gets_old_by_the_clock(tmp_path: Path) -> None:
    around = Surroundings()
    for moment, name, seen in ((5.0, "a", set()), (5.1, "b", set()), (5.3, "c", {"a", "b"})):
        around.pass_time(moment)
        assert around.list_names(str(tmp_path)) == frozenset(seen)
        (tmp_path / name).write_text("")


def test_a_store_is_indexed_once_many_ask(tmp_path: Path) -> None:
    for project, name in (("b", "one"), ("a", "one"), ("a", "two")):
        (tmp_path / project / "sessions" / name).mkdir(parents=True)
    around = Surroundings()
    asked = [around.list_homes(str(tmp_path), "one") for _ in range(FEW_QUESTIONS + 1)]
    assert asked == [None] * (FEW_QUESTIONS - 1) + [("a", "b")] * 2
    assert around.list_homes(str(tmp_path), "two") == ("a",)
    assert around.list_homes(str(tmp_path), "three") == ()


def test_a_store_that_is_too_large_is_not_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.sources.surroundings.MOST_SESSIONS", 1)
    for name in ("one", "two"):
        (tmp_path / "a" / "sessions" / name).mkdir(parents=True)
    around = Surroundings()
    assert [around.list_homes(str(tmp_path), "one") for _ in range(FEW_QUESTIONS + 1)] == [None] * (FEW_QUESTIONS + 1)
