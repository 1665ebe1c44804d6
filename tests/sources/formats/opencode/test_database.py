"""Databases: what can't be read is one clear line, what can is read from a copy, under whatever names its columns have."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from doctor import check
from doctor.errors import DoctorError
from doctor.examples import database
from doctor.sources.formats.opencode.database import close_databases
from doctor.sources.formats.opencode.places import expand_place
from doctor.sources.session import read_session
from tests.support.cases import NOW, build_database

MESSAGE = """INSERT INTO message VALUES ('msg_1', 'ses_1', 2, '{"role": "user", "time": {"created": 2}}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type": "text", "text": "hi"}');
"""
HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def hold(path: Path, statement: str) -> Iterator[None]:
    """Another process has the database open. (In this process its locks would be gone as soon as the file is closed once.)"""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), statement], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "held\n"
        yield
        process.stdin.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    yield build_database(tmp_path / "opencode.db", database() + MESSAGE)
    close_databases()


def say(path: Path) -> str:
    """The one line that a check of a database says."""
    report = check(str(path))
    assert len(report.errors) == 1 and report.files == ()
    assert "\n" not in report.errors[0].message and str(path) in report.errors[0].message
    return report.errors[0].message


def test_zero_bytes(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.touch()
    assert "is empty (0 bytes)" in say(path)


def test_no_database_at_all(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"not a database, whatever its name says" * 200)
    assert "is no SQLite database" in say(path)


def test_a_database_of_something_else(tmp_path: Path) -> None:
    assert "none of OpenCode's" in say(build_database(tmp_path / "opencode.db", "CREATE TABLE moz_places (id INTEGER);"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("CREATE TABLE message (id", "CREATE TABLE message (key", "no column id in message"),
        ("time_created INTEGER, data TEXT)", "time_created INTEGER, body BLOB)", "no column data in message"),
        ("CREATE TABLE message ", "CREATE TABLE utterance ", "no table of messages"),
        (
            "CREATE TABLE message (",
            "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER, data TEXT);\n"
            "CREATE TABLE message_v9 (key INTEGER);\nINSERT INTO message_v9 VALUES (1);\nCREATE TABLE letter (",
            "messages seem to be in message_v9",
        ),
    ],
)
def test_a_version_that_is_not_known(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = build_database(tmp_path / "opencode.db", database().replace(old, new))
    assert said in say(path) and "export the session with that version" in say(path)


def test_a_file_format_of_the_future(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[18] = data[19] = 9
    store.write_bytes(data)
    assert "of a newer file format" in say(store)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_database_that_is_cut_short(store: Path, keep: float) -> None:
    store.write_bytes(store.read_bytes()[: int(store.stat().st_size * keep)])
    assert "damaged" in say(store)


def test_pages_of_noise_are_damage(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[4096 * 2 : 4096 * 9] = b"\xff" * (4096 * 7)
    store.write_bytes(data)
    report = check(str(store))
    assert report.errors or any(found.code == "AD112" for file in report.files for found in file.diagnostics)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read anything")
def test_a_database_without_permission(store: Path) -> None:
    store.chmod(0)
    assert "no permission to read it" in say(store)


@pytest.mark.parametrize("statement", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_locked_database_is_read_all_the_same(store: Path, statement: str) -> None:
    with hold(store, statement):
        report = check(str(store))
    assert not report.errors and report.files[0].rows == 1


def test_what_is_only_in_the_log_is_read_and_nothing_is_touched(store: Path) -> None:
    writer = sqlite3.connect(store)
    with closing(writer):
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute('INSERT INTO message VALUES (\'msg_2\', \'ses_1\', 3, \'{"role": "user", "time": {"created": 3}}\')')
        writer.commit()
        before = {name: hashlib.sha256((store.parent / name).read_bytes()).digest() for name in sorted(os.listdir(store.parent))}
        assert "opencode.db-wal" in before
        assert check(str(store)).files[0].rows == 2
        after = {name: hashlib.sha256((store.parent / name).read_bytes()).digest() for name in sorted(os.listdir(store.parent))}
        assert after == before


def test_sessions_are_expanded_found_by_their_beginning_and_read_anew_after_a_change(store: Path) -> None:
    assert expand_place(str(store)) == [f"{store}#ses_1"] == expand_place(str(store), "ses_")
    with pytest.raises(DoctorError, match="holds no session whose id begins with ses_9; it holds 1 others"):
        expand_place(str(store), "ses_9")
    with closing(sqlite3.connect(store)) as writer:
        writer.execute("INSERT INTO session (id, project_id) VALUES ('ses_12', 'project')")
        writer.commit()
    assert len(expand_place(str(store))) == 2
    assert expand_place(str(store), "ses_1") == [f"{store}#ses_1"]
    with pytest.raises(DoctorError, match="ambiguous"):
        expand_place(str(store), "ses_")


def test_one_session_that_cannot_be_read_does_not_stop_the_others(store: Path) -> None:
    report = check([f"{store}#ses_gone", str(store)])
    assert len(report.files) == 1 and "holds no session" in report.errors[0].message


def test_a_row_that_is_no_json_is_named_and_the_rest_is_read(store: Path) -> None:
    with closing(sqlite3.connect(store)) as writer:
        writer.execute("INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_1', '{\"type\": \"te')")
        writer.commit()
    found = check(str(store)).files[0].diagnostics
    assert any(one.code == "AD103" and "part prt_2 of msg_1 is no JSON" in one.message and one.line == 1 for one in found)


def test_ids_of_columns_count_not_those_inside(tmp_path: Path) -> None:
    rows = MESSAGE.replace('{"role"', '{"id": "msg_other", "sessionID": "ses_other", "role"')
    path = build_database(tmp_path / "opencode.db", database() + rows)
    session = read_session(f"{path}#ses_1", now=NOW)
    assert session.transcript.form.name_row(session.transcript, 0) == "msg_1"


def test_a_session_at_work_is_live(store: Path) -> None:
    open_answer = json.dumps({"role": "assistant", "parentID": "msg_1", "time": {"created": int(NOW * 1000 - 5_000)}})
    with closing(sqlite3.connect(store)) as writer:
        writer.execute("INSERT INTO message VALUES ('msg_2', 'ses_1', 3, ?)", (open_answer,))
        writer.commit()
    report = check(f"{store}#ses_1", now=NOW)
    assert report.files[0].verdict == "live"
    assert check(f"{store}#ses_1", now=NOW + 3_600).files[0].verdict == "resumable"


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize("ending", ["sys.stdout.flush(); os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_copy_stays_behind_whatever_ends_the_process(store: Path, tmp_path: Path, mode: str, ending: str) -> None:
    """It holds what the original does, credentials among it."""
    with closing(sqlite3.connect(store)) as writer:
        writer.execute(f"PRAGMA journal_mode = {mode}")
    script = f"import os, signal, sys; from doctor import check; print(len(check(sys.argv[1]).files)); sys.stdout.flush(); {ending}"
    place = tmp_path / "temporary"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run([sys.executable, "-c", script, str(store)], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr
    assert list(place.iterdir()) == []


def test_columns_that_hold_anything_are_no_crash(store: Path) -> None:
    """SQLite takes bytes and infinity in any column."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("ALTER TABLE session ADD COLUMN title")
        connection.execute("ALTER TABLE session ADD COLUMN cost")
        connection.execute("UPDATE session SET title = ?, cost = 9e999", (b"\xff\x00",))
        connection.commit()
    report = check(str(store))
    assert report.errors == () and [file.session_id for file in report.files] == ["ses_1"]


