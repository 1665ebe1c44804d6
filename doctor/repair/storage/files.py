"""What both writing and undoing need: create a file durably, prove what it holds, put it in another one's place, clean up.

All calls go through `os`, one system call each, so that a test can cut the power behind every single one.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from doctor.errors import DoctorError
from doctor.model import Source
from doctor.sources.source import BUFFER, identify

TAIL = 4096
"""Bytes at the end of a file that are compared besides its size and times, which a fast writer may leave unchanged."""
EXTRA_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
EFFECTIVE_IDS = os.access in os.supports_effective_ids
AT_FDCWD = -100
RENAME_EXCHANGE = 2


class Looks(NamedTuple):
    """A file as it was read: what identifies it, and its last bytes."""

    identity: tuple[int, ...]
    tail: bytes


class Digest(NamedTuple):
    """Size and SHA-256 (hex) of a whole file."""

    size: int
    sha256: str


@contextmanager
def explain_errors(path: str, after: str = "nothing was changed") -> Iterator[None]:
    """Turns every OSError into one line: what, where, what to do."""
    try:
        yield
    except OSError as error:
        raise DoctorError("unwritable", f"can't write beside {path}: {_advise(error)}; {after}", path) from error


def _advise(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full (a fix needs room for two copies of the file); free some and run it again"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "no permission; run as the owner of the file and its folder, or write elsewhere with --output"
    if error.errno == errno.EROFS:
        return "it is on a read-only file system; write elsewhere with --output"
    if error.errno == errno.ENAMETOOLONG:
        return "its name leaves no room for the ending of a backup; write elsewhere with --output"
    if error.errno == errno.ENOENT:
        return "the file or its folder is gone"
    if error.errno == errno.EFBIG:
        return "the file is larger than this process or file system may write"
    return error.strerror or str(error)


def look_at(path: str, size: int | None = None) -> Looks:
    """How a file looks now. The tail is that of the first `size` bytes."""
    descriptor = os.open(path, os.O_RDONLY | EXTRA_FLAGS)
    try:
        status = os.fstat(descriptor)
        end = status.st_size if size is None else size
        os.lseek(descriptor, max(0, end - TAIL), os.SEEK_SET)
        return Looks(identify(status), os.read(descriptor, min(TAIL, end)))
    finally:
        os.close(descriptor)


def create_file(path: str, source: Source, like: os.stat_result | None, created: list[str]) -> Digest:
    """Writes a new file durably, with the mode of `like`, and its owner where that is permitted. Raises FileExistsError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | EXTRA_FLAGS, 0o600 if like else 0o666)
    created.append(path)
    digest, size = hashlib.sha256(), 0
    try:
        if like is not None:
            _copy_ownership(descriptor, like)
        with source.open() as stream:
            while chunk := stream.read(BUFFER):
                digest.update(chunk)
                size += len(chunk)
                rest = memoryview(chunk)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Digest(size, digest.hexdigest())


def _copy_ownership(descriptor: int, like: os.stat_result) -> None:
    """Owner before mode: changing the owner clears the set-user-id bits."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        # Only root may give files away; the file is then the user's own, as after any editor.
        with suppress(PermissionError):
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, like.st_mode & 0o7777)


def digest_file(path: str) -> Digest:
    """Size and hash of a file, read anew."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb", buffering=0) as stream:
        while chunk := stream.read(BUFFER):
            digest.update(chunk)
            size += len(chunk)
    return Digest(size, digest.hexdigest())


def hold_same_bytes(first: BinaryIO, second: BinaryIO) -> bool:
    """Whether two streams hold the same bytes from here to their ends."""
    while True:
        one, two = first.read(BUFFER), second.read(BUFFER)
        if one != two:
            return False
        if not one:
            return True


def sync_folder(path: str) -> None:
    """Makes new names in a folder durable. Windows and some network file systems can't sync a folder; they do so on their own."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY | EXTRA_FLAGS)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def find_exchange() -> Callable[[str, str], bool] | None:
    """Linux can let two names swap their files in one step, so that the old file is still there to be looked at; None elsewhere."""
    try:
        import ctypes

        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, AttributeError, TypeError):
        return None

    def exchange(first: str, second: str) -> bool:
        if renameat2(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE) == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            return False  # This file system does not offer it.
        raise OSError(code, os.strerror(code), second)

    return exchange


def swap_in(temporary: str, path: str, expected: Looks) -> None:
    """Puts `temporary` in the place of `path`, if `path` still is the file that was read; the old file may stay behind as `temporary`.

    Raises DoctorError ("changed") with the other writer's file back in its place. Where names can't be swapped, a writer that
    replaces the file between the last look and the rename is overwritten; that gap is a few microseconds.
    """
    exchange = find_exchange()
    require_unchanged(path, expected)
    if exchange is None or not exchange(temporary, path):
        os.replace(temporary, path)
        return
    same = False
    try:
        displaced = look_at(temporary, expected.identity[2])
        # A rename changes st_ctime_ns, so that is left out here.
        same = displaced.identity[:4] == expected.identity[:4] and displaced.tail == expected.tail
    finally:
        if not same:
            exchange(temporary, path)
    if not same:
        raise changed_underneath(path)


def settle(temporary: str, path: str, written: Digest, old: str) -> None:
    """Makes a swap durable, removes what it left behind, and reads the file back. `old` is where the old file is, for people."""
    folder = os.path.dirname(path)
    with explain_errors(path, f"the new file is in place all the same, the old one is {old}"):
        sync_folder(folder)
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if digest_file(path) != written:
            raise DoctorError("changed", f"{path} was changed by another program right after it was written; the old file is {old}", path)


def require_writable(path: str) -> None:
    """A file that its owner made read-only is left alone, although its folder would let it be replaced."""
    if not os.access(path, os.W_OK, effective_ids=EFFECTIVE_IDS):
        on_read_only = hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY
        code = errno.EROFS if on_read_only else errno.EACCES
        raise OSError(code, os.strerror(code), path)


def require_unchanged(path: str, expected: Looks) -> None:
    """Raises DoctorError ("changed") when a file no longer looks as it did when it was read."""
    try:
        now = look_at(path, expected.identity[2])
    except FileNotFoundError as error:
        raise DoctorError("changed", f"{path} was removed while it was being worked on; nothing was changed", path) from error
    if now != expected:
        raise changed_underneath(path)


def changed_underneath(path: str) -> DoctorError:
    message = f"{path} was changed by another program meanwhile; nothing was written. Wait until the session is quiet and run it again"
    return DoctorError("changed", message, path)


def discard(created: list[str], temporary: str, inode: int, path: str) -> None:
    """Removes what a failed job made. Once the new file is in place, backup and receipt stay, whatever else went wrong."""
    try:
        in_place = inode != 0 and os.stat(path).st_ino == inode
    except OSError:
        in_place = False
    for name in [temporary] if in_place else reversed(created):
        with suppress(OSError):
            os.unlink(name)
