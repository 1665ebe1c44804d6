"""OpenCode's SQLite databases of both generations: sessions, their messages as an export holds them, their events, and what is wrong.

Tables and columns changed their names several times, so they are looked at before they are asked for. The database is copied first; what
is read is the copy. sqlite3 is imported here only.
"""

from __future__ import annotations

import atexit
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from doctor.errors import DoctorError
from doctor.sources.copies import Copy, copy_database, identify_database
from doctor.sources.formats.opencode.messages import read_first, read_second
from doctor.sources.formats.opencode.signs import StoredEvent
from doctor.sources.formats.opencode.stored import Belongings, Flaw, StoreSource, write_out
from doctor.sources.formats.opencode.values import get_object, get_time, write_time

SESSIONS = ("session_v2", "session")
CLAIMS = ("execution_claimed_at", "time_suspended")
NEEDED = {
    "message": ("id", "session_id", "data"),
    "part": ("id", "message_id", "data"),
    "session_message": ("id", "session_id", "type", "data"),
}
MOST_COMPLAINTS = 3
JSON_COLUMNS = ("metadata", "revert", "permission", "model", "summary_diffs")


class SessionRow(NamedTuple):
    """One session as the list of a database shows it. Times in milliseconds."""

    id: str
    title: str
    directory: str
    updated: int


