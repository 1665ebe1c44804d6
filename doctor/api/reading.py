"""How what a caller names becomes sessions: targets, the clock and the environment, and failures in words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from doctor.analysis.targets import aim_session
from doctor.errors import DoctorError
from doctor.findings import Failure
from doctor.records import Record
from doctor.session import Session
from doctor.sources.formats import CompressedError
from doctor.sources.naming import INSIDE, is_archive, is_compressed, split_member
from doctor.sources.session import read_session
from doctor.sources.siblings import TRANSCRIPT
from doctor.sources.stores import locate_stores
from doctor.sources.walking import walk_transcripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STDIN = "-"
"""The path that a transcript given as bytes is reported under."""

REMOTE = "://"
"""What only URLs have."""

REQUEST = "request"
"""The format of a file that holds request bodies instead of a transcript."""

Target = str | os.PathLike[str] | bytes | tuple
"""A path, the bytes of a transcript, or a session out of an archive (`doctor.sources.packed.Bundle`, a tuple)."""
Finder = Callable[[str, Sequence[str]], Iterable[str]]
"""From a path and the known stores to transcripts."""


class Aim(Record):
    """Whom the next request goes to, as far as the caller says so."""

    wires: tuple[str, ...] = ()
    model: str = ""
    host: str = ""


def find_targets(
    paths: Target | Iterable[Target], environment: Mapping[str, str], find: Finder = walk_transcripts
) -> tuple[list[Target], list[Failure]]:
    """Every transcript that the paths name, each once, and the paths that name none."""
    failures: list[Failure] = []
    return list(walk_targets(paths, environment, failures, find)), failures


def walk_targets(
    paths: Target | Iterable[Target], environment: Mapping[str, str], failures: list[Failure], find: Finder = walk_transcripts
) -> Iterator[Target]:
    """The same one by one; what goes wrong on the way is put into `failures`.

    Raises DoctorError: no path is given.
    """
    given = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(dict.fromkeys(paths))
    if not given:
        raise DoctorError("usage", "there is nothing to check; name a transcript, a session folder or a tree of them")
    # One tree names nothing twice, so nothing has to be remembered of it, however large it is.
    seen: set[Target] | None = set() if len(given) > 1 else None
    for path in given:
        try:
            for target in _walk(path, environment, find):
                if seen is None:
                    yield target
                elif target not in seen:
                    seen.add(target)
                    yield target
        except DoctorError as error:
            failures.append(Failure(error.path or name_target(path), error.kind, error.message))


def _walk(path: Target, environment: Mapping[str, str], find: Finder) -> Iterable[Target]:
    if isinstance(path, bytes):
        return (path,)
    if REMOTE in os.fspath(path):
        from doctor.sources.remote import walk_remote

        return walk_remote(os.fspath(path))
    return find(os.fspath(path), locate_stores(environment))


def find_store(path: str) -> tuple[str, str] | None:
    """(store, session id) of a path such as `opencode.db#ses_…`; None for a file of its own."""
    if "#" not in path or os.path.lexists(path):
        return None
    from doctor.sources.formats.opencode.places import split_target

    return split_target(path)


def add_children(targets: Iterable[Target]) -> Iterator[Target]:
    """Each session followed by its sub-sessions, each once."""
    family: set[Target] = set()
    for target in targets:
        for member in (target, *_list_children(target)):
            if member not in family:
                family.add(member)
                yield member


def _list_children(target: Target) -> Iterator[Target]:
    from doctor.sources.siblings import follow_children

    if isinstance(target, (bytes, tuple)) or os.path.basename(target) != TRANSCRIPT:
        return
    folder = os.path.dirname(os.path.realpath(target))
    near = os.path.dirname(os.path.dirname(os.fspath(target)))
    for child in follow_children(folder, os.path.basename(folder)):
        name = os.path.join(near, os.path.basename(child)) if near else child
        yield os.path.join(name if os.path.isdir(name) else child, TRANSCRIPT)


def how_to_read(events: str | bool | None, as_request: bool, now: float | None, environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "events": events,
        "as_request": as_request,
        "now": time.time() if now is None else now,
        "state_home": locate_session_state(environment),
    }


def read_target(target: Target, how: Mapping[str, Any], aim: Aim = Aim()) -> Session:  # noqa: B008 - frozen
    session = _read(target, how)
    aim_session(session, *aim)
    return session


def is_packed(target: Target) -> bool:
    """Whether a target is compressed, in an archive or behind a URL, by its name: such files are read, and never written."""
    if isinstance(target, (bytes, tuple)):
        return isinstance(target, tuple)
    path = os.fspath(target)
    return REMOTE in path or is_archive(path) or is_compressed(path) or (INSIDE in path and split_member(path) is not None)


def _read(target: Target, how: Mapping[str, Any]) -> Session:
    if is_packed(target):
        return _read_packed(target, how)
    try:
        if isinstance(target, bytes):
            from doctor.sources.source import MemorySource

            return read_session(STDIN, source=MemorySource(target), **how)
        return read_session(os.fspath(target), **how)
    except CompressedError:
        return _read_packed(target, how)


def _read_packed(target: Target, how: Mapping[str, Any]) -> Session:
    from doctor.sources.bundles import find_bundle, read_bundle

    bundle = target if isinstance(target, tuple) else find_bundle(STDIN if isinstance(target, bytes) else os.fspath(target), target)
    return read_bundle(bundle, **{name: how[name] for name in ("events", "as_request", "recover", "now") if name in how})


def expand_archives(targets: Iterable[Target], named: Container[Target]) -> Iterator[Target]:
    """The targets with every archive replaced by the sessions in it. One in `named` has to hold a session; others may be anything."""
    for target in targets:
        if isinstance(target, (bytes, tuple)) or not is_archive(os.fspath(target)):
            yield target
        else:
            yield from _list_bundles(os.fspath(target), os.fspath(target) in named)


def _list_bundles(path: str, is_named: bool) -> Iterator[Target]:
    from doctor.sources.archives import read_archive
    from doctor.sources.packed import Bundle

    bundle = None
    try:
        for bundle in read_archive(path):
            yield bundle
    except DoctorError as error:
        yield Bundle(path, {}, failure=error.message)
        return
    if bundle is None and is_named:
        yield Bundle(path, {}, failure=f"there is no {TRANSCRIPT} in {path}; name an archive of session folders")


def name_target(target: Target) -> str:
    if isinstance(target, tuple):
        return str(target.path)
    return STDIN if isinstance(target, bytes) else os.fspath(target)


def locate_target(target: Target) -> str:
    """The absolute path of a target, "" for what lies on no disk."""
    return "" if isinstance(target, bytes) else os.path.abspath(name_target(target))


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
