"""What both writing and undoing need: create a file durably, prove what it holds, put it in another one's place, clean up.

All calls go through `os`, one system call each, so that a test can cut the power behind every single one.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Queue
from threading import Semaphore, Thread

from doctor.errors import DoctorError
from doctor.model import Source
from doctor.records import Record
from doctor.sources.source import BUFFER, identify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

TAIL = 4096
"""Bytes at the end of a file that are compared besides its size and times, which a fast writer may leave unchanged."""
EXTRA_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
EFFECTIVE_IDS = os.access in os.supports_effective_ids
AT_FDCWD = -100
RENAME_EXCHANGE = 2


class Looks(Record):
    """A file as it was read: what identifies it, and its last bytes."""

    identity: tuple[int, ...]
    tail: bytes


class Digest(Record):
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
    size = 0
    try:
        if like is not None:
            _copy_ownership(descriptor, like)
        with source.open() as stream, Hasher() as hasher:
            while chunk := hasher.take(stream):
                size += len(chunk)
                while chunk:
                    chunk = chunk[os.write(descriptor, chunk) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Digest(size, hasher.hexdigest())


class Hasher:
    """SHA-256 in a thread of its own: hashing 200 MB takes about as long as writing them, and both let other threads run.

    Two buffers are used in turn, since allocating one a chunk costs as much as reading it.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._buffers = [bytearray(BUFFER), bytearray(BUFFER)]
        self._chunks: Queue[memoryview | None] = Queue(maxsize=1)
        self._done = Semaphore(1)
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Hasher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._chunks.put(None)
        self._thread.join()

    def take(self, stream: BinaryIO) -> memoryview:
        """The next chunk of a stream, empty at its end. It is good until the next but one is taken."""
        buffer = memoryview(self._buffers[0])
        self._buffers.reverse()
        chunk = buffer[: fill(stream, buffer)]
        self._done.acquire()
        self._chunks.put(chunk)
        return chunk

    def _run(self) -> None:
        while (chunk := self._chunks.get()) is not None:
            self._digest.update(chunk)
            self._done.release()

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def fill(stream: BinaryIO, buffer: memoryview) -> int:
    """Reads until the buffer is full or the stream ends, past the stream's own buffer where it has one."""
    reader = getattr(stream, "raw", stream)
    size = 0
    while size < len(buffer) and (count := reader.readinto(buffer[size:])):
        size += count
    return size


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
    size = 0
    with open(path, "rb", buffering=0) as stream, Hasher() as hasher:
        while chunk := hasher.take(stream):
            size += len(chunk)
    return Digest(size, hasher.hexdigest())


def hold_same_bytes(first: BinaryIO, second: BinaryIO) -> bool:
    """Whether two streams hold the same bytes from here to their ends."""
    one, two = bytearray(BUFFER), bytearray(BUFFER)
    while True:
        size = fill(first, memoryview(one))
        if size != fill(second, memoryview(two)) or one != two:
            return False
        if size < BUFFER:
            # What lies behind the end is left over from the chunk before, which was the same in both.
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
        same = is_same_file(look_at(temporary, expected.identity[2]), expected)
    finally:
        if not same:
            exchange(temporary, path)
    if not same:
        raise changed_underneath(path)


def settle(temporary: str, path: str, verified: Looks, old: str) -> None:
    """Makes a swap durable, removes what it left behind, and looks at the file under its name once more.

    Its bytes were read back before the swap; that it still is this file, unchanged, its identity and its tail say. `old`: where the old
    file is, for people.
    """
    folder = os.path.dirname(path)
    with explain_errors(path, f"the new file is in place all the same, the old one is {old}"):
        sync_folder(folder)
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        if not is_same_file(look_at(path, verified.identity[2]), verified):
            raise DoctorError("changed", f"{path} was changed by another program right after it was written; the old file is {old}", path)


def is_same_file(now: Looks, expected: Looks) -> bool:
    """Whether a file that was renamed is otherwise unchanged: st_ctime_ns, the last part of its identity, counts renames too."""
    return now.identity[:4] == expected.identity[:4] and now.tail == expected.tail


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
