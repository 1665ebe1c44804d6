"""Writes a planned session into OpenCode's database (V1), and takes that back: never while somebody else has it open, in one transaction,
behind a backup that SQLite itself made and checked.

Only rows of messages and parts are replaced, each under the condition that it still holds what was read. V2 is not written: its rows are
projections of events, and a row that is changed alone no longer agrees with them.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from doctor.errors import DoctorError
from doctor.model import Source
from doctor.records import Record
from doctor.repair import receipts
from doctor.repair.plans import Plan
from doctor.repair.storage import files
from doctor.repair.storage.locks import hold_locks
from doctor.repair.storage.papers import TABLES, Paper, RowChange, find_papers
from doctor.repair.storage.writing import Written, find_free_stamp
from doctor.sources.copies import identify_database
from doctor.sources.source import MemorySource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SAFE = "integrity_check"
WAIT = 0.0


class KeptBackup(Record):
    """A backup that an earlier session of the run made, and what the database was when that session's fix was written."""

    path: str
    identity: tuple[object, ...]


def write_session(plan: Plan, store: str, session_id: str, now: float, kept: dict[str, KeptBackup] | None = None) -> Written:
    """Carries a plan out in the database `store`.

    `kept`: the backups of this run, by database. One is enough for all sessions as long as nobody else writes in between: it holds their
    rows as they were. What a fix changed, each receipt knows by itself.

    Raises DoctorError with nothing changed: "live" (somebody has it open), "changed", "unwritable", or "usage" for a session of V2.
    """
    old, new = _read(plan.session.transcript.source), _read(plan.after_session.transcript.source)
    changes = list_changes(old, new)
    if not changes:
        return Written("")
    real = os.path.realpath(store)
    known = _find_kept(real, kept)
    with files.explain_errors(real):
        files.require_writable(real)
        with hold_locks(real), _open_alone(real) as connection:
            rows = _pin(connection, real, changes)
            stamp = find_free_stamp(real, now)
            backup, receipt = known or real + receipts.BACKUP + stamp, real + receipts.RECEIPT + stamp + ".json"
            created: list[str] = []
            try:
                if not known:
                    _back_up(connection, real, backup, created)
                paper = _write_paper(plan, real, session_id, os.path.basename(backup), stamp, rows)
                files.create_file(receipt, MemorySource(paper), os.stat(real), created)
                files.sync_folder(os.path.dirname(real))
                _replace(connection, real, rows)
            except BaseException:
                for name in reversed(created):
                    with suppress(OSError):
                        os.unlink(name)
                raise
    if kept is not None:
        kept[real] = KeptBackup(backup, identify_database(real))
    return Written(real, backup, receipt)


def _find_kept(real: str, kept: dict[str, KeptBackup] | None) -> str:
    """The backup of this run that will do, "" for none: it is still there, and the database is as the run left it."""
    known = kept.get(real) if kept is not None else None
    return known.path if known is not None and os.path.isfile(known.path) and known.identity == identify_database(real) else ""


def list_changes(old: Any, new: Any) -> list[RowChange]:
    """The rows that two exports of one session differ in. `before` is left out: what a row holds now, the database says."""
    if any(not isinstance(message, dict) or "info" not in message for message in old["messages"]):
        message = "messages of OpenCode 2 are made from its events, and a row that is changed alone would no longer agree with them"
        raise DoctorError("usage", f"--in-place: {message}; write an export with -o FILE instead")
    changes = []
    for one, other in zip(old["messages"], new["messages"], strict=True):
        pairs = [("message", one["info"], other["info"]), *(("part", *pair) for pair in zip(one["parts"], other["parts"], strict=True))]
        for table, before, after in pairs:
            if before != after:
                changes.append(RowChange(table, after["id"], _spell(table, before), _spell(table, after)))
    return changes


def _spell(table: str, record: dict[str, Any]) -> str:
    """JSON text that a column can hold: lone surrogates, which have no UTF-8 form, make it ASCII with escapes."""
    value = {key: value for key, value in record.items() if key not in TABLES[table]}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def _read(source: Source) -> Any:
    return json.loads(source.read(0, source.size).decode("utf-8", "surrogateescape"))