class Database:
    """An open copy of a database. `columns` by table; `complaint` is what SQLite's own check says, "" for a sound file."""

    def __init__(self, path: str, copy: Copy, connection: sqlite3.Connection) -> None:
        self.path = path
        self.copy = copy
        self.connection = connection
        self.columns: dict[str, tuple[str, ...]] = {}
        self.complaint = ""

    def ask(self, query: str, *values: Any) -> list[sqlite3.Row]:
        try:
            with closing(self.connection.execute(query, values)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            raise explain_error(self.path, error) from error

    def has(self, table: str, *columns: str) -> bool:
        return table in self.columns and all(column in self.columns[table] for column in columns)

    def close(self) -> None:
        self.connection.close()
        self.copy.remove()


_opened: list[Database] = []
"""The database that was opened last: its sessions are read one after the other."""


def open_database(path: str) -> Database:
    """The copy of a database, opened; a second time for as long as the original stays the same.

    Raises DoctorError: it is empty, damaged beyond opening, no database, or not OpenCode's.
    """
    if _opened and _opened[0].path == path and _opened[0].copy.identity == identify_database(path):
        return _opened[0]
    close_databases()
    database = _open(path)
    atexit.register(close_databases)
    _opened.append(database)
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
        database.complaint = _check(database)
        _require_tables(database)
    except BaseException:
        database.close()
        raise
    return database


def require_content(path: str, copy: str) -> None:
    import os

    if os.path.getsize(copy) == 0 and not (os.path.exists(copy + "-wal") and os.path.getsize(copy + "-wal")):
        message = f"{path} is empty (0 bytes): it holds no session. Look for them in another opencode*.db beside it, or in a backup"
        raise DoctorError("unreadable", message, path)


def _check(database: Database) -> str:
    try:
        found = [str(row[0]) for row in database.ask(f"PRAGMA quick_check({MOST_COMPLAINTS})")]
        broken = database.ask("PRAGMA foreign_key_check")
    except DoctorError as error:
        return error.message.partition(": ")[2]
    said = "; ".join(" ".join(text.split()) for text in found if text != "ok")
    tables = sorted({str(row[0]) for row in broken} - {"part", "message"})
    return said or (f"rows of {', '.join(tables)} refer to rows that are not there" if tables else "")


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
    if not kept:
        raise _explain_version(database, "no table of messages")


def _explain_version(database: Database, lacking: str) -> DoctorError:
    message = f"{database.path} is of a version of OpenCode that can't be read here ({lacking}); export the session with that version"
    return DoctorError("unreadable", f"{message}, and check the export", database.path)


def explain_error(path: str, error: sqlite3.Error) -> DoctorError:
    """An error of SQLite in one line: what, where, what to do."""
    said = str(error)
    if "locked" in said or "busy" in said:
        return DoctorError("live", f"{path} is locked by another process; close OpenCode and run this again", path)
    if "file is not a database" in said:
        return DoctorError("unreadable", f"{path} is no SQLite database, or its first page is damaged or encrypted", path)
    if "malformed" in said or "corrupt" in said or "disk I/O" in said:
        advice = f"bring it back from a backup, or save what can be saved: sqlite3 {path} .recover"
        return DoctorError("unreadable", f"{path} is damaged ({said}); {advice}", path)
    return DoctorError("unreadable", f"can't read {path}: {said}", path)


def list_sessions(database: Database) -> list[SessionRow]:
    """All sessions, by id. The names of their columns are those that this version has."""
    table = find_table(database)
    columns = database.columns[table]
    wanted = [column if column in columns else "''" for column in ("title", "directory")]
    updated = "time_updated" if "time_updated" in columns else "0"
    rows = database.ask(f"SELECT id, {wanted[0]}, {wanted[1]}, {updated} FROM {table} ORDER BY id")
    return [SessionRow(str(row[0]), str(row[1] or ""), str(row[2] or ""), row[3] if isinstance(row[3], int) else 0) for row in rows]


def find_table(database: Database) -> str:
    return next(table for table in SESSIONS if database.has(table, "id"))


def load_session(database: Database, session_id: str) -> StoreSource:
    """One session as the export that holds all of it, unsettled messages too. Raises DoctorError: it is not there."""
    rows = database.ask(f"SELECT * FROM {find_table(database)} WHERE id = ?", session_id)
    if not rows:
        raise DoctorError("unreadable", f"{database.path} holds no session {session_id}", database.path)
    session = dict(rows[0])
    generation = find_generation(database, session_id)
    info = build_info(session, generation)
    messages = read_first(database, session_id) if generation == 1 else read_second(database, session_id)
    flaws = [*messages.flaws, *_find_flaws(database, session)]
    events = read_events(database, session_id)
    belongings = Belongings(database.path, "database", tuple(events), tuple(flaws), messages.damage)
    return StoreSource(write_out(info, messages.texts), belongings)


def find_generation(database: Database, session_id: str) -> int:
    """1 where the session's messages are in `message`, 2 where they are in `session_message`. A database of V2 may hold both."""
    holds = {}
    for table in ("message", "session_message"):
        holds[table] = table in database.columns and bool(database.ask(f"SELECT 1 FROM {table} WHERE session_id = ? LIMIT 1", session_id))
    if holds["message"] and holds["session_message"]:
        return 2 if "session_v2" in database.columns else 1
    return 2 if holds["session_message"] or "message" not in database.columns else 1


def build_info(session: dict[str, Any], generation: int) -> dict[str, Any]:
    """The session's record in the shape of an export."""
    names = {"project_id": "projectID", "parent_id": "parentID", "workspace_id": "workspaceID"}
    plain = ("id", "slug", "directory", "path", "title", "agent", "version", "cost")
    info = {key: session[key] for key in plain if session.get(key) is not None}
    info |= {name: session[key] for key, name in names.items() if session.get(key) is not None}
    info |= {key: value for key in JSON_COLUMNS if (value := _parse(session.get(key))) is not None and key != "summary_diffs"}
    if generation == 2:
        info["location"] = {"directory": info.pop("directory", "")}
    if session.get("summary_files") is not None:
        info["summary"] = {name: session.get(f"summary_{name}") or 0 for name in ("additions", "deletions", "files")}
    if "tokens_input" in session:
        cache = {"read": session.get("tokens_cache_read") or 0, "write": session.get("tokens_cache_write") or 0}
        info["tokens"] = {name: session.get(f"tokens_{name}") or 0 for name in ("input", "output", "reasoning")} | {"cache": cache}
    times = ("created", "updated", "compacting", "archived")
    info["time"] = {name: session[f"time_{name}"] for name in times if session.get(f"time_{name}") is not None}
    return info


def _parse(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def read_events(database: Database, session_id: str) -> Iterator[StoredEvent]:
    if not database.has("event", "aggregate_id", "seq", "type", "data"):
        return
    moment = next((column for column in ("created", "time_created") if column in database.columns["event"]), "0")
    query = f"SELECT seq, type, data, {moment} AS moment FROM event WHERE aggregate_id = ? ORDER BY seq"
    for line, row in enumerate(database.ask(query, session_id)):
        data = _parse(row["data"])
        time = row["moment"] if isinstance(row["moment"], int) else 0
        time = time or _find_time(data)
        yield StoredEvent(line, row["seq"], str(row["type"]), time, data)


def _find_time(data: Any) -> int:
    """The time that an event's own data bears; early tables have no column for it."""
    if not isinstance(data, dict):
        return 0
    times = get_object(get_object(data, "info"), "time")
    return get_time(data, "time") or get_time(times, "completed") or get_time(times, "created")


def _find_flaws(database: Database, session: dict[str, Any]) -> Iterable[Flaw]:
    """What is wrong around a session: the file, its project, and a claim on it."""
    if database.complaint:
        yield Flaw("damaged-database", None, f"SQLite's own check of this database fails: {database.complaint}")
    project = session.get("project_id")
    if database.has("project", "id", "worktree") and project:
        rows = database.ask("SELECT worktree FROM project WHERE id = ?", project)
        if not rows:
            yield Flaw("hidden-session", None, f"its project {project} is not in the database: no list of sessions shows it")
        else:
            twins = database.ask("SELECT id FROM project WHERE worktree = ? AND id <> ?", rows[0][0], project)
            if twins and project != "global":
                others = ", ".join(str(row[0]) for row in twins[:3])
                said = (
                    f"its project {project} is one of several for the same folder (also {others}): a list that goes by the other lacks it"
                )
                yield Flaw("hidden-session", None, said, is_doubtful=True)
    claim = next((session[column] for column in CLAIMS if isinstance(session.get(column), int) and session[column]), None)
    if claim is not None:
        said = (
            f"an execution of this session is claimed since {write_time(claim)}; by whom is not recorded, and a claim outlives its process"
        )
        yield Flaw("claimed-session", None, said, is_note=True)
    yield from _find_discarded(database, str(session["id"]))


def _find_discarded(database: Database, session_id: str) -> Iterable[Flaw]:
    """Calls with two ends in the event order: the row holds the first, the second one is lost to it."""
    ends: dict[str, list[str]] = {}
    for event in read_events(database, session_id):
        name = event.type.rpartition(".")[0]
        if name in ("session.tool.success", "session.tool.failed") and isinstance(event.data, dict):
            ends.setdefault(str(event.data.get("callID", "")), []).append(name)
    for call_id, names in ends.items():
        if call_id and names[0] == "session.tool.failed" and "session.tool.success" in names[1:]:
            said = f"{call_id} was ended as failed while its tool still ran; the result that came later is in the event table only"
            yield Flaw("discarded-result", None, said, ())
