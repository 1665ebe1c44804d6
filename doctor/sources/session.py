"""Brings together what lies beside a transcript: events, metadata, the client's backup, and whether somebody is in the session."""

from __future__ import annotations

import os
from typing import Any

import orjson

from doctor.errors import DoctorError
from doctor.eventlog import EventLog
from doctor.model import Backup, Liveness, Session, Source
from doctor.pairing import pair_calls
from doctor.sources.formats import detect_format
from doctor.sources.source import FileSource

TRANSCRIPT = "transcript.jsonl"
EVENTS = ("events.jsonl", os.path.join("context-intelligence", "events.jsonl"))
"""The logging hook's file, else the copy that the context-intelligence hook keeps."""


def read_session(
    path: str,
    *,
    events: str | bool | None = None,
    as_request: bool = False,
    now: float,
    state_home: str | None = None,
    source: Source | None = None,
) -> Session:
    """Reads one transcript and its surroundings.

    `events`: a path, False for none, None for the one beside the transcript. `now`: seconds since the epoch, for judging whether the
    session is live. `state_home`: where the client keeps its session locks. `source`: the bytes, when they are not those of `path`.

    Raises DoctorError: the file can't be read, or is no transcript.
    """
    source = source if source is not None else FileSource(path)
    beside = source.__class__ is FileSource
    folder = os.path.dirname(os.path.realpath(path)) if beside else None
    metadata = _read_metadata(folder) if folder else None
    session_id = _find_session_id(path, folder, metadata)
    log = _read_event_log(folder, events, session_id)
    transcript = detect_format(source, path).read_transcript(source, path)
    liveness = Liveness(False, "")
    if folder:
        from doctor.sources.liveness import probe_liveness

        liveness = probe_liveness(session_id=session_id, log=log, now=now, state_home=state_home)
    return Session(
        transcript,
        pair_calls(transcript.messages),
        events=log,
        metadata=metadata,
        folder=folder,
        session_id=session_id,
        liveness=liveness,
        as_request=as_request,
        rewound=bool(folder) and _was_rewound(folder),
        load_backup=lambda: _read_backup(path) if beside else None,
        read_recorded=_read_recorded if log is not None else None,
    )


def reread_session(session: Session, source: Source) -> Session:
    """The same session with other transcript bytes: a planned file, or the file after it was written."""
    transcript = detect_format(source, session.transcript.path).read_transcript(source, session.transcript.path)
    return session.with_transcript(transcript, pair_calls(transcript.messages))


def _read_metadata(folder: str) -> dict[str, Any] | None:
    try:
        with open(os.path.join(folder, "metadata.json"), "rb") as stream:
            value = orjson.loads(stream.read())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _find_session_id(path: str, folder: str | None, metadata: dict[str, Any] | None) -> str:
    """The folder's name, which the client treats as authoritative; a lone file has only what its metadata says."""
    if folder and metadata is None and not any(os.path.exists(os.path.join(folder, name)) for name in EVENTS):
        return ""
    if folder and os.path.basename(path) == TRANSCRIPT:
        return os.path.basename(folder)
    return str(metadata.get("session_id", "")) if metadata else ""


def _read_event_log(folder: str | None, events: str | bool | None, session_id: str) -> EventLog | None:
    if events is False:
        return None
    beside = [os.path.join(folder, name) for name in EVENTS] if folder else []
    path = events if isinstance(events, str) else next((path for path in beside if os.path.isfile(path)), None)
    if path is None:
        return None
    from doctor.sources.events import read_events

    if isinstance(events, str):
        return read_events(path, "")
    log = read_events(path, session_id)
    # A copied or renamed folder no longer has the name that its events carry.
    return log if log.executions or not log.line_count else read_events(path, "")


def _read_recorded(log: Any, run: Any) -> Any:
    from doctor.sources.events import read_result

    return read_result(log, run)


def _read_backup(path: str) -> Backup | None:
    backup = path + ".backup"
    try:
        source = FileSource(backup)
        return Backup(backup, detect_format(source, backup).read_transcript(source, backup))
    except DoctorError:
        return None


def _was_rewound(folder: str) -> bool:
    try:
        return any(".bak-pre-rewind-" in name for name in os.listdir(folder))
    except OSError:
        return False
