"""Keeps others out of a session while its file is replaced: a second doctor always, the client where it has a lock of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from doctor.errors import DoctorError
from doctor.repair.storage.files import EXTRA_FLAGS

MOST_TRIES = 100


@contextmanager
def hold_locks(path: str, client_locks: Sequence[str] = (), force: bool = False) -> Iterator[None]:
    """Holds `.<file>.doctor.lock` in the file's folder, and every lock file of the client that exists.

    Raises DoctorError ("live") when another process holds one. `force` overrules the client's locks, never a second doctor's.
    """
    folder, name = os.path.split(path)
    lock = os.path.join(folder, f".{name}.doctor.lock")
    with ExitStack() as stack:
        descriptor = _take_own_lock(lock, path)
        stack.callback(os.close, descriptor)
        # Removed while it is still held: whoever opened it meanwhile sees that the name has gone and starts over.
        stack.callback(_remove, lock)
        for client_lock in client_locks:
            _take_client_lock(client_lock, path, force, stack)
        yield


def _take_own_lock(lock: str, path: str) -> int:
    for _ in range(MOST_TRIES):
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | EXTRA_FLAGS | getattr(os, "O_NOFOLLOW", 0), 0o600)
        if not _try_flock(descriptor):
            os.close(descriptor)
            break
        try:
            if os.path.samestat(os.stat(lock), os.fstat(descriptor)):
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)
    raise DoctorError("live", f"another amplifier-doctor is at work on {path}; wait for it and run this again", path)


def _take_client_lock(lock: str, path: str, force: bool, stack: ExitStack) -> None:
    try:
        descriptor = os.open(lock, os.O_RDONLY | EXTRA_FLAGS)
    except OSError:
        return  # No lock, or one of another user whose client can't be using this file.
    stack.callback(os.close, descriptor)
    if not _try_flock(descriptor) and not force:
        raise DoctorError("live", f"{path} is in use: the client holds the session's lock; close the session, or insist with --force", path)


def _try_flock(descriptor: int) -> bool:
    """Whether the lock could be had. Where there is no flock (Windows), there is nobody to be kept out by it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
