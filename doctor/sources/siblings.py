"""Other sessions of the store that a session lies in: one by its id, and the sub-sessions of one.

Clients put sub-sessions beside their parent: `<store>/<project>/sessions/<id>`. The logging hook and the session store find the project
in different ways, so that events and transcript of one id may lie in the `sessions` folders of two projects.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Mapping

import orjson

from doctor.model import Sibling
from doctor.resuming import SUB_SESSION, find_obstacle
from doctor.sources.metadata import read_metadata
from doctor.sources.surroundings import SESSIONS, Surroundings, list_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRANSCRIPT = "transcript.jsonl"
CONTEXT = "context-intelligence"
EVENTS = ("events.jsonl", os.path.join(CONTEXT, "events.jsonl"))
"""The logging hook's file, else the copy that the context-intelligence hook keeps."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}$"
"""What can be the name of a session's folder. An id that a tool result claims must not lead elsewhere on this disk."""
MOST_BYTES_FOR_PARENT = 1 << 16
"""The parent of a session is named in the first events of its log."""
NO_PARENT_SPAN = "0" * 16


def is_in_store(folder: str) -> bool:
    return os.path.basename(os.path.dirname(folder)) == SESSIONS


def list_places(folder: str, session_id: str) -> list[str]:
    """Every folder of the store for an id: beside `folder` first, then in other projects, sorted."""
    if not re.match(NAME, session_id):
        return []
    beside = os.path.join(os.path.dirname(folder), session_id)
    places = [beside] if os.path.isdir(beside) else []
    if is_in_store(folder):
        root = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
        for project in list_folder(root):
            place = os.path.join(root, project, SESSIONS, session_id)
            if place != beside and os.path.isdir(place):
                places.append(place)
    return places


def find_sibling(folder: str, session_id: str) -> Sibling:
    """Whether a session can be resumed, as its files say, without reading its rows."""
    places = list_places(folder, session_id)
    saved = next((place for place in places if os.path.isfile(os.path.join(place, TRANSCRIPT))), None)
    if saved is not None:
        metadata = read_metadata(saved)
        return Sibling(saved, find_obstacle(session_id, metadata.value, metadata.problem, False), True)
    for place in places:
        if find_events(place) is not None:
            return Sibling(place, find_obstacle(session_id, None, "", True), True)
    if places:
        return Sibling(places[0], "its folder holds neither a transcript nor events", True)
    return Sibling("", "it is not on disk", _has_sub_sessions(folder))


def find_events(folder: str, names: Container[str] | None = None) -> str | None:
    """The event log of a session's folder; `names` is what lies in it, where that is known."""
    if names is not None and EVENTS[0] not in names and CONTEXT not in names:
        return None
    found = [path for name in EVENTS if os.path.isfile(path := os.path.join(folder, name))]
    return next((path for path in found if os.path.getsize(path)), found[0] if found else None)


def find_events_elsewhere(folder: str, around: Surroundings) -> str | None:
    """The event log that another project's folder holds for the same session."""
    parts = folder.rsplit(os.sep, 3)
    if len(parts) < 4 or parts[2] != SESSIONS:
        return None
    homes = around.list_homes(parts[0], parts[3])
    if homes is not None and len(homes) < 2:
        return None
    places = list_places(folder, parts[3])
    return next((path for place in places if place != folder and (path := find_events(place)) is not None), None)


def list_children(folder: str, session_id: str, everywhere: bool = False) -> list[str]:
    """Folders of the sub-sessions that a session delegated to, by id; not those of its sub-sessions. `everywhere`: those in other projects
    of the store too."""
    beside = os.path.dirname(folder)
    homes = [beside]
    if everywhere and is_in_store(folder):
        root = os.path.dirname(os.path.dirname(beside))
        homes += [home for project in list_folder(root) if (home := os.path.join(root, project, SESSIONS)) != beside]
    names = [(home, name) for home in homes for name in list_folder(home) if name != session_id and re.match(SUB_SESSION, name)]
    return [os.path.join(home, name) for home, name in names if _is_child(os.path.join(home, name), name, session_id)]


def follow_children(folder: str, session_id: str) -> Iterator[str]:
    """Folders of all sub-sessions below a session, depth first. A circle of parents ends where it closes."""
    seen = {folder}
    waiting = list_children(folder, session_id, everywhere=True)[::-1]
    while waiting:
        child = waiting.pop()
        if child not in seen:
            seen.add(child)
            yield child
            waiting += list_children(child, os.path.basename(child), everywhere=True)[::-1]


def _is_child(folder: str, name: str, parent: str) -> bool:
    """By metadata, else by the events; older clients put the parent's id, newer ones its span, in front of the child's name."""
    metadata = read_metadata(folder).value
    named = metadata.get("parent_id") if metadata is not None else None
    if isinstance(named, str) and named:
        return named == parent
    if name.startswith((parent + "_", parent + "-")):
        return True
    span = re.match(r"[0-9a-f]{16}-([0-9a-f]{16})_", parent)
    if span and name.startswith(span[1] + "-"):
        return True
    return name.startswith(NO_PARENT_SPAN) and _find_parent_in_events(folder) == parent


def _find_parent_in_events(folder: str) -> str:
    path = find_events(folder)
    if path is None:
        return ""
    try:
        with open(path, "rb") as stream:
            head = stream.read(MOST_BYTES_FOR_PARENT)
    except OSError:
        return ""
    for line in head.split(b"\n"):
        try:
            row = orjson.loads(line)
        except ValueError:
            continue
        data: Mapping[str, Any] = row.get("data") if isinstance(row, dict) and isinstance(row.get("data"), dict) else {}
        if isinstance(data.get("parent_id"), str):
            return str(data["parent_id"])
    return ""


def _has_sub_sessions(folder: str) -> bool:
    """Whether sessions were copied with their sub-sessions, as far as one can see."""
    if is_in_store(folder):
        return True
    own = os.path.basename(folder)
    return any(name != own and re.match(SUB_SESSION, name) for name in list_folder(os.path.dirname(folder)))
