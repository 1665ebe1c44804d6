"""Brings together what lies beside a transcript: events, metadata, the client's backup, and whether somebody is in the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping
from functools import partial
from types import ModuleType

from doctor.errors import DoctorError
from doctor.eventlog import EventLog
from doctor.model import RECORDS, Backup, Liveness, Source, Transcript
from doctor.pairing import pair_calls
from doctor.session import Session
from doctor.sources.formats import detect_format, load_format
from doctor.sources.metadata import NOTHING, Metadata, read_metadata
from doctor.sources.siblings import TRANSCRIPT, find_events, find_events_elsewhere, find_sibling, is_in_store
from doctor.sources.source import FileSource, MemorySource, identify
from doctor.sources.surroundings import Surroundings

REWOUND = ".bak-pre-rewind-"
"""A file that the client leaves when its user takes turns back on purpose."""

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
    around: Surroundings | None = None,
) -> Session:
    """Reads one transcript and its surroundings. One that was never saved, beside an event log, is read as an empty one.

    `events`: a path, False for none, None for the one beside the transcript. `now`: seconds since the epoch, for judging whether the
    session is live. `state_home`: where the client keeps its session locks. `source`: the bytes, when they are not those of `path`.
    `recover`: rules may offer to put lost rows back. `around`: what a run over many sessions looked up already.
    `thorough` and `writers`: see `probe_liveness`. `watch`: see `read_events`.

    Raises DoctorError: the file can't be read, or is no transcript.
    """
    around = around or Surroundings()
    unsaved = False
    if source is None:
        source, unsaved = _open_transcript(path, hold=not thorough)
    reader = detect_format(source, path)
    if reader.NAME in RECORDS:
        return read_described(reader, source, path, events=events, now=now, as_request=as_request, recover=recover)
    real, is_link = around.find_real(path) if unsaved or source.__class__ is FileSource else ("", False)
    folder = os.path.dirname(real)
    names = around.list_names(folder) if real else None
    metadata = read_metadata(folder, names) if real else NOTHING
    own_events = find_events(folder, names) if real else None
    if own_events is not None and not is_link:
        # Named as the transcript was: reports show both, and what is relative stays so.
        own_events = os.path.join(os.path.dirname(path), os.path.basename(own_events))
    session_id = _find_session_id(path, folder, metadata, own_events)
    log = _read_event_log(folder, own_events, events, session_id, metadata, around, watch)
    transcript = reader.read_transcript(source, path)
    liveness = Liveness(False, "")
    if real:
        # Whoever leaves the log out, or names another one, must not come into a session that its own log knows to be live.
        own_log = log if events is None else _read_event_log(folder, own_events, None, session_id, metadata, around)
        name, modified = session_id or os.path.basename(folder), getattr(source, "modified", None)
        liveness = _probe(name, own_log, now, state_home, real, metadata, writers, thorough, names, around, modified)
        if not liveness.is_live and _has_changed(source):
            liveness = Liveness(True, "somebody wrote to it while it was read")
    pairing = pair_calls(transcript.messages)
    if log is not None and log.unnamed and not pairing.is_sound:
        from doctor.sources.events.joining import join_unnamed_runs

        join_unnamed_runs(log, transcript, pairing)
    # Through a link to the file one comes to a folder that need not be the one that lies around the path.
    near = None if is_link else names
    beside = {
        "events": log,
        "metadata": metadata.value,
        "metadata_problem": metadata.problem,
        "folder": folder or None,
        "session_id": session_id,
        "liveness": liveness,
        "as_request": as_request,
        "rewound": names is not None and REWOUND in "\0".join(names),
        "unsaved": unsaved,
        "load_backup": _find_backup(path, ".backup", near) if real else None,
        "load_pending": _find_backup(path, ".append-pending", near) if real else None,
        "read_recorded": read_recorded if log is not None else None,
        "read_turn": read_turn if log is not None else None,
        "recover": recover,
        "find_sibling": (lambda other: find_sibling(folder, other)) if real else None,
    }
    if hasattr(reader, "describe_session"):
        beside |= describe_stored(reader, transcript, path, events, now, in_store=not real and source.__class__ is not MemorySource)
    return Session(transcript, pairing, **beside)


def describe_stored(
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


def read_described(reader: ModuleType, source: Source, path: str, *, events: str | bool | None, now: float, **asked: bool) -> Session:
    """A session of a format that knows its own surroundings: nothing of Amplifier's is looked for beside it."""
    transcript = reader.read_transcript(source, path)
    describe = partial(reader.describe_session, path=path, events=events, now=now)
    session = Session(transcript, pair_calls(transcript.messages), describe=describe, **{**asked, **describe(transcript)})
    if not session.liveness.is_live and _has_changed(source):
        session.liveness = Liveness(True, "somebody wrote to it while it was read")
    return session


