"""From what a user names to transcripts: a file, a session folder, a tree of them, a pattern, or the id of a session in a known store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from doctor.errors import DoctorError
from doctor.records import Record
from doctor.sources.metadata import METADATA
from doctor.sources.naming import COMPRESSED, is_archive, split_member
from doctor.sources.siblings import EVENTS, NAME, TRANSCRIPT, find_events, list_places
from doctor.sources.surroundings import SESSIONS

MOST_CANDIDATES = 8
ROWS = (".jsonl", ".json")
DATABASES = (".db", ".sqlite", ".sqlite3")
FOREIGN_ID = "ses_"
"""How the ids of OpenCode's sessions begin; no others do. Databases are opened only for them."""
DATABASE_HEAD = b"SQLite format 3\0"
PATTERN = "*?["
CHAT_EVENTS = ".events.jsonl"


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


def find_transcripts(path: str, stores: Sequence[str] = ()) -> list[str]:
    """All transcripts that a path names; see `walk_transcripts`."""
    return list(walk_transcripts(path, stores))


def walk_transcripts(path: str, stores: Sequence[str] = ()) -> Iterator[str]:
    """The transcripts that a path names, sorted. A file is taken as it is; a folder is walked, not following links to folders.

    What is no path is a pattern, or the beginning of a session's id in one of `stores`. The folder of a session that was never saved
    gives the path where its transcript would be. They come one by one: a tree may hold millions.

    Raises DoctorError: nothing is there, a folder holds no transcript, or several sessions begin like this.
    """
    if os.path.isfile(path) or split_member(path) is not None:
        yield from [path] if path.endswith(ROWS) or not _holds_sessions(path) else _expand(path)
    elif os.path.isdir(path):
        yield from _walk_folder(path)
    elif "#" in path and os.path.exists(path.rpartition("#")[0]):
        yield from _expand(*path.rsplit("#", 1))
    elif os.path.lexists(path):
        raise DoctorError("unreadable", f"can't read {path}: it is neither a file nor a folder", path)
    elif any(sign in path for sign in PATTERN):
        yield from _expand_pattern(path)
    elif os.path.basename(path) == TRANSCRIPT and find_events(os.path.dirname(path) or ".") is not None:
        yield path  # the session ended before its first save
    elif re.match(NAME, path):
        yield find_session(path, stores)
    else:
        raise DoctorError("unreadable", f"can't find {path}: there is no such file or folder", path)


def expand_file(path: str) -> list[str]:
    """What a file holds: the sessions of a database, else itself. Of a database that can't be read a target that says why."""
    if path.endswith(ROWS) or not _holds_sessions(path):
        return [path]
    from doctor.sources.formats.opencode.places import name_sessions

    return [one.target for one in name_sessions(path)]


def _walk_folder(path: str) -> Iterator[str]:
    found = False
    denied: list[str] = []
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            files, folders = _list_entries(folder)
        except OSError:
            denied.append(folder)
            continue
        for target in _find_in_folder(folder, folders, files):
            found = True
            yield target
        waiting += [os.path.join(folder, name) for name in sorted(folders, reverse=True)]
    if found:
        # A folder that can't be listed may hold a session: its transcript is named, so that reading it says why it can't be judged.
        yield from (os.path.join(folder, TRANSCRIPT) for folder in denied)
    elif denied:
        raise DoctorError("unreadable", f"can't read {denied[0]}: no permission to list it", path)
    elif find_events(path) is not None:
        yield _find_saved(os.path.realpath(path)) or os.path.join(path, TRANSCRIPT)
    else:
        raise DoctorError("usage", f"no {TRANSCRIPT} under {path}; name a session folder, a tree of them, or a transcript file", path)


def _list_entries(folder: str) -> tuple[list[str], list[str]]:
    """(files, folders) in a folder; links to folders are neither. os.walk asks the system twice as much."""
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif not entry.is_symlink() or not entry.is_dir():
                files.append(entry.name)
    return files, folders


