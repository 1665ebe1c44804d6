"""Brings together what lies beside a transcript: events, metadata, the client's backup, and whether somebody is in the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType

from doctor.errors import DoctorError
from doctor.eventlog import EventLog
from doctor.model import RECORDS, Backup, Liveness, Source, Transcript
from doctor.pairing import pair_calls
from doctor.session import Session
from doctor.sources.formats import detect_format, load_format
from doctor.sources.metadata import Metadata, read_metadata
from doctor.sources.siblings import TRANSCRIPT, find_events, find_events_elsewhere, find_sibling, is_in_store
from doctor.sources.source import FileSource, MemorySource, identify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_session(
    path: str,
    *,
    events: str | bool | None = None,
    as_request: bool = False,
    now: float,
    state_home: str | None = None,
    source: Source | None = None,
    recover: bool = False,
    thorough: bool = False,
    writers: Mapping[str, int] | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Session:
    """Reads one transcript and its surroundings. One that was never saved, beside an event log, is read as an empty one.

    `events`: a path, False for none, None for the one beside the transcript. `now`: seconds since the epoch, for judging whether the
    session is live. `state_home`: where the client keeps its session locks. `source`: the bytes, when they are not those of `path`.
    `recover`: rules may offer to put lost rows back.
    `thorough` and `writers`: see `probe_liveness`. `watch`: see `read_events`.

    Raises DoctorError: the file can't be read, or is no transcript.
    """
    unsaved = source is None and is_unsaved(path)
    if source is None:
        source = MemorySource(b"") if unsaved else _open_target(path) if "#" in path else FileSource(path)
    reader = detect_format(source, path)
    if reader.NAME in RECORDS:
        return _read_described(reader, source, path, events=events, now=now, as_request=as_request, recover=recover)
    real = os.path.realpath(path) if unsaved or source.__class__ is FileSource else None
    folder = os.path.dirname(real) if real else None
    metadata = read_metadata(folder) if folder else Metadata(None, "")
    session_id = _find_session_id(path, folder, metadata)
    log = _read_event_log(folder, events, session_id, metadata, watch)
    transcript = reader.read_transcript(source, path)
    liveness = Liveness(False, "")
    if folder:
        from doctor.sources.liveness import probe_liveness

        # Whoever leaves the log out, or names another one, must not come into a session that its own log knows to be live.
        own_log = log if events is None else _read_event_log(folder, None, session_id, metadata)
        liveness = probe_liveness(
            session_id=session_id or os.path.basename(folder),
            log=own_log,
            now=now,
            state_home=state_home,
            path=real,
            metadata=metadata.value,
            writers=writers,
            thorough=thorough,
        )
        if not liveness.is_live and _has_changed(source):
            liveness = Liveness(True, "somebody wrote to it while it was read")
    pairing = pair_calls(transcript.messages)
    if log is not None and log.unnamed and not pairing.is_sound:
        from doctor.sources.events.joining import join_unnamed_runs

        join_unnamed_runs(log, transcript, pairing)
    beside = {
        "events": log,
        "metadata": metadata.value,
        "metadata_problem": metadata.problem,
        "folder": folder,
        "session_id": session_id,
        "liveness": liveness,
        "as_request": as_request,
        "rewound": bool(folder) and _was_rewound(folder),
        "unsaved": unsaved,
        "load_backup": lambda: _read_backup(path, ".backup") if folder else None,
        "load_pending": lambda: _read_backup(path, ".append-pending") if folder else None,
        "read_recorded": _read_recorded if log is not None else None,
        "read_turn": _read_turn if log is not None else None,
        "recover": recover,
        "find_sibling": (lambda other: find_sibling(folder, other)) if folder else None,
    }
    if hasattr(reader, "describe_session"):
        beside |= _describe_stored(reader, transcript, path, events, now, in_store=real is None and source.__class__ is not MemorySource)
    return Session(transcript, pairing, **beside)


def _describe_stored(
    reader: ModuleType, transcript: Transcript, path: str, events: str | bool | None, now: float, in_store: bool
) -> dict[str, Any]:
    """What a store knows of its session better than the files around it."""
    told: dict[str, Any] = reader.describe_session(transcript, path)
    if in_store:
        # Others write to the store; what runs in it says its own log alone.
        from doctor.sources.liveness import probe_liveness

        told["liveness"] = probe_liveness(session_id="", log=told["events"], now=now, state_home=None)
    return told | {"events": None} if events is False else told


def _open_target(path: str) -> Source:
    """What a path with a # in it names: a session inside a store, or a file that is called like this."""
    if os.path.lexists(path):
        return FileSource(path)
    from doctor.sources.formats.opencode.places import open_target

    return open_target(path) or FileSource(path)