def _probe(
    session_id: str, log: EventLog | None, now: float, state_home: str | None, real: str, metadata: Metadata,
    writers: Mapping[str, int] | None, thorough: bool, names: Container[str] | None, around: Surroundings, modified: float | None,
) -> Liveness:  # fmt: skip
    from doctor.sources.liveness import find_locks, probe_liveness

    return probe_liveness(
        session_id=session_id,
        log=log,
        now=now,
        state_home=state_home,
        path=real,
        metadata=metadata.value,
        writers=writers,
        thorough=thorough,
        names=names,
        locks=find_locks(session_id, around.list_workspaces(state_home)) if state_home else (),
        modified=modified,
    )


def _open_transcript(path: str, hold: bool) -> tuple[Source, bool]:
    """The bytes of a transcript, and whether it was never saved: then there are none."""
    try:
        return (_open_target(path) if "#" in path else FileSource(path, hold)), False
    except DoctorError:
        if is_unsaved(path):
            return MemorySource(b""), True
        raise


def is_unsaved(path: str) -> bool:
    """Whether a path is where a session would have its transcript, had it not ended before its first save."""
    folder, name = os.path.split(path)
    return name == TRANSCRIPT and not os.path.lexists(path) and find_events(folder) is not None


def reread_session(session: Session, source: Source) -> Session:
    """The same session with other transcript bytes: a planned file, or the file after it was written."""
    transcript = load_format(session.transcript.format).read_transcript(source, session.transcript.path)
    return session.with_transcript(transcript, pair_calls(transcript.messages))


def _find_session_id(path: str, folder: str, metadata: Metadata, own_events: str | None) -> str:
    """The folder's name, which the client treats as authoritative; a lone file has only what its metadata says."""
    if folder and metadata == NOTHING and not is_in_store(folder) and own_events is None:
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
    folder: str,
    own_events: str | None,
    events: str | bool | None,
    session_id: str,
    metadata: Metadata,
    around: Surroundings,
    watch: Callable[[int, int], None] | None = None,
) -> EventLog | None:
    if events is False:
        return None
    path = events if isinstance(events, str) else None
    if path is None and folder:
        path = own_events or find_events_elsewhere(folder, around)
    if path is None:
        return None
    from doctor.sources.events import read_events

    # A copied or renamed folder no longer has the name that its events carry; its metadata has, and where that is silent the log itself.
    named = str(metadata.value.get("session_id") or "") if metadata.value else ""
    log = read_events(path, session_id, alias=named, guess=not named, watch=watch)
    if isinstance(events, str) and named == session_id != "" and log.line_count and not (log.executions or log.runs):
        raise DoctorError("usage", f"--events: {path} holds nothing of session {session_id}; name the log of this session", path)
    return log


def read_recorded(log: Any, run: Any, transcript: Transcript) -> Any:
    """For `Session.read_recorded`."""
    from doctor.sources.events import read_result

    return read_result(log, run, transcript)


def read_turn(log: Any, execution: Any) -> Any:
    """For `Session.read_turn`."""
    from doctor.sources.events.recordings import read_turn

    return read_turn(log, execution)


def _find_backup(path: str, ending: str, names: Container[str] | None) -> Callable[[], Backup | None] | None:
    """How to read a file beside the transcript as rows; None where it is known not to be there."""
    if names is not None and os.path.basename(path) + ending not in names:
        return None
    return lambda: _read_backup(path + ending)


def _read_backup(path: str) -> Backup | None:
    try:
        source = FileSource(path)
        return Backup(path, detect_format(source, path).read_transcript(source, path))
    except DoctorError:
        return None
