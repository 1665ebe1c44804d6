"""Where OpenCode keeps sessions, and how one of them is named: `opencode.db#ses_…`, or `storage#ses_…` in the older store of files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from doctor.errors import DoctorError
from doctor.records import Record
from doctor.sources.copies import identify_database
from doctor.sources.formats.opencode import files
from doctor.sources.formats.opencode.stored import Flaw, StoreSource

DATABASE = r"opencode[\w.-]*\.(db|sqlite3?)$"
"""The database of the stable channel, and those of others."""
STORAGE = "storage"
SEPARATOR = "#"
SESSION = r"ses_[0-9A-Za-z_]*$"
MOST_CANDIDATES = 6


class Stored(Record):
    """One session of a store: its target, and what a list shows of it. `updated` in seconds since the epoch."""

    target: str
    id: str
    project: str
    updated: float


def find_databases(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if re.match(DATABASE, name)]


def split_target(target: str) -> tuple[str, str] | None:
    """(store, session id) of a target; None for any other path."""
    store, sign, name = target.rpartition(SEPARATOR)
    return (store, name) if sign and store and re.match(SESSION, name) else None


def list_place(path: str) -> list[Stored]:
    """All sessions of a database, of a store of files, or of a data folder with both: there, of the files what the databases lack.

    Raises DoctorError: the database can't be read.
    """
    if os.path.isfile(path):
        return _list_database(path)
    if files.is_store(path):
        return _list_files(path, set())
    found = [stored for database in find_databases(path) for stored in name_sessions(database)]
    storage = os.path.join(path, STORAGE)
    return found + (_list_files(storage, {stored.id for stored in found}) if files.is_store(storage) else [])


def name_sessions(database: str) -> list[Stored]:
    """The sessions of one database among several. One that can't be read is named alone: reading that target says why, and the others
    are judged all the same."""
    try:
        return list_place(database)
    except DoctorError:
        return [Stored(f"{database}{SEPARATOR}ses_", "ses_", os.path.basename(database), 0.0)]


def _list_database(path: str) -> list[Stored]:
    from doctor.sources.formats.opencode.database import open_database
    from doctor.sources.formats.opencode.sessions import list_sessions

    rows = list_sessions(open_database(path))
    return [Stored(path + SEPARATOR + row.id, row.id, row.directory, row.updated / 1000) for row in rows]


def _list_files(storage: str, known: set[str]) -> list[Stored]:
    found = []
    for row in files.list_sessions(storage):
        if row.id not in known:
            found.append(Stored(storage + SEPARATOR + row.id, row.id, row.project, os.stat(row.path).st_mtime))
    return found


def expand_place(path: str, session: str = "") -> list[str]:
    """The targets of a place, all or those whose id begins with `session`.

    Raises DoctorError: it holds none, or several begin like this.
    """
    found = list_place(path)
    if not found:
        raise DoctorError("usage", f"{path} holds no session", path)
    if not session:
        return [stored.target for stored in found]
    exact = [stored for stored in found if stored.id == session]
    chosen = exact or [stored for stored in found if stored.id.startswith(session)]
    if not chosen:
        raise DoctorError("usage", f"{path} holds no session whose id begins with {session}; it holds {len(found)} others", path)
    if len(chosen) > 1:
        names = ", ".join(stored.id for stored in chosen[:MOST_CANDIDATES])
        raise DoctorError("usage", f"{session} is ambiguous in {path}, give more of the id: {names}", path)
    return [chosen[0].target]


def open_target(target: str) -> StoreSource | None:
    """The session that a target names, written out; None where it names none. Raises DoctorError: it can't be read."""
    parts = split_target(target)
    if parts is None:
        return None
    store, session_id = parts
    if os.path.isdir(store):
        return _add_leftover(files.load_session(store, session_id), store, session_id)
    if not os.path.isfile(store):
        return None
    from doctor.sources.formats.opencode.database import open_database
    from doctor.sources.formats.opencode.sessions import load_session

    return load_session(open_database(store, session_id), session_id)


def _add_leftover(source: StoreSource, storage: str, session_id: str) -> StoreSource:
    """Notes a session that a database beside the files lacks."""
    databases = find_databases(os.path.dirname(os.path.abspath(storage)))
    known = _list_known(databases)
    if known is not None and session_id not in known:
        name = os.path.basename(databases[0])
        said = f"{name} beside this store has no row for this session: the client does not show it; import it with `opencode import`"
        flaws = (*source.belongings.flaws, Flaw("unmigrated-session", None, said))
        source.belongings = source.belongings._replace(flaws=flaws)
    return source


class Known(Record):
    """The ids of all sessions in some databases; None where one of these can't be read. `identities` says of which state of them."""

    identities: tuple[object, ...]
    ids: frozenset[str] | None


_known: list[Known] = []
"""Of the databases that were asked last: a store of files has many sessions, and a database is copied to be read."""


def _list_known(databases: Sequence[str]) -> frozenset[str] | None:
    if not databases:
        return None
    identities = tuple((database, identify_database(database)) for database in databases)
    if not _known or _known[0].identities != identities:
        try:
            ids = frozenset(stored.id for database in databases for stored in _list_database(database))
        except DoctorError:
            ids = None
        _known[:] = [Known(identities, ids)]
    return _known[0].ids
