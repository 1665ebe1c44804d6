"""Is somebody in this session right now? Held locks, living owners, open executions and writers say so; a file's age alone does not."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime

from doctor.eventlog import EventLog
from doctor.model import Liveness
from doctor.resuming import IN_PROGRESS
from doctor.sources.surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECENT_SECONDS = 15 * 60
APPEND_SECONDS = 10
"""How long an announced append may take. The client takes milliseconds, and leaves the announcement behind only when it dies."""
JUST_NOW_SECONDS = 3
"""A transcript written so recently is worth a look at who has it open."""
QUIET = Liveness(False, "")


TAIL_BYTES = 256 * 1024


def probe_liveness(
    *,
    session_id: str,
    log: EventLog | None,
    now: float,
    state_home: str | None,
    path: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    writers: Mapping[str, int] | None = None,
    thorough: bool = False,
    names: Container[str] | None = None,
    locks: Sequence[str] | None = None,
    modified: float | None = None,
) -> Liveness:
    """`path` is the real path of the transcript.

    `names` (what lies in its folder), `locks` (what `find_client_locks` found) and `modified` (when it was last written) spare a caller
    that knows them the looking.

    Looks at the client's lock and owner files (`<state_home>/v1/<workspace>/<session id>/`), at the doctor's own lock, at an append
    that was announced, at the recorded times of events and checkpoint, and at who has the files open for writing.

    `writers`: what `find_writers` found, for a caller with many sessions. Without it all processes are looked at only if `thorough`, or
    if something hints at a writer: with thousands of processes that takes longer than checking a short transcript.
    """
    found = _probe_client_locks(find_client_locks(session_id, state_home) if locks is None else locks)
    if found.is_live:
        return found
    recent = _probe_folder(path, now, names) if path else ""
    recent = recent or _probe_times(log, metadata, now)
    if not recent and path and log is not None and log.is_open and any(run.end_line < 0 for run in log.runs.values()):
        recent = _probe_delegates(os.path.dirname(path), session_id, now)
    if recent:
        return Liveness(True, recent)
    if path and writers is None and (thorough or _has_hint(path, log, now, modified)):
        from doctor.sources.writers import find_writers

        writers = find_writers()
    written = probe_writers(path, log, writers) if path and writers else QUIET
    return written if written.is_live else found


def probe_writers(path: str, log: EventLog | None, writers: Mapping[str, int]) -> Liveness:
    """Whether one of the processes that `find_writers` found has the transcript (its real path) or its event log open for writing."""
    for file in (path, os.path.realpath(log.path) if log is not None and writers else None):
        if file in writers:
            return Liveness(True, f"process {writers[file]} on {_name_host()} has {os.path.basename(file)} open for writing")
    return QUIET


def _probe_client_locks(locks: Sequence[str]) -> Liveness:
    """Live by lock or owner; quiet with a reason when a lock was left behind."""
    stale = ""
    for lock in locks:
        owner = _read_owner(lock)
        if is_locked(lock):
            from doctor.sources.writers import find_lock_holder

            return Liveness(True, f"its lock is held{_name_owner(owner, find_lock_holder(lock))}")
        absence = _explain_absence(owner) if owner else ""
        if owner and not absence:
            return Liveness(True, f"its owner is running{_name_owner(owner)}")
        if owner and owner.get("active"):
            stale = f"a stale lock was left{_name_owner(owner)}: {absence}"
    return Liveness(False, stale) if stale else QUIET


def _probe_folder(path: str, now: float, names: Container[str] | None) -> str:
    """The doctor's own lock, and an append that is under way."""
    folder, name = os.path.split(path)
    own = f".{name}.doctor.lock"
    if (names is None or own in names) and is_locked(os.path.join(folder, own)):
        return "another amplifier-doctor is at work on it"
    if names is not None and name + ".append-pending" not in names:
        return ""
    try:
        announced = os.stat(path + ".append-pending").st_mtime
    except OSError:
        return ""
    return "the client is appending to it" if abs(now - announced) < APPEND_SECONDS else ""


def _probe_times(log: EventLog | None, metadata: Mapping[str, Any] | None, now: float) -> str:
    """Work that was recorded as going on within the last minutes."""
    if log is not None:
        age = _find_age(log.last_time, now) if log.is_open else None
        return f"an execution is open and its last event is {age} seconds old" if age is not None else ""
    if metadata is not None and metadata.get("status") == IN_PROGRESS:
        age = _find_age(str(metadata.get("last_updated", "")), now)
        return f"it is in progress and its last checkpoint is {age} seconds old" if age is not None else ""
    return ""


