"""Reads a session that is a bundle of bytes: out of an archive, or compressed. Nobody can be in it, and it has no neighbours to ask."""

from __future__ import annotations

import os
from collections.abc import Callable

from doctor.errors import DoctorError
from doctor.eventlog import EventLog
from doctor.model import RECORDS, Backup, Source
from doctor.pairing import pair_calls
from doctor.session import Session
from doctor.sources.formats import detect_format
from doctor.sources.metadata import BACKUP, METADATA, NOTHING, Metadata, parse_metadata
from doctor.sources.naming import ENDINGS, is_archive, is_compressed, split_member
from doctor.sources.packed import EVENT_NAMES, Bundle, read_compressed, unpack_bytes, unpack_file
from doctor.sources.session import REWOUND, describe_stored, read_described, read_recorded, read_turn
from doctor.sources.siblings import TRANSCRIPT
from doctor.sources.source import FileSource, MemorySource
from doctor.sources.surroundings import SESSIONS


def read_bundle(
    bundle: Bundle, *, now: float, events: str | bool | None = None, as_request: bool = False, recover: bool = False
) -> Session:
    """The same session that `read_session` would make of the unpacked files, less what only a folder can tell.

    Raises DoctorError: it can't be read, or is no transcript.
    """
    if bundle.failure:
        raise DoctorError("unreadable", bundle.failure, bundle.path)
    path, files = bundle.path, bundle.files
    source = MemorySource(files.get(bundle.transcript, b""))
    reader = detect_format(source, path)
    if reader.NAME in RECORDS:
        return read_described(reader, source, path, events=events, now=now, as_request=as_request, recover=recover)
    folder = path[: path.rindex("/") + 1] if "/" in path else ""
    metadata = _read_metadata(bundle)
    session_id = _find_session_id(bundle, folder, metadata)
    log = _read_events(bundle, folder, events, session_id, metadata)
    transcript = reader.read_transcript(source, path)
    pairing = pair_calls(transcript.messages)
    if log is not None and log.unnamed and not pairing.is_sound:
        from doctor.sources.events.joining import join_unnamed_runs

        join_unnamed_runs(log, transcript, pairing)
    beside = {
        "events": log,
        "metadata": metadata.value,
        "metadata_problem": metadata.problem,
        "session_id": session_id,
        "as_request": as_request,
        "rewound": any(REWOUND in name for name in files),
        "unsaved": bundle.transcript not in files,
        "load_backup": _find_backup(bundle, ".backup"),
        "load_pending": _find_backup(bundle, ".append-pending"),
        "read_recorded": read_recorded if log is not None else None,
        "read_turn": read_turn if log is not None else None,
        "recover": recover,
    }
    if hasattr(reader, "describe_session"):
        beside |= describe_stored(reader, transcript, path, events, now, in_store=False)
    return Session(transcript, pairing, **beside)


def _read_metadata(bundle: Bundle) -> Metadata:
    value, problem = parse_metadata(bundle.files[METADATA]) if METADATA in bundle.files else (None, "")
    if value is None and problem and BACKUP in bundle.files:
        value, _ = parse_metadata(bundle.files[BACKUP])
    return Metadata(value, problem)


def _find_session_id(bundle: Bundle, folder: str, metadata: Metadata) -> str:
    """As for a folder on disk: its name, where anything says that it is a session's."""
    above, _, name = folder.rstrip("/").rpartition("/")
    is_in_store = os.path.basename(above) == SESSIONS
    if metadata == NOTHING and not is_in_store and not any(own in bundle.files for own in EVENT_NAMES):
        return ""
    if bundle.transcript == TRANSCRIPT and name and not name.endswith("!"):
        return name
    return str((metadata.value or {}).get("session_id") or "")


def _read_events(bundle: Bundle, folder: str, events: str | bool | None, session_id: str, metadata: Metadata) -> EventLog | None:
    if events is False:
        return None
    from doctor.sources.events import read_events

    named = str((metadata.value or {}).get("session_id") or "")
    if isinstance(events, str):
        return read_events(events, session_id, alias=named, guess=not named)
    found = [name for name in EVENT_NAMES if name in bundle.files]
    name = next((name for name in found if bundle.files[name]), found[0] if found else None)
    if name is None:
        return None
    return read_events(folder + name, session_id, alias=named, guess=not named, source=MemorySource(bundle.files[name]))


def _find_backup(bundle: Bundle, ending: str) -> Callable[[], Backup | None] | None:
    data = bundle.files.get(bundle.transcript + ending)
    if data is None:
        return None

    def load() -> Backup | None:
        source, path = MemorySource(data), bundle.path[: bundle.path.rfind("/") + 1] + bundle.transcript + ending
        try:
            return Backup(path, detect_format(source, path).read_transcript(source, path))
        except DoctorError:
            return None

    return load


def find_bundle(path: str, data: object = None) -> Bundle:
    """The session of a compressed transcript, of an archive's member, or of an archive that holds one only; of `data` if that is bytes.

    Raises DoctorError: it can't be unpacked, there is none, or there are several.
    """
    if isinstance(data, bytes):
        return Bundle(path, {path: unpack_bytes(data, path)}, path)
    member = split_member(path)
    if member is not None or is_archive(path):
        from doctor.sources.archives import find_member, find_only

        return find_member(*member) if member is not None else find_only(path)
    if "://" in path:
        from doctor.sources.remote import read_remote

        return read_remote(path)
    if is_compressed(path):
        return read_compressed(path)
    if not os.path.isfile(path):
        raise DoctorError("unreadable", f"can't find {path}: there is no such file, and no such archive", path)
    name = os.path.basename(path)
    return Bundle(path, {name: unpack_file(path)}, name)


def open_beside(path: str) -> Source:
    """A file beside a transcript, by the path that it is reported under: on disk, a member of an archive, or one that is compressed.

    Raises DoctorError: there is none.
    """
    member = split_member(path)
    if member is not None:
        from doctor.sources.archives import find_member

        folder, _, name = member[1].rpartition("/")
        return MemorySource(find_member(member[0], f"{folder}/{TRANSCRIPT}".lstrip("/")).files[name])
    compressed = () if os.path.lexists(path) else [path + ending for ending in ENDINGS if os.path.isfile(path + ending)]
    return MemorySource(unpack_file(compressed[0])) if compressed else FileSource(path)
