"""From a path to transcripts: a file, a session folder, or a tree of them."""

from __future__ import annotations

import os

from doctor.errors import DoctorError
from doctor.sources.session import EVENTS, TRANSCRIPT


def find_transcripts(path: str) -> list[str]:
    """The transcripts that a path names, sorted. A file is taken as it is; a folder is walked, not following links to folders.

    Raises DoctorError: nothing is there, or a folder holds no transcript.
    """
    if os.path.isfile(path):
        return [path]
    if not os.path.exists(path):
        raise DoctorError("unreadable", f"can't find {path}: there is no such file or folder", path)
    if not os.path.isdir(path):
        raise DoctorError("unreadable", f"can't read {path}: it is neither a file nor a folder", path)
    found: list[str] = []
    denied: list[str] = []
    for folder, folders, files in os.walk(path, onerror=lambda error: denied.append(str(error.filename))):
        folders.sort()
        if TRANSCRIPT in files:
            found.append(os.path.join(folder, TRANSCRIPT))
    if found:
        return found
    if denied:
        raise DoctorError("unreadable", f"can't read {denied[0]}: no permission to list it", path)
    if any(os.path.isfile(os.path.join(path, name)) for name in EVENTS):
        raise DoctorError("unreadable", f"{path} has events but no {TRANSCRIPT}: the session ended before its first save", path)
    raise DoctorError("usage", f"no {TRANSCRIPT} under {path}; name a session folder, a tree of them, or a transcript file", path)
