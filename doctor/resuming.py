"""What a client needs to resume a session, and the words for a session that lacks it. Pure: shared by rules and by what looks at disks."""

from __future__ import annotations

import re
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SUB_SESSION = r"[0-9a-f]{8}[0-9a-f-]{8,}_[a-z0-9-]+$"
"""The id of a sub-session: spans of hexadecimal digits, then the agent's name behind an underscore (root ids have none)."""
RE_DELEGATE = "re-delegate to start a fresh session instead of retrying the resume"
START_ANEW = "start a new session instead of retrying the resume"
IN_PROGRESS = "in_progress"
"""The status of a checkpoint. Only the save at the end of a run writes another one; a root session has none."""


def is_sub_session(session_id: str, metadata: Mapping[str, Any] | None) -> bool:
    """Whether another session delegated to this one. `parent_id` alone says nothing: forks have it too."""
    if metadata is not None and "forked_from_turn" in metadata:
        return False
    if metadata is not None and metadata.get("parent_id") and (metadata.get("agent_name") or metadata.get("child_span")):
        return True
    return re.match(SUB_SESSION, session_id) is not None


def find_obstacle(session_id: str, metadata: Mapping[str, Any] | None, problem: str, unsaved: bool) -> str:
    """Why the client refuses to resume a session whatever its rows say, "" when it does not.

    A root session needs its transcript only. A sub-session is rebuilt from `config` in its metadata; the agent host, whose metadata holds
    no more than `last_turn`, has it elsewhere.
    """
    if unsaved:
        return "it ended before its first save and has an event log but no transcript"
    if not is_sub_session(session_id, metadata) or (metadata is not None and "last_turn" in metadata):
        return ""
    if metadata is None:
        return f"its metadata can't be read ({problem})" if problem else "its metadata.json is missing"
    config = metadata.get("config")
    if not isinstance(config, dict) or not config:
        return "its metadata.json holds no config to build the session from"
    return ""


def name_move(session_id: str, metadata: Mapping[str, Any] | None) -> str:
    """What to do instead of resuming."""
    return RE_DELEGATE if is_sub_session(session_id, metadata) else START_ANEW
