"""The list of packages in pyproject.toml is written by hand: it must name every folder of the package."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_package_is_listed() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "doctor").rglob("*.py")}
    rules = {path.parent.relative_to(ROOT) for path in (ROOT / "rules").rglob("*.py")}
    expected = {".".join(folder.parts) for folder in folders} | {".".join(["doctor", *folder.parts]) for folder in rules}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == expected


def test_every_package_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "doctor").rglob("*.py")} | {path.parent for path in (ROOT / "rules").rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_version_is_written_once() -> None:
    assert "version" not in PROJECT["project"] and PROJECT["project"]["dynamic"] == ["version"]


def test_typer_stays_below_the_release_that_needs_pydantic() -> None:
    assert [need for need in PROJECT["project"]["dependencies"] if need.startswith("typer")] == ["typer>=0.21,<0.29"]


def test_every_file_that_is_no_code_is_listed() -> None:
    listed = PROJECT["tool"]["setuptools"]["package-data"]
    missing = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "doctor").rglob("*.*")
        if path.is_file()
        and path.suffix not in (".py", ".pyc")
        and not any(path.match(pattern) for pattern in listed.get(".".join(path.parent.relative_to(ROOT).parts), []))
    ]
    assert missing == []