@contextmanager
def _open_alone(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that nobody else shares: in this locking mode SQLite needs the whole file, which any other open connection denies in
    WAL mode, and any running transaction in the others.

    Raises DoctorError ("live") when that can't be had.
    """
    from doctor.sources.writers import find_writers

    name = os.path.basename(path)
    holders = find_writers((name, f"{name}-wal", f"{name}-shm"))
    holder = next((holders[path + ending] for ending in ("", "-wal", "-shm") if path + ending in holders), None)
    if holder is not None:
        raise DoctorError("live", f"{path} is open in process {holder}; close OpenCode (all of its servers) and run this again", path)
    # Enforced by SQLite too, for processes of other users and systems without /proc.
    with closing(sqlite3.connect(path, timeout=WAIT, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            _require_sound(connection, path)
            yield connection
        except sqlite3.Error as error:
            raise _explain(path, error) from error


def _explain(path: str, error: sqlite3.Error) -> DoctorError:
    # What can't be decoded is quoted in full by SQLite's module.
    said = "a row holds bytes that are no UTF-8" if "decode to UTF-8" in str(error) else str(error)
    if "locked" in said or "busy" in said:
        return DoctorError(
            "live", f"{path} is locked: another process has it open; close OpenCode and run this again; nothing was changed", path
        )
    if "readonly" in said:
        return DoctorError("unwritable", f"can't write {path}: it is read-only; write an export with -o FILE instead", path)
    return DoctorError("unwritable", f"can't write {path}: {said}; nothing was changed", path)


def _require_sound(connection: sqlite3.Connection, path: str) -> None:
    found = [str(row[0]) for row in connection.execute(f"PRAGMA {SAFE}(1)")]
    if found != ["ok"]:
        said = " ".join(found[0].split())
        raise DoctorError(
            "unwritable", f"{path} fails SQLite's integrity check ({said}): it is not written; save it with .recover first", path
        )


def _pin(connection: sqlite3.Connection, path: str, changes: list[RowChange]) -> tuple[RowChange, ...]:
    """The changes with the bytes that the rows hold now, which must say what was read. Raises DoctorError ("changed")."""
    pinned = []
    for change in changes:
        row = connection.execute(f"SELECT data FROM {change.table} WHERE id = ?", (change.id,)).fetchone()
        try:
            same = row is not None and _without_ids(change.table, json.loads(row[0])) == json.loads(change.before)
        except (ValueError, RecursionError, TypeError):
            same = False
        if not same:
            raise files.changed_underneath(path)
        pinned.append(change._replace(before=row[0]))
    return tuple(pinned)


def _without_ids(table: str, value: Any) -> Any:
    return {key: one for key, one in value.items() if key not in TABLES[table]} if isinstance(value, dict) else value


def _back_up(connection: sqlite3.Connection, path: str, backup: str, created: list[str]) -> None:
    """A whole copy by SQLite's own backup, checked, with the mode of the original."""
    descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.EXTRA_FLAGS, 0o600)
    os.close(descriptor)
    created.append(backup)
    with closing(sqlite3.connect(backup)) as copy:
        connection.backup(copy)
        _require_sound(copy, backup)
    os.chmod(backup, os.stat(path).st_mode & 0o7777)
    descriptor = os.open(backup, os.O_RDONLY | files.EXTRA_FLAGS)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(connection: sqlite3.Connection, path: str, rows: tuple[RowChange, ...]) -> None:
    """All rows in one transaction; each must hold what it is expected to, and the file must be sound at the end."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        for row in rows:
            done = connection.execute(f"UPDATE {row.table} SET data = ? WHERE id = ? AND data = ?", (row.after, row.id, row.before))
            if done.rowcount != 1:
                raise files.changed_underneath(path)
        _require_sound(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _write_paper(plan: Plan, path: str, session_id: str, backup: str, stamp: str, rows: tuple[RowChange, ...]) -> bytes:
    from doctor import __version__

    paper = {
        "schema_version": receipts.SCHEMA_VERSION,
        "tool": "amplifier-doctor",
        "tool_version": __version__,
        "stamp": stamp,
        "file": os.path.basename(path),
        "session": session_id,
        "backup": backup,
        "fixes": [{"code": fix.code, "title": fix.title, "safety": fix.safety.name.lower(), "source": fix.source} for fix in plan.applied],
        "rows": [row._asdict() for row in rows],
    }
    return json.dumps(paper, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def undo_session(store: str, session_id: str, now: float) -> tuple[str, str, str]:
    """Takes the last fix of a session back, row by row, so that what others wrote since stays. (database, backup, new receipt)

    Raises DoctorError: "usage" (nothing to undo), "changed" (a row was changed since), "live", "unwritable".
    """
    real = os.path.realpath(store)
    papers = [paper for paper in find_papers(real) if paper.session == session_id]
    undone = {paper.backup for paper in papers if paper.is_undone}
    papers = [paper for paper in papers if not paper.is_undone and paper.backup not in undone]
    nothing = DoctorError("usage", f"there is nothing to undo: no receipt of a fix of {session_id} lies beside {real}", real)
    if not papers:
        raise nothing
    with files.explain_errors(real):
        files.require_writable(real)
        with hold_locks(real), _open_alone(real) as connection:
            found = next((paper for paper in papers if not _is_still_old(connection, paper)), None)
            if found is None:
                raise nothing
            for row in found.rows:
                if _read_data(connection, row) != row.after:
                    message = f"{row.table} {row.id} in {real} was changed since it was fixed; the old rows are in {found.backup}"
                    raise DoctorError("changed", message, real)
            _replace(connection, real, tuple(row._replace(before=row.after, after=row.before) for row in found.rows))
            kept = real + receipts.UNDONE + find_free_stamp(real, now) + ".json"
            paper = {"undone": os.path.basename(found.backup), "session": session_id, "rows": [row._asdict() for row in found.rows]}
            files.create_file(kept, MemorySource(json.dumps(paper, ensure_ascii=False).encode("utf-8", "surrogatepass")), os.stat(real), [])
    return real, found.backup, kept


def _is_still_old(connection: sqlite3.Connection, paper: Paper) -> bool:
    """Whether all rows hold what they did before a fix: it was stopped before it wrote, or taken back and stopped before it said so."""
    return all(_read_data(connection, row) == row.before for row in paper.rows)


def _read_data(connection: sqlite3.Connection, row: RowChange) -> Any:
    found = connection.execute(f"SELECT data FROM {row.table} WHERE id = ?", (row.id,)).fetchone()
    return found[0] if found is not None else None
