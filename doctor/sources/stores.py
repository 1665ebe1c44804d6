"""The stores of this machine and the sessions in them: where they are, and which one an id means."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence

from doctor.errors import DoctorError
from doctor.records import Record
from doctor.sources.siblings import EVENTS, TRANSCRIPT, find_events
from doctor.sources.surroundings import SESSIONS

MOST_CANDIDATES = 8
DATABASES = (".db", ".sqlite", ".sqlite3")
FOREIGN_ID = "ses_"
"""How the ids of OpenCode's sessions begin; no others do. Databases are opened only for them."""
DATABASE_HEAD = b"SQLite format 3\0"


class SessionPlace(Record):
    """One session of a store. `transcript` is where it is, or would be had it been saved; `events` is "" where there is no log."""

    session_id: str
    project: str
    transcript: str
    events: str
    is_saved: bool
    modified: float = 0.0
    """When it was last written, in seconds since the epoch, where its store says so; 0 where its files do."""


def locate_stores(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Folders that hold projects or workspaces, each with a `sessions` folder, of all hosts of Amplifier on this machine; and OpenCode's
    data folder, and its database where that is named.

    The command line and the daemon keep `~/.amplifier/projects`, the agent `$AMPLIFIER_AGENT_HOME` or `~/.amplifier-agent`.
    """
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    bases = [environment.get("AMPLIFIER_HOME", ""), os.path.join(home, ".amplifier") if home else ""]
    agent = environment.get("AMPLIFIER_AGENT_HOME") or (os.path.join(home, ".amplifier-agent") if home else "")
    stores = [os.path.join(base, "projects") for base in bases if base]
    if agent:
        stores.append(os.path.join(agent, "state", "workspaces"))
    data = environment.get("XDG_DATA_HOME") or (os.path.join(home, ".local", "share") if home else "")
    stores += [os.path.join(data, "opencode")] if data else []
    named = environment.get("OPENCODE_DB", "")
    stores += [os.path.join(data, "opencode", named)] if named and named != ":memory:" and (data or os.path.isabs(named)) else []
    return tuple(dict.fromkeys(stores))


def find_session(name: str, stores: Sequence[str]) -> str:
    """The transcript of the one session whose id is `name`, or begins with it.

    Raises DoctorError: there is none, or several; then it lists them.
    """
    places = [place for place in list_sessions(stores, name) if place.session_id.startswith(name)]
    exact = [place for place in places if place.session_id == name]
    places = exact or places
    if len(places) == 1:
        return places[0].transcript
    if not places:
        where = f"; no session in {' or '.join(stores)} has an id that begins like this" if stores else ""
        raise DoctorError("unreadable", f"can't find {name}: there is no such file or folder{where}", name)
    # A session that two databases hold has one project, but two places.
    is_told = len({(place.session_id, place.project) for place in places}) == len(places)
    listed = [f"{place.session_id} ({place.project if is_told else place.transcript})" for place in places[:MOST_CANDIDATES]]
    more = f", and {len(places) - MOST_CANDIDATES:,} more" if len(places) > MOST_CANDIDATES else ""
    advice = ("name the folder of the one that is meant" if exact else "give more of the id") if is_told else "name the one that is meant"
    raise DoctorError("usage", f"{name} is ambiguous, {advice}: {', '.join(listed)}{more}", name)


def list_sessions(stores: Sequence[str], prefix: str = "") -> list[SessionPlace]:
    """All sessions of the stores with an id that begins with `prefix`, by project and id. Folders that can't be listed hold none.

    Events and transcript that lie in different projects of one store are brought together.
    """
    places: list[SessionPlace] = []
    # The same store may be known by two names, of which one is a link.
    for store in {os.path.realpath(store): store for store in reversed(stores)}.values():
        if prefix.startswith(FOREIGN_ID) or not prefix:
            places += [place for place in list_others(store) if place.session_id.startswith(prefix)]
        saved: list[SessionPlace] = []
        unsaved: list[SessionPlace] = []
        for project in _list_folders(store):
            for name in _list_folders(os.path.join(store, project, SESSIONS)):
                place = _look_at(os.path.join(store, project, SESSIONS, name), name, project) if name.startswith(prefix) else None
                if place is not None:
                    (saved if place.is_saved else unsaved).append(place)
        places += _bring_together(saved, unsaved)
    return sorted(places, key=lambda place: (place.project, place.session_id))


def list_others(store: str) -> list[SessionPlace]:
    """The sessions of OpenCode's data folder, or of one of its databases. One that can't be read is listed under its own name, so that
    reading it says why."""
    found: list[SessionPlace] = []
    for place in find_places(store):
        from doctor.sources.formats.opencode.places import name_sessions

        found += [SessionPlace(one.id, one.project, one.target, "", True, one.updated) for one in name_sessions(place)]
    return found


def find_places(store: str) -> list[str]:
    """What `list_place` can list in a folder: its store of files and databases together, or each database that is there."""
    if os.path.isfile(store):
        return [store] if holds_sessions(store) else []
    try:
        names = sorted(os.listdir(store))
    except OSError:
        return []
    if "session" in names and "message" in names:
        return [store]
    databases = [os.path.join(store, name) for name in names if name.startswith("opencode") and name.endswith(DATABASES)]
    return [store] if "storage" in names and databases else databases + ([os.path.join(store, "storage")] if "storage" in names else [])


def list_tree(root: str) -> list[SessionPlace]:
    """All sessions in a folder, however deep: a store, or a place for copies. Sessions that were never saved are among them."""
    saved: list[SessionPlace] = []
    unsaved: list[SessionPlace] = []
    denied: list[str] = []
    for folder, folders, names in os.walk(root, onerror=lambda error: denied.append(str(error.filename))):
        folders.sort()
        inside = {*names, *folders}
        if any(name.startswith("opencode") and name.endswith(DATABASES) for name in names) or {"session", "message"} <= set(folders):
            saved += list_others(folder)
            folders[:] = [inner for inner in folders if inner not in ("storage", "session", "message", "part")]
        place = _look_at(folder, os.path.basename(folder), _name_project(folder), inside)
        if place is not None:
            (saved if place.is_saved else unsaved).append(place)
            # What lies in a session's folder belongs to it.
            folders[:] = [inner for inner in folders if inner != os.path.dirname(EVENTS[1])]
    for folder in denied:
        saved.append(SessionPlace(os.path.basename(folder), _name_project(folder), os.path.join(folder, TRANSCRIPT), "", True))
    return sorted(_bring_together(saved, unsaved), key=lambda place: place.transcript)


def _name_project(folder: str) -> str:
    """What stands above the `sessions` folder of a store; for copies, the folder that they lie in."""
    parent = os.path.dirname(folder)
    return os.path.basename(os.path.dirname(parent) if os.path.basename(parent) == SESSIONS else parent)


def _look_at(folder: str, name: str, project: str, names: Container[str] | None = None) -> SessionPlace | None:
    """`names`: what lies in the folder, where that is known."""
    transcript, events = os.path.join(folder, TRANSCRIPT), find_events(folder, names) or ""
    if names is not None and TRANSCRIPT not in names:
        is_saved = False
    else:
        # A folder that can't be entered is listed all the same: reading it will say why it can't be judged.
        # What is there and is no file, such as a link to nowhere, is listed too, for the same reason.
        is_saved = os.path.lexists(transcript) or (not events and not os.access(folder, os.R_OK | os.X_OK))
    return SessionPlace(name, project, transcript, events, is_saved) if is_saved or events else None


def _bring_together(saved: list[SessionPlace], unsaved: list[SessionPlace]) -> list[SessionPlace]:
    """Gives each saved session the events that only another folder has; what is left was never saved."""
    logs: dict[str, SessionPlace] = {}
    for place in unsaved:
        logs.setdefault(place.session_id, place)
    ids = {place.session_id for place in saved}
    for index, place in enumerate(saved):
        if not place.events and place.session_id in logs:
            saved[index] = place._replace(events=logs[place.session_id].events)
    return saved + [place for place in logs.values() if place.session_id not in ids]


def _list_folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if _leads_to_folder(entry))
    except OSError:
        return []


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    """As entry.is_dir(), which raises for a link that leads back to itself, and would hide all that lies beside it."""
    return entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and os.path.isdir(entry))


def holds_sessions(path: str) -> bool:
    """Whether a file is a database: by its name where it is empty, else by its first bytes."""
    return path.endswith(DATABASES) or read_head(path, len(DATABASE_HEAD)) == DATABASE_HEAD


def read_head(path: str, length: int) -> bytes:
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read(length) or b""
    except OSError:
        return b""
