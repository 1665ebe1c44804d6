"""Whether somebody is in a session now: a held lock, a living owner, or an execution that was open minutes ago.

A file's modification time proves nothing: a fresh clone makes every file new. An open execution with old time stamps is a crash.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime

from doctor.eventlog import EventLog
from doctor.model import Liveness

RECENT_SECONDS = 15 * 60
QUIET = Liveness(False, "")


def probe_liveness(*, session_id: str, log: EventLog | None, now: float, state_home: str | None) -> Liveness:
    """Looks at the client's lock and owner files (`<state_home>/v1/<workspace>/<session id>/`) and at the recorded times of the events."""
    for lock in find_client_locks(session_id, state_home):
        if is_locked(lock):
            return Liveness(True, f"its lock is held{_name_owner(lock)}")
        owner = _read_owner(lock)
        if owner and _is_running(owner):
            return Liveness(True, f"its owner is running{_name_owner(lock)}")
    if log is None:
        return QUIET
    execution = log.open_execution
    last = parse_time(log.last_time)
    if execution is not None and last is not None and -RECENT_SECONDS < now - last < RECENT_SECONDS:
        return Liveness(True, f"an execution is open and its last event is {max(0, round(now - last))} seconds old")
    return QUIET


def find_client_locks(session_id: str, state_home: str | None) -> list[str]:
    """The client's lock files for a session. The folder between is a hash of the workspace, so all are looked at."""
    if not session_id or not state_home:
        return []
    from glob import escape, glob

    return sorted(glob(os.path.join(escape(state_home), "v1", "*", escape(session_id), "session.lock")))


def is_locked(path: str) -> bool:
    """Whether another process holds the flock of a file. On systems without flock nothing can be said."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with open(path, "rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
    except (OSError, ValueError):
        return None
    return owner if isinstance(owner, dict) else None


def _is_running(owner: dict[str, object]) -> bool:
    """Whether the owner that the client noted is alive: active, on this host, and its process exists."""
    pid = owner.get("pid")
    if not owner.get("active") or owner.get("hostname") != os.uname().nodename or not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _name_owner(lock: str) -> str:
    owner = _read_owner(lock)
    if not owner:
        return ""
    return f" by {owner.get('app', 'a client')} (process {owner.get('pid', '?')} on {owner.get('hostname', '?')})"
