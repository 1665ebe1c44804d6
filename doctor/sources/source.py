"""Bytes that can be read twice: a file, or bytes in memory (stdin). No mmap: a file that shrinks meanwhile would kill the process."""

from __future__ import annotations

import io
import os
from errno import ELOOP, ENOENT
from stat import S_ISREG

from doctor.errors import DoctorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

BUFFER = 1 << 20
"""1 MiB: reading lines through the 8 KiB default costs a third more (measured on 200 MB)."""
MOST_BYTES_HELD = 1 << 20
"""Files up to this size can be read with their first look: most transcripts are that short, and are then opened once, not three times."""
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def identify(status: os.stat_result) -> tuple[int, ...]:
    """What changes when somebody else writes or replaces a file; st_ctime_ns gives away a copy that sets the old mtime again."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class FileSource:
    """A file on disk. It is opened for each reading, so that no handle outlives its use; with `hold` a small one is read only once.

    Who is going to write must not hold: what changes meanwhile has to show.
    """

    __slots__ = ("_held", "identity", "modified", "path", "size")

    def __init__(self, path: str, hold: bool = False) -> None:
        self.path = path
        self._held: bytes | None = None
        try:
            status = os.stat(path)
            if not S_ISREG(status.st_mode):
                # Opening a pipe waits for somebody to write into it, for ever.
                raise DoctorError("unreadable", f"can't read {path}: it is no regular file", path)
            if hold and status.st_size <= MOST_BYTES_HELD:
                data = load_bytes(path, status.st_size + 1)
                # One that grew or shrank since is read as any other; whoever compares its identity will see it.
                self._held = data if len(data) == status.st_size else None
        except OSError as error:
            raise explain_os_error(path, error) from error
        self.size = status.st_size
        self.modified = status.st_mtime
        self.identity = identify(status)

    def open(self) -> BinaryIO:
        if self._held is not None:
            return io.BytesIO(self._held)
        try:
            return open(self.path, "rb", buffering=BUFFER)
        except OSError as error:
            raise explain_os_error(self.path, error) from error

    def read(self, offset: int, length: int) -> bytes:
        if self._held is not None:
            return self._held[offset : offset + length]
        try:
            with open(self.path, "rb", buffering=0) as stream:
                stream.seek(offset)
                return stream.read(length) or b""
        except OSError as error:
            raise explain_os_error(self.path, error) from error


def load_bytes(path: str, most: int) -> bytes:
    """The first `most` bytes of a regular file. Without a file object, which costs more than the system calls themselves.

    Raises OSError.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        data = os.read(descriptor, most)
        if 0 < len(data) < most - 1:
            # Network file systems may hand out less than what was asked for.
            while more := os.read(descriptor, most - len(data)):
                data += more
        return data
    finally:
        os.close(descriptor)


def measure_file(path: str | os.PathLike[str]) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


class MemorySource:
    """Bytes that came through a pipe, or that a test made."""

    __slots__ = ("data", "size")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size = len(data)

    def open(self) -> BinaryIO:
        return io.BytesIO(self.data)

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]


def explain_link(path: str) -> str:
    """Why a symbolic link leads to nothing, "" where it does, or is none."""
    if not os.path.islink(path) or os.path.exists(path):
        return ""
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == ELOOP:
            return "it is a symbolic link that leads back to itself"
        if error.errno == ENOENT:
            return f"it is a symbolic link to {os.readlink(path)}, which is not there"
    return ""


def explain_os_error(path: str, error: OSError) -> DoctorError:
    """An OSError as one line: what, where, what to do."""
    advice = explain_link(path) or {
        "FileNotFoundError": "there is no such file; check the path or the session id",
        "PermissionError": "no permission to read it; run as its owner",
        "IsADirectoryError": "it is a folder; name a session folder or a transcript",
    }.get(type(error).__name__, (error.strerror or str(error)))
    return DoctorError("unreadable", f"can't read {path}: {advice}", path)
