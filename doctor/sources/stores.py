"""From what a user names to transcripts: a file, a session folder, a tree of them, a pattern, or the id of a session in a known store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from doctor.errors import DoctorError
from doctor.records import Record
from doctor.sources.siblings import EVENTS, NAME, SESSIONS, TRANSCRIPT, find_events, list_places

MOST_CANDIDATES = 8
PATTERN = "*?["
CHAT_EVENTS = ".events.jsonl"


class SessionPlace(Record):
    """One session of a store. `transcript` is where it is, or would be had it been saved; `events` is "" where there is no log."""

    session_id: str
    project: str
    transcript: str
    events: str
    is_saved: bool


def locate_stores(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Folders that hold projects or workspaces, each with a `sessions` folder, of all hosts of Amplifier on this machine.

    The command line and the daemon keep `~/.amplifier/projects`, the agent `$AMPLIFIER_AGENT_HOME` or `~/.amplifier-agent`.
    """
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    bases = [environment.get("AMPLIFIER_HOME", ""), os.path.join(home, ".amplifier") if home else ""]
    agent = environment.get("AMPLIFIER_AGENT_HOME") or (os.path.join(home, ".amplifier-agent") if home else "")
    stores = [os.path.join(base, "projects") for base in bases if base]
    if agent:
        stores.append(os.path.join(agent, "state", "workspaces"))
    return tuple(dict.fromkeys(stores))


def find_transcripts(path: str, stores: Sequence[str] = ()) -> list[str]:
    """The transcripts that a path names, sorted. A file is taken as it is; a folder is walked, not following links to folders.

    What is no path is a pattern, or the beginning of a session's id in one of `stores`. The folder of a session that was never saved
    gives the path where its transcript would be.

    Raises DoctorError: nothing is there, a folder holds no transcript, or several sessions begin like this.
    """
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        return _walk_folder(path)
    if os.path.lexists(path):
        raise DoctorError("unreadable", f"can't read {path}: it is neither a file nor a folder", path)
    if any(sign in path for sign in PATTERN):
        return _expand_pattern(path)
    if re.match(NAME, path):
        return [find_session(path, stores)]
    raise DoctorError("unreadable", f"can't find {path}: there is no such file or folder", path)


def _walk_folder(path: str) -> list[str]:
    found: list[str] = []
    denied: list[str] = []
    for folder, folders, files in os.walk(path, onerror=lambda error: denied.append(str(error.filename))):
        folders.sort()
        if TRANSCRIPT in files:
            found.append(os.path.join(folder, TRANSCRIPT))
    if found:
        # A folder that can't be listed may hold a session: its transcript is named, so that reading it says why it can't be judged.
        return found + [os.path.join(folder, TRANSCRIPT) for folder in denied]
    if denied:
        raise DoctorError("unreadable", f"can't read {denied[0]}: no permission to list it", path)
    if find_events(path) is not None:
        return [_find_saved(os.path.realpath(path)) or os.path.join(path, TRANSCRIPT)]
    raise DoctorError("usage", f"no {TRANSCRIPT} under {path}; name a session folder, a tree of them, or a transcript file", path)


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
    listed = [f"{place.session_id} ({place.project})" for place in places[:MOST_CANDIDATES]]
    more = f", and {len(places) - MOST_CANDIDATES:,} more" if len(places) > MOST_CANDIDATES else ""
    advice = "name the folder of the one that is meant" if exact else "give more of the id"
    raise DoctorError("usage", f"{name} is ambiguous, {advice}: {', '.join(listed)}{more}", name)


def list_sessions(stores: Sequence[str], prefix: str = "") -> list[SessionPlace]:
    """All sessions of the stores with an id that begins with `prefix`, by project and id. Folders that can't be listed hold none.

    Events and transcript that lie in different projects of one store are brought together.
    """
    places: list[SessionPlace] = []
    # The same store may be known by two names, of which one is a link.
    for store in {os.path.realpath(store): store for store in reversed(stores)}.values():
        saved: list[SessionPlace] = []
        unsaved: list[SessionPlace] = []
        for project in _list_folders(store):
            for name in _list_folders(os.path.join(store, project, SESSIONS)):
                place = _look_at(os.path.join(store, project, SESSIONS, name), name, project) if name.startswith(prefix) else None
                if place is not None:
                    (saved if place.is_saved else unsaved).append(place)
        places += _bring_together(saved, unsaved)
    return sorted(places, key=lambda place: (place.project, place.session_id))


def list_tree(root: str) -> list[SessionPlace]:
    """All sessions in a folder, however deep: a store, or a place for copies. Sessions that were never saved are among them."""
    saved: list[SessionPlace] = []
    unsaved: list[SessionPlace] = []
    denied: list[str] = []
    for folder, folders, _ in os.walk(root, onerror=lambda error: denied.append(str(error.filename))):
        folders.sort()
        place = _look_at(folder, os.path.basename(folder), _name_project(folder))
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


def _look_at(folder: str, name: str, project: str) -> SessionPlace | None:
    transcript, events = os.path.join(folder, TRANSCRIPT), find_events(folder) or ""
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