def _read_described(reader: ModuleType, source: Source, path: str, *, events: str | bool | None, now: float, **asked: bool) -> Session:
    """A session of a format that knows its own surroundings: nothing of Amplifier's is looked for beside it."""
    transcript = reader.read_transcript(source, path)
    describe = partial(reader.describe_session, path=path, events=events, now=now)
    session = Session(transcript, pair_calls(transcript.messages), describe=describe, **{**asked, **describe(transcript)})
    if not session.liveness.is_live and _has_changed(source):
        session.liveness = Liveness(True, "somebody wrote to it while it was read")
    return session


def is_unsaved(path: str) -> bool:
    """Whether a path is where a session would have its transcript, had it not ended before its first save."""
    folder, name = os.path.split(path)
    return name == TRANSCRIPT and not os.path.lexists(path) and find_events(folder) is not None


def reread_session(session: Session, source: Source) -> Session:
    """The same session with other transcript bytes: a planned file, or the file after it was written."""
    transcript = load_format(session.transcript.format).read_transcript(source, session.transcript.path)
    return session.with_transcript(transcript, pair_calls(transcript.messages))


def _find_session_id(path: str, folder: str | None, metadata: Metadata) -> str:
    """The folder's name, which the client treats as authoritative; a lone file has only what its metadata says."""
    if folder and metadata == (None, "") and not is_in_store(folder) and find_events(folder) is None:
        return ""
    if folder and os.path.basename(path) == TRANSCRIPT:
        return os.path.basename(folder)
    return str(metadata.value.get("session_id", "")) if metadata.value else ""


def _has_changed(source: Source) -> bool:
    """Whether a file is another one than when the reading began."""
    if not isinstance(source, FileSource):
        return False
    try:
        return identify(os.stat(source.path)) != source.identity
    except OSError:
        return True


def _read_event_log(
    folder: str | None,
    events: str | bool | None,
    session_id: str,
    metadata: Metadata,
    watch: Callable[[int, int], None] | None = None,
) -> EventLog | None:
    if events is False:
        return None
    path = events if isinstance(events, str) else None
    if path is None and folder:
        path = find_events(folder) or find_events_elsewhere(folder)
    if path is None:
        return None
    from doctor.sources.events import read_events

    # A copied or renamed folder no longer has the name that its events carry; its metadata has, and where that is silent the log itself.
    named = str(metadata.value.get("session_id") or "") if metadata.value else ""
    log = read_events(path, session_id, alias=named, guess=not named, watch=watch)
    if isinstance(events, str) and named == session_id != "" and log.line_count and not (log.executions or log.runs):
        raise DoctorError("usage", f"--events: {path} holds nothing of session {session_id}; name the log of this session", path)
    return log


def _read_recorded(log: Any, run: Any) -> Any:
    from doctor.sources.events import read_result

    return read_result(log, run)


def _read_turn(log: Any, execution: Any) -> Any:
    from doctor.sources.events.recordings import read_turn

    return read_turn(log, execution)


def _read_backup(path: str, ending: str) -> Backup | None:
    backup = path + ending
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
