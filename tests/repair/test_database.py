"""Fixes inside a database: one transaction behind SQLite's own backup, alone in the file, and back again row by row."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from doctor import fix, undo
from doctor.api.fixing import fix_each
from doctor.cli import main
from doctor.errors import DoctorError
from doctor.examples import database
from doctor.sources.formats.opencode.database import close_databases
from tests.sources.formats.opencode.test_database import hold
from tests.support.cases import NOW, build_database

STATE = '{"status": "running", "input": {"command": "make"}, "time": {"start": 5}}'
ROWS = f"""INSERT INTO message VALUES ('msg_1', 'ses_1', 2, '{{"role": "user", "time": {{"created": 2}}}}');
INSERT INTO message VALUES ('msg_2', 'ses_1', 3, '{{"role": "assistant",  "parentID": "msg_1", "time": {{"created": 3}}}}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{{"type": "text", "text": "hi"}}');
INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', '{{"type": "tool", "tool": "bash", "callID": "toolu_a", "state": {STATE}}}');
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    yield build_database(tmp_path / "opencode.db", database() + ROWS)
    close_databases()


def read(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, data FROM message UNION ALL SELECT id, data FROM part").fetchall()
    return dict(rows)


def repair(store: Path, **how: Any) -> Any:
    return fix(f"{store}#ses_1", dry_run=False, in_place=True, now=NOW, **how)


def fail(store: Path, **how: Any) -> str:
    """The one line that says why nothing was written, after making sure that nothing was."""
    before, names = read(store), sorted(os.listdir(store.parent))
    report = repair(store, **how)
    assert read(store) == before and sorted(os.listdir(store.parent)) == names
    assert len(report.errors) == 1 and "\n" not in report.errors[0].message
    return str(report.errors[0].message)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_fix_is_written_backed_up_and_taken_back(store: Path, mode: str) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    store.chmod(0o640)
    before = read(store)
    done = repair(store).files[0].fix
    after = read(store)
    assert {name for name in before if before[name] != after[name]} == {"msg_2", "prt_2"}
    assert json.loads(after["prt_2"])["state"]["status"] == "error" and "id" not in json.loads(after["prt_2"])
    assert read(Path(done.backup)) == before and stat.S_IMODE(os.stat(done.backup).st_mode) == 0o640
    paper = json.loads(Path(done.receipt).read_bytes())
    assert [row["id"] for row in paper["rows"]] == ["msg_2", "prt_2"] and paper["session"] == "ses_1"
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == (mode.lower(),)
        connection.execute("INSERT INTO message VALUES ('msg_9', 'ses_1', 9, '{}')")
        connection.commit()
    undone = undo(f"{store}#ses_1", now=NOW + 1)
    # What somebody else wrote since stays.
    assert read(store) == before | {"msg_9": "{}"} and undone.backup == done.backup
    with pytest.raises(DoctorError, match="nothing to undo"):
        undo(f"{store}#ses_1", now=NOW + 2)
    assert repair(store).files[0].fix.written


def build_many(folder: Path) -> tuple[Path, list[str]]:
    """A database of three sessions, each with an open call."""
    extra = "".join(ROWS.replace("ses_1", f"ses_{n}").replace("msg_", f"msg_{n}").replace("prt_", f"prt_{n}") for n in (2, 3))
    path = build_database(folder / "opencode.db", database() + ROWS)
    with closing(sqlite3.connect(path)) as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(session)")]
        rest = ", ".join(name for name in names if name != "id")
        for n in (2, 3):
            connection.execute(f"INSERT INTO session (id, {rest}) SELECT 'ses_{n}', {rest} FROM session WHERE id = 'ses_1'")
        connection.executescript(extra)
        connection.commit()
    return path, ["ses_1", "ses_2", "ses_3"]


def list_backups(store: Path) -> list[str]:
    return [name for name in sorted(os.listdir(store.parent)) if ".bak-doctor-" in name]


def test_one_backup_serves_all_sessions_of_a_run(tmp_path: Path) -> None:
    store, sessions = build_many(tmp_path)
    before = read(store)
    report = fix(store, dry_run=False, in_place=True, now=NOW)
    close_databases()
    done = [file.fix for file in report.files]
    assert report.errors == () and len(done) == 3 and all(one.written for one in done)
    assert len({one.backup for one in done}) == 1 == len(list_backups(store)) and len({one.receipt for one in done}) == 3
    assert read(Path(done[0].backup)) == before
    for session in reversed(sessions):
        assert undo(f"{store}#{session}", now=NOW + 1).backup == done[0].backup
        with pytest.raises(DoctorError, match="nothing to undo"):
            undo(f"{store}#{session}", now=NOW + 2)
    assert read(store) == before
    again = fix(store, dry_run=False, in_place=True, now=NOW + 3)
    close_databases()
    assert again.errors == () and len(list_backups(store)) == 2
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE part SET data = '{}' WHERE id = 'prt_22'")
        connection.commit()
    with pytest.raises(DoctorError, match="was changed since it was fixed"):
        undo(f"{store}#ses_2", now=NOW + 4)


def test_undo_says_what_it_took_back(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repair(store)
    close_databases()
    assert main(["undo", f"{store}#ses_1"]) == 0
    assert capsys.readouterr().out.startswith(f"{store}#ses_1: the rows of its last fix are back; what it held until now is kept in ")


def test_who_writes_between_two_sessions_gets_a_backup_of_his_own(tmp_path: Path) -> None:
    store, _ = build_many(tmp_path)
    outcomes = fix_each(store, dry_run=False, in_place=True, now=NOW)
    first = next(outcomes).file
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("INSERT INTO message VALUES ('msg_99', 'ses_1', 99, '{}')")
        connection.commit()
    second, third = (outcome.file for outcome in outcomes)
    close_databases()
    assert first.fix.backup != second.fix.backup == third.fix.backup
    assert "msg_99" in read(Path(second.fix.backup)) and "msg_99" not in read(Path(first.fix.backup))
    os.unlink(second.fix.backup)
    undo(f"{store}#{third.path.rpartition('#')[2]}", now=NOW + 1)


def test_it_takes_an_explicit_wish(store: Path) -> None:
    before = read(store)
    report = fix(f"{store}#ses_1", dry_run=False, now=NOW)
    assert "-o FILE" in report.errors[0].message and "--in-place" in report.errors[0].message and read(store) == before
    target = store.parent / "fixed.json"
    report = fix(f"{store}#ses_1", dry_run=False, output=str(target), now=NOW)
    assert not report.errors and read(store) == before
    assert json.loads(target.read_bytes())["messages"][1]["parts"][0]["state"]["status"] == "error"


@pytest.mark.parametrize("statement", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "SELECT 1"])
def test_nobody_else_may_have_it_open(store: Path, statement: str) -> None:
    before = store.read_bytes()
    with hold(store, statement):
        report = repair(store)
    assert "locked" in report.errors[0].message or "is open in process" in report.errors[0].message
    assert store.read_bytes() == before and not list(store.parent.glob("*doctor*"))


def test_nobody_else_may_have_it_open_in_wal_mode_as_sqlite_sees_it(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /proc says nothing: another user's process, another system."""
    monkeypatch.setattr("doctor.sources.writers.find_writers", lambda names=(): {})
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with hold(store, "SELECT count(*) FROM message"):
        before = read(store)
        assert "locked" in repair(store).errors[0].message and read(store) == before


def test_a_row_that_changed_meanwhile_stops_it(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.repair.storage import database as storage

    def interfere(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE part SET data = replace(data, 'make', 'test') WHERE id = 'prt_2'")
            connection.commit()

    original = storage.list_changes
    monkeypatch.setattr(storage, "list_changes", lambda old, new: interfere(store) or original(old, new))
    report = repair(store)
    assert "was changed by another program" in report.errors[0].message
    assert '"running"' in read(store)["prt_2"] and not list(store.parent.glob("*.bak-doctor-*"))


def test_a_row_that_changed_since_is_not_overwritten_by_undo(store: Path) -> None:
    repair(store)
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE part SET data = '{}' WHERE id = 'prt_2'")
        connection.commit()
    with pytest.raises(DoctorError, match=r"part prt_2 in .* was changed since it was fixed"):
        undo(f"{store}#ses_1", now=NOW + 1)
    assert read(store)["prt_2"] == "{}"


def test_a_failure_in_the_middle_leaves_all_rows_as_they_were(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("CREATE TRIGGER no BEFORE UPDATE ON part BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        connection.commit()
    assert "disk full" in fail(store)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anything")
def test_a_database_on_a_read_only_disk_is_one_line(store: Path) -> None:
    store.chmod(0o444)
    assert "no permission" in fail(store) or "read-only" in fail(store)


def test_a_live_session_is_left_alone(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        at = int(NOW * 1000) - 3_000
        connection.execute("UPDATE message SET data = replace(data, '\"created\": 3', ?) WHERE id = 'msg_2'", (f'"created": {at}',))
        connection.commit()
    assert "is in use" in fail(store)


def test_messages_of_the_second_generation_are_not_written(tmp_path: Path) -> None:
    from tests.test_fixtures import FIXTURES

    document = json.loads((FIXTURES / "opencode-crash-closed-by-successor" / "input" / "session.json").read_bytes())
    head = "CREATE TABLE session_v2 (id TEXT); CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, data TEXT);"
    path = build_database(tmp_path / "opencode.db", head + "INSERT INTO session_v2 VALUES ('ses_1');")
    with closing(sqlite3.connect(path)) as connection:
        for number, message in enumerate(document["messages"]):
            connection.execute(
                "INSERT INTO session_message VALUES (?, 'ses_1', ?, ?, ?)", (message["id"], message["type"], number, json.dumps(message))
            )
        connection.commit()
    report = repair(path)
    assert "made from its events" in report.errors[0].message and "-o FILE" in report.errors[0].message
    target = tmp_path / "out.json"
    assert not fix(f"{path}#ses_1", dry_run=False, output=target, now=NOW).errors and target.exists()
    close_databases()


def test_a_fix_that_was_stopped_before_it_wrote_does_not_stand_in_the_way_of_undo(store: Path) -> None:
    """A receipt comes before the transaction. That of a fix which was killed in between tells of nothing that was done."""
    before = read(store)
    first = repair(store).files[0].fix
    paper = json.loads(Path(first.receipt).read_bytes())
    rows = [{**row, "before": row["after"], "after": "{}"} for row in paper["rows"]]
    stale = store.with_name(f"{store.name}.receipt-doctor-20990101T000000000000Z.json")
    stale.write_text(json.dumps(paper | {"rows": rows, "backup": f"{store.name}.bak-doctor-20990101T000000000000Z"}))
    assert undo(f"{store}#ses_1", now=NOW + 1).backup == first.backup and read(store) == before


def test_an_undo_that_was_stopped_before_it_said_so_is_done(store: Path) -> None:
    before = read(store)
    repair(store)
    Path(undo(f"{store}#ses_1", now=NOW + 1).kept).unlink()
    with pytest.raises(DoctorError, match="nothing to undo"):
        undo(f"{store}#ses_1", now=NOW + 2)
    assert read(store) == before and repair(store).files[0].fix.written


def change_part(store: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE part SET data = replace(data, ?, ?) WHERE id = 'prt_2'", (old, new))
        connection.commit()


def test_half_a_pair_of_surrogates_is_written_as_it_was(store: Path) -> None:
    change_part(store, "make", r"\ud83d make")
    before = read(store)
    assert repair(store).files[0].fix.written
    assert json.loads(read(store)["prt_2"])["state"]["input"] == {"command": "\ud83d make"}
    undo(f"{store}#ses_1", now=NOW + 1)
    assert read(store) == before


def test_a_number_that_no_json_can_spell_is_never_written(store: Path) -> None:
    change_part(store, '"make"', "1e400")
    before = read(store)
    repair(store)
    assert read(store) == before and not list(store.parent.glob("*doctor*"))


def test_bytes_that_are_no_text_are_one_line_that_quotes_nothing(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE part SET data = CAST(replace(data, 'make', x'ff41') AS TEXT) WHERE id = 'prt_2'")
        connection.commit()
    (problem,) = repair(store).errors
    assert "no UTF-8" in problem.message and "command" not in problem.message
