"""OpenCode's older store: one JSON file for each session, message and part, under `storage/`. Paths are authoritative, not the ids inside:
migrations moved files without writing them anew, and the client's own importer takes every id from the path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from doctor.errors import DoctorError
from doctor.jsontext import read_json
from doctor.model import LineProblem
from doctor.records import Record
from doctor.sources.formats.opencode.stored import FOREIGN, ORPHANS, Belongings, Flaw, StoreSource, join_message, spell, write_out
from doctor.sources.formats.opencode.values import get_object, get_text, get_time
from doctor.sources.source import explain_os_error

SUFFIX = ".json"


class FileRow(Record):
    """A session file of the store."""

    id: str
    project: str
    path: str


def is_store(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "session")) and os.path.isdir(os.path.join(folder, "message"))


def list_sessions(storage: str) -> list[FileRow]:
    """All sessions, by id. Folders between carry the project."""
    found = []
    root = os.path.join(storage, "session")
    for project in _list_names(root):
        for name in _list_names(os.path.join(root, project)):
            if name.endswith(SUFFIX):
                found.append(FileRow(name.removesuffix(SUFFIX), project, os.path.join(root, project, name)))
    return sorted(found)


def _find_row(storage: str, session_id: str) -> FileRow | None:
    root = os.path.join(storage, "session")
    for project in _list_names(root):
        path = os.path.join(root, project, session_id + SUFFIX)
        if os.path.isfile(path):
            return FileRow(session_id, project, path)
    return None


def load_session(storage: str, session_id: str) -> StoreSource:
    """One session, written out as an export. Raises DoctorError: it is not there, or its own file can't be read."""
    row = _find_row(storage, session_id)
    if row is None:
        raise DoctorError("unreadable", f"{storage} holds no session {session_id}", storage)
    try:
        info = read_json(_read(row.path))
    except (ValueError, RecursionError) as error:
        how = "empty (0 bytes)" if not os.path.getsize(row.path) else "no JSON"
        raise DoctorError(
            "unreadable", f"{row.path} is {how}: the session's own record is lost; bring it back from a copy", row.path
        ) from error
    if not isinstance(info, dict):
        raise DoctorError("unreadable", f"{row.path} is no session: an object is expected", row.path)
    named = get_text(info, "id")
    info["id"] = session_id
    texts: list[str] = []
    flaws: list[Flaw] = [*_find_surroundings(storage, row)]
    if named and named != session_id:
        flaws.append(Flaw(FOREIGN, None, f"the file of {session_id} calls itself {named}; the name of the file counts", is_note=True))
    damage: list[LineProblem] = []
    # In the client's order, which is that of times.
    messages = sorted(_list_messages(storage, session_id), key=lambda one: (one[0], one[1]))
    for _, message_id, data in messages:
        parts = [*_spell_parts(storage, session_id, message_id, len(texts), damage)]
        head = spell(data, f"message {message_id}", len(texts), damage, id=message_id, sessionID=session_id)
        if head is not None:
            texts.append(join_message(head, parts))
    return StoreSource(write_out(info, texts), Belongings((), tuple(flaws), tuple(damage)))


def _list_messages(storage: str, session_id: str) -> Iterator[tuple[int, str, str]]:
    """(time of creation, id, text)"""
    folder = os.path.join(storage, "message", session_id)
    for name in _list_names(folder):
        if name.endswith(SUFFIX):
            data = _read(os.path.join(folder, name))
            try:
                created = get_time(get_object(read_json(data), "time"), "created")
            except (ValueError, RecursionError):
                created = 0
            yield created, name.removesuffix(SUFFIX), data


def _spell_parts(storage: str, session_id: str, message_id: str, row: int, damage: list[LineProblem]) -> Iterator[str]:
    folder = os.path.join(storage, "part", message_id)
    for name in _list_names(folder):
        if name.endswith(SUFFIX):
            part_id = name.removesuffix(SUFFIX)
            data = _read(os.path.join(folder, name))
            text = spell(data, f"part {part_id} of {message_id}", row, damage, id=part_id, sessionID=session_id, messageID=message_id)
            if text is not None:
                yield text


def _find_surroundings(storage: str, row: FileRow) -> Iterator[Flaw]:
    """A project that is gone, for which the importer passes a session over; parts whose message is gone."""
    if row.project != "global" and not os.path.isfile(os.path.join(storage, "project", row.project + SUFFIX)):
        said = f"its project {row.project} has no file in the store: the import into a database passes this session over"
        yield Flaw("hidden-session", None, said)
    for message_id in _find_orphans(storage, row.id):
        names = _list_names(os.path.join(storage, "part", message_id))
        if names and not os.path.isfile(os.path.join(storage, "message", row.id, message_id + SUFFIX)):
            count = "a part belongs" if len(names) == 1 else f"{len(names)} parts belong"
            said = f"{count} to no message: {message_id} has no file in the store ({names[0].removesuffix(SUFFIX)})"
            yield Flaw(ORPHANS, None, said)


class Orphans(Record):
    """Folders of parts without a message, by the session that a part of them names. `stamps`: when which folder had been changed last."""

    storage: str
    stamps: dict[str, int]
    by_session: dict[str, list[str]]


_seen: list[Orphans] = []
"""Those of the store that was read last: finding them takes a look at every message of every session, whose parts have no other owner."""


def _find_orphans(storage: str, session_id: str) -> list[str]:
    own = os.path.join("message", session_id)
    if not _seen or _seen[0].storage != storage or any(_stamp(storage, name) != _seen[0].stamps.get(name, 0) for name in ("part", own)):
        _seen[:] = [_scan_orphans(storage)]
    return _seen[0].by_session.get(session_id, [])


def _scan_orphans(storage: str) -> Orphans:
    sessions = _list_names(os.path.join(storage, "message"))
    stamps = {name: _stamp(storage, name) for name in ("part", *(os.path.join("message", session) for session in sessions))}
    known = {name for session in sessions for name in _list_names(os.path.join(storage, "message", session))}
    by_session: dict[str, list[str]] = {}
    for message_id in _list_names(os.path.join(storage, "part")):
        if message_id + SUFFIX not in known:
            parts = _list_names(os.path.join(storage, "part", message_id))
            owner = next(filter(None, (_read_owner(os.path.join(storage, "part", message_id, name)) for name in parts)), "")
            by_session.setdefault(owner, []).append(message_id)
    return Orphans(storage, stamps, by_session)


def _stamp(storage: str, name: str) -> int:
    try:
        return os.stat(os.path.join(storage, name)).st_mtime_ns
    except OSError:
        return 0


def _read_owner(path: str) -> str:
    try:
        return get_text(read_json(_read(path)), "sessionID")
    except (ValueError, RecursionError, DoctorError):
        return ""


def _read(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise explain_os_error(path, error) from error


def _list_names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