def _find_in_folder(folder: str, folders: list[str], files: list[str]) -> list[str]:
    """What is to be read in a folder: the transcript, packed or not, what other clients keep there, and archives."""
    found = []
    if TRANSCRIPT in files:
        found.append(os.path.join(folder, TRANSCRIPT))
    else:
        # Whoever compressed a transcript and kept it has one session there, not two.
        found += [os.path.join(folder, name) for name in sorted(COMPRESSED.intersection(files))[:1]]
        found += _find_others(folder, folders, files)
    return found + [os.path.join(folder, name) for name in sorted(files) if is_archive(name)]


def walk_files(root: str, skips: Callable[[str], bool], wants: Callable[[str], bool]) -> list[str]:
    """All files in a folder that are wanted, whatever they are called. Both functions get absolute paths; skipped folders are not entered.
    An event log is never a transcript."""
    logs = {os.path.basename(name) for name in EVENTS}
    found = []
    for folder, folders, files in os.walk(root):
        place = os.path.abspath(folder)
        folders[:] = sorted(name for name in folders if not skips(os.path.join(place, name)))
        found += [os.path.join(folder, name) for name in sorted(files) if name not in logs and wants(os.path.join(place, name))]
    return found


def _find_others(folder: str, folders: list[str], files: list[str]) -> list[str]:
    """OpenCode's stores and exports in a folder. A store's own folders are not walked."""
    found: list[str] = []
    if "session" in folders and "message" in folders:
        folders.clear()
        return _expand(folder)
    if any(name.startswith("opencode") and name.endswith(DATABASES) for name in files):
        for place in _find_places(folder):
            from doctor.sources.formats.opencode.places import name_sessions

            found += [one.target for one in name_sessions(place)]
        folders[:] = [name for name in folders if name != "storage"]
    return found + _find_exports(folder, files)


def _find_exports(folder: str, files: list[str]) -> list[str]:
    from doctor.sources.formats import HEAD_LENGTH, is_export

    found = []
    for name in sorted(files):
        path = os.path.join(folder, name)
        if name.endswith(".json") and name != METADATA and os.path.isfile(path) and is_export(_read_head(path, HEAD_LENGTH)):
            found.append(path)
    return found


def _holds_sessions(path: str) -> bool:
    """Whether a file is a database: by its name where it is empty, else by its first bytes."""
    return path.endswith(DATABASES) or _read_head(path, len(DATABASE_HEAD)) == DATABASE_HEAD


def _read_head(path: str, length: int) -> bytes:
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read(length) or b""
    except OSError:
        return b""


def _expand(path: str, session: str = "") -> list[str]:
    from doctor.sources.formats.opencode.places import expand_place

    return expand_place(path, session)


def _find_saved(folder: str) -> str | None:
    """The transcript of a session whose events lie in the folder of another project."""
    places = list_places(folder, os.path.basename(folder)) if os.path.basename(os.path.dirname(folder)) == SESSIONS else []
    paths = (os.path.join(place, TRANSCRIPT) for place in places)
    return next((path for path in paths if os.path.isfile(path)), None)


def _expand_pattern(pattern: str) -> list[str]:
    """Transcripts under everything that a pattern matches; matched folders without one are passed over."""
    from glob import glob

    found: dict[str, None] = {}
    reason = f"nothing matches {pattern}"
    matches = sorted(glob(pattern, recursive=True))
    for match in matches:
        if match.endswith(CHAT_EVENTS) and match.removesuffix(CHAT_EVENTS) + ".jsonl" in matches:
            # What tells of the turns of a chat log is no log of its own.
            continue
        try:
            found.update(dict.fromkeys(find_transcripts(match)))
        except DoctorError as error:
            reason = f"nothing that {pattern} matches holds a transcript: {error.message}"
    if not found:
        raise DoctorError("usage", reason, pattern)
    return list(found)


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
    for place in _find_places(store):
        from doctor.sources.formats.opencode.places import name_sessions

        found += [SessionPlace(one.id, one.project, one.target, "", True, one.updated) for one in name_sessions(place)]
    return found


def _find_places(store: str) -> list[str]:
    """What `list_place` can list in a folder: its store of files and databases together, or each database that is there."""
    if os.path.isfile(store):
        return [store] if _holds_sessions(store) else []
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
        is_saved = os.path.isfile(transcript) or (not events and not os.access(folder, os.R_OK | os.X_OK))
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
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
