from __future__ import annotations

import pytest

from doctor.settings.globs import compile_pattern, lies_in

HERE = "/home/dev/project"


@pytest.mark.parametrize(
    ("pattern", "path", "covers"),
    [
        ("scratch", "/home/dev/project/scratch/a/transcript.jsonl", True),
        ("scratch", "/home/dev/project/deep/scratch/transcript.jsonl", True),
        ("scratch", "/elsewhere/scratch/transcript.jsonl", True),
        ("scratch", "/home/dev/project/scratches/transcript.jsonl", False),
        ("scratch/", "/home/dev/project/deep/scratch/transcript.jsonl", True),
        ("./scratch", "/home/dev/project/scratch/transcript.jsonl", True),
        ("./scratch", "/home/dev/project/deep/scratch/transcript.jsonl", False),
        ("*.jsonl", "/home/dev/project/a/b.jsonl", True),
        ("a/*.jsonl", "/home/dev/project/a/b.jsonl", True),
        ("a/*.jsonl", "/home/dev/project/a/b/c.jsonl", False),
        ("a/*.jsonl", "/elsewhere/a/b.jsonl", False),
        ("a/**", "/home/dev/project/a/b/c.jsonl", True),
        ("a/**/c.jsonl", "/home/dev/project/a/c.jsonl", True),
        ("a/**/c.jsonl", "/home/dev/project/a/x/y/c.jsonl", True),
        ("/".join(["a", *["**"] * 24, "x"]), "/home/dev/project/a/" + "b/" * 40 + "c.jsonl", False),
        ("a/**/**/c.jsonl", "/home/dev/project/a/c.jsonl", True),
        ("**/a/*", "/elsewhere/a/b.jsonl", True),
        ("../other/**", "/home/dev/other/a.jsonl", True),
        ("../other/**", "/home/dev/project/other/a.jsonl", False),
        ("/data/recordings", "/data/recordings/a/transcript.jsonl", True),
        ("/data/recordings", "/home/dev/project/data/recordings/a", False),
        ("run-?/x", "/home/dev/project/run-1/x/t", True),
        ("run-[!1]/x", "/home/dev/project/run-1/x/t", False),
        ("run-[z-a]", "/home/dev/project/run-b", False),
        ("a.b", "/home/dev/project/aXb", False),
        ("[", "/home/dev/project/[/t", True),
    ],
)
def test_covers(pattern: str, path: str, covers: bool) -> None:
    assert compile_pattern(pattern, HERE).covers(path) is covers


def test_signs_of_patterns_in_the_folder_mean_themselves() -> None:
    pattern = compile_pattern("a/*", "/home/dev/[x]*")
    assert pattern.covers("/home/dev/[x]*/a/t") and not pattern.covers("/home/dev/xy/a/t")


@pytest.mark.parametrize(
    ("pattern", "path", "names"),
    [
        ("*.jsonl", "/home/dev/project/a/b.jsonl", True),
        ("recordings/**/*.jsonl", "/home/dev/project/recordings/b.jsonl", True),
        ("recordings/**", "/home/dev/project/recordings/b.jsonl", False),
        ("recordings/*", "/home/dev/project/recordings/b.jsonl", False),
        ("recordings", "/home/dev/project/recordings/b.jsonl", False),
    ],
)
def test_names_files(pattern: str, path: str, names: bool) -> None:
    assert compile_pattern(pattern, HERE).names(path) is names


@pytest.mark.parametrize(
    ("pattern", "folder", "below"),
    [
        ("a/**", "/home/dev/project", True),
        ("a/**", "/home/dev/project/a", True),
        ("a/**", "/home/dev/project/b", False),
        ("a/*/b", "/home/dev/project/a/x", False),
        ("scratch", "/home/dev/project", False),
        ("/data/x", "/data", True),
    ],
)
def test_lies_below(pattern: str, folder: str, below: bool) -> None:
    assert compile_pattern(pattern, HERE).lies_below(folder) is below


@pytest.mark.parametrize(("path", "folder", "inside"), [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/", True)])
def test_lies_in(path: str, folder: str, inside: bool) -> None:
    assert lies_in(path, folder) is inside