@pytest.mark.parametrize(("data", "said"), [(b"{}", "stored as bytes"), (None, "NULL")])
def test_a_record_that_is_no_text_is_named(tmp_path: Path, data: object, said: str) -> None:
    path = build_database(tmp_path / "opencode.db", database().replace(" NOT NULL", "") + MESSAGE)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE message SET data = ?", (data,))
        connection.commit()
    (found,) = [one for one in check(str(path)).files[0].diagnostics if one.code == "AD103"]
    assert said in found.message and "msg_1" in found.message


def test_a_lost_message_is_not_blamed_on_the_row_behind_it(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("INSERT INTO message VALUES ('msg_0', 'ses_1', 1, '')")
        connection.commit()
    (found,) = [one for one in check(str(store)).files[0].diagnostics if one.code == "AD103"]
    assert found.line == 0 and "msg_0" in found.message and "msg_1" not in found.message


def test_messages_without_a_table_of_parts_are_of_another_version(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("DROP TABLE part")
        connection.commit()
    assert "no table of parts" in say(store)


@pytest.mark.parametrize(("mode", "copies"), [("WAL", 1), ("DELETE", 4)])
def test_a_client_that_writes_all_the_time_hinders_no_check_where_it_keeps_a_log(
    store: Path, monkeypatch: pytest.MonkeyPatch, mode: str, copies: int
) -> None:
    """In the log a writer only adds to the end: what was copied is whole. Without one the file itself changes under the copy."""
    from doctor.sources import copies as copying

    original, counted = shutil.copyfile, []
    with closing(sqlite3.connect(store)) as client:
        client.execute(f"PRAGMA journal_mode = {mode}")
        client.execute("CREATE TABLE noise (value)")
        client.commit()

        def copy(source: str, target: str) -> None:
            original(source, target)
            if not source.endswith(copying.COMPANIONS):
                counted.append(source)
            client.execute("INSERT INTO noise VALUES (1)")
            client.commit()

        monkeypatch.setattr(copying.shutil, "copyfile", copy)
        report = check(str(store))
    assert len(counted) == copies
    if mode == "WAL":
        assert report.errors == () and [file.session_id for file in report.files] == ["ses_1"]
    else:
        assert "changes faster" in report.errors[0].message


def test_all_sessions_of_a_run_are_read_from_one_copy(store: Path) -> None:
    from doctor.sources.formats.opencode import database as databases

    with closing(sqlite3.connect(store)) as client:
        client.execute("PRAGMA journal_mode = WAL")
        for target in expand_place(str(store)):
            copy = databases._opened[0].copy
            client.execute("UPDATE session SET id = id")
            client.commit()
            read_session(target, now=NOW)
            assert databases._opened[0].copy is copy
            # A second look sees what is there by then.
            read_session(target, now=NOW)
            assert databases._opened[0].copy is not copy


@pytest.mark.parametrize("data", ["", "null", "[1]", "7.5", '"x"'])
def test_events_that_hold_no_object_are_passed_over(tmp_path: Path, data: str) -> None:
    path = build_database(tmp_path / "opencode.db", database() + MESSAGE)
    with closing(sqlite3.connect(path)) as connection:
        for seq, name in enumerate(("session.step.started.1", "session.tool.success.2", "message.updated.1", "message.part.updated.1")):
            connection.execute("INSERT INTO event VALUES (?, 'ses_1', ?, ?, ?)", (f"evt_{seq}", seq, name, data))
        connection.commit()
    assert check(str(path)).errors == ()
