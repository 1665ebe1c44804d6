"""What is wrong with a whole database is said once in a run, whatever session is read first, and by however many processes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import doctor
from doctor.findings import Severity
from doctor.sources.formats.opencode.database import close_databases
from tests.repair.test_database import build_many
from tests.support.cases import NOW


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three sessions, rows that refer to nothing, and a NULL where none may be: SQLite's own check minds that."""
    path, _ = build_many(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("INSERT INTO todo VALUES ('ses_gone', 'x'); CREATE TABLE extra (a); INSERT INTO extra VALUES (NULL);")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE extra (a NOT NULL)' WHERE name = 'extra'")
        connection.commit()
    return path


def say(report: Any) -> list[tuple[str, str, str]]:
    close_databases()
    return [
        (file.path.rpartition("#")[2], found.severity.value, found.message)
        for file in report.files
        for found in file.diagnostics
        if found.code == "AD112"
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_damage_of_a_database_is_said_once(store: Path, jobs: int) -> None:
    report = doctor.check(store, environment={}, now=NOW, jobs=jobs)
    said = say(report)
    assert [(session, severity) for session, severity, _ in said] == [
        ("ses_1", "error"), ("ses_1", "warning"), ("ses_2", "info"), ("ses_3", "info"),
    ]  # fmt: skip
    assert said[0][2].endswith("NULL value in extra.a") and said[2][2].startswith("the same as for ses_1")
    assert {file.verdict for file in report.files} == {"not-resumable"}


def test_a_session_that_is_named_alone_says_it(store: Path) -> None:
    said = say(doctor.check(f"{store}#ses_2", environment={}, now=NOW))
    assert [(session, severity) for session, severity, _ in said] == [("ses_2", "error"), ("ses_2", "warning")]
    said = say(doctor.check([f"{store}#ses_3", f"{store}#ses_2"], environment={}, now=NOW))
    assert [one[:2] for one in said] == [("ses_3", "error"), ("ses_3", "warning"), ("ses_2", "info")]


def test_a_fix_says_it_once_too(store: Path) -> None:
    said = say(doctor.fix(store, select=["AD112"], environment={}, now=NOW))
    assert [severity for _, severity, _ in said] == [Severity.ERROR, Severity.WARNING, Severity.INFO, Severity.INFO]


@pytest.mark.parametrize("jobs", [1, 2])
def test_two_databases_have_their_own_say(store: Path, tmp_path: Path, jobs: int) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "opencode.db").write_bytes(store.read_bytes())
    said = say(doctor.check(tmp_path, environment={}, now=NOW, jobs=jobs))
    assert [severity for _, severity, _ in said].count("error") == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_can_not_be_read_at_all_fails_once(store: Path, jobs: int) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("CREATE INDEX twin ON message(id)")
        connection.commit()
        connection.execute("PRAGMA writable_schema = ON")
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'session'").fetchone()[0]
        connection.execute("UPDATE sqlite_master SET rootpage = ? WHERE name = 'twin'", (root,))
        connection.commit()
    report = doctor.check(store, environment={}, now=NOW, jobs=jobs)
    close_databases()
    assert report.files == () and len(report.errors) == 1 and "is damaged" in report.errors[0].message
