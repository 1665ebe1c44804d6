"""Opens OpenCode's SQLite databases, and says in one line why one can't be opened.

Tables and columns changed their names several times, so they are looked at before they are asked for. The database is copied first; what
is read is the copy.
"""

from __future__ import annotations

import atexit
import os
import re
import sqlite3
from contextlib import closing, suppress

from doctor.errors import DoctorError
from doctor.sources.copies import LOG, Copy, copy_database, identify_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SESSIONS = ("session_v2", "session")
NEEDED = {
    "message": ("id", "session_id", "data"),
    "part": ("id", "message_id", "data"),
    "session_message": ("id", "session_id", "type", "data"),
}
MOST_COMPLAINTS = 3


class Database:
    """An open copy of a database. `columns` by table; `complaint` is what SQLite's own check says, "" for a sound file; `dangling` are
    tables with rows that refer to rows which are not there."""

    def __init__(self, path: str, copy: Copy, connection: sqlite3.Connection) -> None:
        self.path = path
        self.copy = copy
        self.connection = connection
        self.columns: dict[str, tuple[str, ...]] = {}
        self.complaint = ""
        self.dangling: tuple[str, ...] = ()
        self.read: set[str] = set()
        """Ids of the sessions that were read from this copy."""

    def ask(self, query: str, *values: Any) -> list[sqlite3.Row]:
        try:
            with closing(self.connection.execute(query, values)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            raise explain_error(self.path, error) from error

    def has(self, table: str, *columns: str) -> bool:
        return table in self.columns and all(column in self.columns[table] for column in columns)

    def holds_rows(self, table: str) -> bool:
        quoted = table.replace('"', '""')
        return bool(self.ask(f'SELECT 1 FROM "{quoted}" LIMIT 1'))

    def close(self) -> None:
        self.connection.close()
        self.copy.remove()


_opened: list[Database] = []
"""The database that was opened last: its sessions are read one after the other."""


def open_database(path: str, session_id: str = "") -> Database:
    """The copy of a database, opened; a second time for as long as the original stays the same. For a session that was listed in a copy,
    and not read yet, that copy will do: a client at work writes all the time, and one run shows the sessions of one moment.

    Raises DoctorError: it is empty, damaged beyond opening, no database, or not OpenCode's.
    """
    if _opened and _opened[0].path == path:
        known = _opened[0]
        if (session_id and session_id not in known.read) or known.copy.identity == identify_database(path):
            known.read.add(session_id)
            return known
    close_databases()
    database = _open(path)
    atexit.register(close_databases)
    _opened.append(database)
    database.read.add(session_id)
    return database


def close_databases() -> None:
    """Closes and removes the copy that is kept for further sessions."""
    atexit.unregister(close_databases)
    while _opened:
        _opened.pop().close()


def _open(path: str) -> Database:
    copy = copy_database(path)
    try:
        connection = sqlite3.connect(copy.path, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        database = Database(path, copy, connection)
    except sqlite3.Error as error:
        copy.remove()
        raise explain_error(path, error) from error
    try:
        require_content(path, copy.path)
        # The copy is ours: SQLite may bring its log into it, but no statement may change anything.
        tables = [str(row[0]) for row in database.ask("SELECT name FROM sqlite_master WHERE type = 'table'")]
        database.ask("PRAGMA query_only = ON")
        for table in tables:
            quoted = table.replace('"', '""')
            database.columns[table] = tuple(str(row["name"]) for row in database.ask(f'PRAGMA table_info("{quoted}")'))
        database.complaint, database.dangling = _check(database)
        _require_tables(database)
        _let_go(database)
    except BaseException:
        database.close()
        raise
    return database


def _let_go(database: Database) -> None:
    """Takes the copy's name away once it is open: whatever ends this process, nothing of it stays behind. Where a system does not allow
    that, the copy goes when it is closed."""
    if os.name != "posix":
        return
    with suppress(sqlite3.Error):
        # Brings in what is in the log; from now on there is one file, and it is never opened again.
        database.connection.execute("PRAGMA query_only = OFF")
        database.connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        database.copy.remove()
    with suppress(sqlite3.Error):
        database.connection.execute("PRAGMA query_only = ON")


def require_content(path: str, copy: str) -> None:
    if os.path.getsize(copy) == 0 and not (os.path.exists(copy + LOG) and os.path.getsize(copy + LOG)):
        message = f"{path} is empty (0 bytes): it holds no session. Look for them in another opencode*.db beside it, or in a backup"
        raise DoctorError("unreadable", message, path)


def _check(database: Database) -> tuple[str, tuple[str, ...]]:
    try:
        found = [str(row[0]) for row in database.ask(f"PRAGMA quick_check({MOST_COMPLAINTS})")]
        broken = database.ask("PRAGMA foreign_key_check")
    except DoctorError as error:
        return error.message.removeprefix(f"{database.path} is "), ()
    # Parts without their message have a rule of their own.
    tables = sorted({str(row[0]) for row in broken} - {"part"})
    return "; ".join(" ".join(text.split()) for text in found if text != "ok"), tuple(tables)


def _require_tables(database: Database) -> None:
    """Raises DoctorError: these are not the tables of any version that is known."""
    sessions = [table for table in SESSIONS if database.has(table, "id")]
    if not sessions:
        what = "has no table of sessions that is known" if database.columns else "has no tables at all"
        raise DoctorError("unreadable", f"{database.path} is a SQLite database, but none of OpenCode's: it {what}", database.path)
    kept = [table for table in ("message", "session_message") if table in database.columns]
    for table, columns in NEEDED.items():
        lacking = [column for column in columns if table in database.columns and column not in database.columns[table]]
        if lacking:
            raise _explain_version(database, f"no column {lacking[0]} in {table}")
    renamed = [table for table in database.columns if re.match(r"(message|part)(_|s$|\d)", table) and database.holds_rows(table)]
    if renamed and not any(database.holds_rows(table) for table in kept):
        raise _explain_version(database, f"messages seem to be in {renamed[0]}")
    if not kept:
        raise _explain_version(database, "no table of messages")
    if "message" in kept and "part" not in database.columns:
        raise _explain_version(database, "no table of parts")


def _explain_version(database: Database, lacking: str) -> DoctorError:
    message = f"{database.path} is of a version of OpenCode that can't be read here ({lacking}); export the session with that version"
    return DoctorError("unreadable", f"{message}, and check the export", database.path)


def explain_error(path: str, error: sqlite3.Error) -> DoctorError:
    """An error of SQLite in one line: what, where, what to do."""
    said = str(error)
    if "locked" in said or "busy" in said:
        return DoctorError("live", f"{path} is locked by another process; close OpenCode and run this again", path)
    if "file is not a database" in said:
        reason = "is no SQLite database, or its first page is damaged, encrypted or of a newer file format"
        return DoctorError("unreadable", f"{path} {reason}", path)
    if "malformed" in said or "corrupt" in said or "disk I/O" in said:
        advice = f"bring it back from a backup, or save what can be saved: sqlite3 {path} .recover"
        return DoctorError("unreadable", f"{path} is damaged ({said}); {advice}", path)
    return DoctorError("unreadable", f"can't read {path}: {said}", path)
