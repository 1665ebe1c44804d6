"""From what a user names to transcripts: a file, a session folder, a tree of them, a pattern, or the id of a session in a known store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from doctor.errors import DoctorError
from doctor.sources.metadata import METADATA
from doctor.sources.naming import COMPRESSED, is_archive, split_member
from doctor.sources.siblings import CONTEXT, EVENTS, NAME, TRANSCRIPT, find_events, is_in_store, list_places
from doctor.sources.source import explain_link
from doctor.sources.stores import DATABASES, find_places, find_session, holds_sessions, read_head

ROWS = (".jsonl", ".json")
PATTERN = "*?["
HEAD_OF_LOG = 4096
CHAT_EVENTS = ".events.jsonl"


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
        yield from [path] if path.endswith(ROWS) or not holds_sessions(path) else _expand(path)
    elif os.path.isdir(path):
        yield from _walk_folder(path)
    elif "#" in path and os.path.exists(path.rpartition("#")[0]):
        yield from _expand(*path.rsplit("#", 1))
    elif os.path.lexists(path):
        raise DoctorError("unreadable", f"can't read {path}: {explain_link(path) or 'it is neither a file nor a folder'}", path)
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
    if path.endswith(ROWS) or not holds_sessions(path):
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
        targets = _find_in_folder(folder, folders, files)
        if (EVENTS[0] in files or CONTEXT in folders) and not targets and folder != path:
            targets = _find_unsaved(folder, files, path)
        for target in targets:
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
        raise DoctorError(
            "usage",
            f"no {TRANSCRIPT} under {path}; name a session folder, a tree of them, or a file: chat logs are taken by name or pattern only",
            path,
        )


def _list_entries(folder: str) -> tuple[list[str], list[str]]:
    """(files, folders) in a folder; links to folders are neither. os.walk asks the system twice as much."""
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif not entry.is_symlink() or not os.path.isdir(entry):
                # Not entry.is_dir(), which raises for a link that leads back to itself.
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


def _find_unsaved(folder: str, files: list[str], root: str) -> list[str]:
    """Where the transcript of a session would be of which only the events are there: it was never saved. One that was saved in another
    project of the store stands there; it is named here only where the walk through `root` does not come by.

    An `events.jsonl` of something else is no session, nor is one that may belong to a log beside it.
    """
    log = find_events(folder)
    if log is None or os.path.basename(folder) == CONTEXT or any(name.endswith(ROWS[0]) and name != EVENTS[0] for name in files):
        return []
    head = read_head(log, HEAD_OF_LOG)
    if b'"event"' not in head or not any(sign in head for sign in (b'"ts"', b'"timestamp"')):
        return []
    saved = _find_saved(os.path.realpath(folder))
    if saved is None:
        return [os.path.join(folder, TRANSCRIPT)]
    return [] if saved.startswith(os.path.join(os.path.realpath(root), "")) else [saved]


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
        for place in find_places(folder):
            from doctor.sources.formats.opencode.places import name_sessions

            found += [one.target for one in name_sessions(place)]
        folders[:] = [name for name in folders if name != "storage"]
    return found + _find_exports(folder, files)


def _find_exports(folder: str, files: list[str]) -> list[str]:
    from doctor.sources.formats import HEAD_LENGTH, is_export

    found = []
    for name in sorted(files):
        path = os.path.join(folder, name)
        if name.endswith(".json") and name != METADATA and os.path.isfile(path) and is_export(read_head(path, HEAD_LENGTH)):
            found.append(path)
    return found


def _expand(path: str, session: str = "") -> list[str]:
    from doctor.sources.formats.opencode.places import expand_place

    return expand_place(path, session)


def _find_saved(folder: str) -> str | None:
    """The transcript of a session whose events lie in the folder of another project."""
    places = list_places(folder, os.path.basename(folder)) if is_in_store(folder) else []
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