def _probe_delegates(folder: str, session_id: str, now: float) -> str:
    """A delegate at work: its parent's log is silent for as long as it takes, which was nine hours in one report."""
    from doctor.sources.siblings import find_events, list_children

    for child in list_children(folder, session_id):
        events = find_events(child)
        age = _find_age(_read_last_time(events), now) if events is not None else None
        if age is not None:
            return f"a call is open and the last event of its delegate {os.path.basename(child)} is {age} seconds old"
    return ""


def _read_last_time(path: str) -> str:
    """The last time stamp near the end of an event log; a line whose head lies further back is not looked for."""
    try:
        with open(path, "rb", buffering=0) as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL_BYTES))
            found = re.findall(rb'"ts": ?"([^"]{10,40})"', stream.read(TAIL_BYTES) or b"")
    except OSError:
        return ""
    return found[-1].decode("ascii", "replace") if found else ""


def _find_age(stamp: str, now: float) -> int | None:
    """Seconds since a recorded time, None when that is long ago or unknown. A little in the future is a clock that differs."""
    then = parse_time(stamp)
    return max(0, round(now - then)) if then is not None and -RECENT_SECONDS < now - then < RECENT_SECONDS else None


def _has_hint(path: str, log: EventLog | None, now: float, modified: float | None) -> bool:
    if log is not None and log.is_open:
        return True
    try:
        return abs(now - (os.stat(path).st_mtime if modified is None else modified)) < JUST_NOW_SECONDS
    except OSError:
        return False


def find_client_locks(session_id: str, state_home: str | None) -> list[str]:
    """The client's lock files for a session. The folder between is a hash of the workspace, so all are looked at."""
    return find_locks(session_id, Surroundings().list_workspaces(state_home)) if session_id and state_home else []


def find_locks(session_id: str, workspaces: Sequence[str]) -> list[str]:
    """The same, where the client's workspaces are known."""
    return [lock for workspace in workspaces if os.path.lexists(lock := os.path.join(workspace, session_id, "session.lock"))]


def is_locked(path: str) -> bool:
    """Whether another process holds the flock of a file. On systems without flock nothing can be said.

    A shared lock is asked for, so that two doctors that look at the same time don't take one another for the client.
    """
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with open(path, "rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            fcntl.flock(stream, fcntl.LOCK_UN)
    except OSError:
        return False
    return False


def parse_time(stamp: str) -> float | None:
    """Seconds since the epoch of an ISO stamp with any number of fraction digits (newer logs write nine)."""
    found = re.match(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$", stamp)
    if not found:
        return None
    head, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(head + (zone or "+00:00").replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment.astimezone(UTC).timestamp() + float(fraction or 0)


def _read_owner(lock: str) -> dict[str, object] | None:
    try:
        with open(os.path.join(os.path.dirname(lock), "owner.json"), "rb") as stream:
            owner = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return None
    return owner if isinstance(owner, dict) else None


def _explain_absence(owner: dict[str, object]) -> str:
    """Why the owner that the client noted is not in the session, "" when it is: active, on this host, its process running.

    The lock of a client on another host would be seen as held; what is left of one is only its note.
    """
    from doctor.sources.writers import find_start_time

    pid = owner.get("pid")
    if not owner.get("active"):
        return "it says that it left"
    if owner.get("hostname") != _name_host():
        return "that is another host, and nobody holds the lock"
    if not isinstance(pid, int) or not 0 < pid < 2**31:
        return "it names no process"
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return "this process is gone"
    except PermissionError:
        pass
    taken = parse_time(str(owner.get("acquired_at", "")))
    started = find_start_time(pid) if taken is not None else None
    if taken is not None and started is not None and started > taken + JUST_NOW_SECONDS:
        return "this process is gone, another one has its number now"
    return ""


def _name_owner(owner: dict[str, object] | None, holder: int | None = None) -> str:
    """` by app-cli (process 12 on host)`"""
    if not owner:
        return f" by process {holder} on {_name_host()}" if holder else ""
    process = holder or owner.get("pid", "?")
    host = _name_host() if holder else owner.get("hostname", "?")
    return f" by {owner.get('app', 'a client')} (process {process} on {host})"


def _name_host() -> str:
    uname = getattr(os, "uname", None)
    return uname().nodename if uname is not None else "this host"
