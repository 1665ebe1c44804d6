"""How what a caller names becomes sessions: targets, the clock and the environment, and failures in words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from doctor.analysis.targets import aim_session
from doctor.errors import DoctorError
from doctor.findings import Failure
from doctor.records import Record
from doctor.session import Session
from doctor.sources.session import read_session
from doctor.sources.stores import find_transcripts, locate_stores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STDIN = "-"
"""The path that a transcript given as bytes is reported under."""

REQUEST = "request"
"""The format of a file that holds request bodies instead of a transcript."""

Target = str | os.PathLike[str] | bytes
Finder = Callable[[str, Sequence[str]], Iterable[str]]
"""From a path and the known stores to transcripts."""


class Aim(Record):
    """Whom the next request goes to, as far as the caller says so."""

    wires: tuple[str, ...] = ()
    model: str = ""
    host: str = ""


def find_targets(
    paths: Target | Iterable[Target], environment: Mapping[str, str], find: Finder = find_transcripts
) -> tuple[list[Target], list[Failure]]:
    """Every transcript that the paths name, each once, and the paths that name none."""
    given = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    if not given:
        raise DoctorError("usage", "there is nothing to check; name a transcript, a session folder or a tree of them")
    targets: dict[Target, None] = {}
    failures: list[Failure] = []
    for path in given:
        if isinstance(path, bytes):
            targets[path] = None
            continue
        try:
            targets.update(dict.fromkeys(find(os.fspath(path), locate_stores(environment))))
        except DoctorError as error:
            failures.append(Failure(error.path or os.fspath(path), error.kind, error.message))
    return list(targets), failures


def find_store(path: str) -> tuple[str, str] | None:
    """(store, session id) of a path such as `opencode.db#ses_…`; None for a file of its own."""
    if "#" not in path or os.path.lexists(path):
        return None
    from doctor.sources.formats.opencode.places import split_target

    return split_target(path)


def add_children(targets: Iterable[Target]) -> list[Target]:
    """Each session followed by its sub-sessions, each once."""
    from doctor.sources.siblings import TRANSCRIPT, follow_children

    family: dict[Target, None] = {}
    for target in targets:
        family[target] = None
        if isinstance(target, bytes) or os.path.basename(target) != TRANSCRIPT:
            continue
        folder = os.path.dirname(os.path.realpath(target))
        near = os.path.dirname(os.path.dirname(os.fspath(target)))
        for child in follow_children(folder, os.path.basename(folder)):
            name = os.path.join(near, os.path.basename(child)) if near else child
            family[os.path.join(name if os.path.isdir(name) else child, TRANSCRIPT)] = None
    return list(family)


def how_to_read(events: str | bool | None, as_request: bool, now: float | None, environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "events": events,
        "as_request": as_request,
        "now": time.time() if now is None else now,
        "state_home": locate_session_state(environment),
    }


def read_target(target: Target, how: Mapping[str, Any], aim: Aim = Aim()) -> Session:  # noqa: B008 - frozen
    if isinstance(target, bytes):
        from doctor.sources.source import MemorySource

        session = read_session(STDIN, source=MemorySource(target), **how)
    else:
        session = read_session(os.fspath(target), **how)
    aim_session(session, *aim)
    return session


def name_target(target: Target) -> str:
    return STDIN if isinstance(target, bytes) else os.fspath(target)


def locate_target(target: Target) -> str:
    """The absolute path of a target, "" for what lies on no disk."""
    return "" if isinstance(target, bytes) else os.path.abspath(target)


def locate_session_state(environment: Mapping[str, str]) -> str | None:
    """Where the client keeps its session locks: `$AMPLIFIER_SESSION_STATE_HOME`, else below the user's state folder."""
    named = environment.get("AMPLIFIER_SESSION_STATE_HOME")
    if named:
        return named
    base = environment.get("XDG_STATE_HOME")
    if not base:
        home = environment.get("HOME")
        base = os.path.join(home, ".local", "state") if home else None
    return os.path.join(base, "amplifier", "sessions") if base else None


def describe_failure(path: str, error: Exception, debug: bool) -> Failure:
    """Why a path could not be judged, in one line for people."""
    if isinstance(error, DoctorError):
        return Failure(error.path or path, error.kind, error.message)
    if isinstance(error, OSError):
        return Failure(path, "unreadable", f"can't read {path}: {error.strerror or error}")
    if debug:
        raise error
    said = " ".join(str(error).split())
    return Failure(path, "internal", f"{path}: internal error, {type(error).__name__}: {said}; please report it (--debug shows where)")
