"""Bytes that can be read twice: a file, or bytes in memory (stdin). No mmap: a file that shrinks meanwhile would kill the process."""

from __future__ import annotations

import io
import os
from stat import S_ISREG

from doctor.errors import DoctorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

BUFFER = 1 << 20
"""1 MiB: reading lines through the 8 KiB default costs a third more (measured on 200 MB)."""


def identify(status: os.stat_result) -> tuple[int, ...]:
    """What changes when somebody else writes or replaces a file; st_ctime_ns gives away a copy that sets the old mtime again."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class FileSource:
    """A file on disk. It is opened for each reading, so that no handle outlives its use."""

    __slots__ = ("identity", "path", "size")

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            status = os.stat(path)
        except OSError as error:
            raise explain_os_error(path, error) from error
        if not S_ISREG(status.st_mode):
            # Opening a pipe waits for somebody to write into it, for ever.
            raise DoctorError("unreadable", f"can't read {path}: it is no regular file", path)
        self.size = status.st_size
        self.identity = identify(status)

    def open(self) -> BinaryIO:
        try:
            return open(self.path, "rb", buffering=BUFFER)
        except OSError as error:
            raise explain_os_error(self.path, error) from error

    def read(self, offset: int, length: int) -> bytes:
        try:
            with open(self.path, "rb", buffering=0) as stream:
                stream.seek(offset)
                return stream.read(length) or b""
        except OSError as error:
            raise explain_os_error(self.path, error) from error


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


def explain_os_error(path: str, error: OSError) -> DoctorError:
    """An OSError as one line: what, where, what to do."""
    advice = {
        "FileNotFoundError": "there is no such file; check the path or the session id",
        "PermissionError": "no permission to read it; run as its owner",
        "IsADirectoryError": "it is a folder; name a session folder or a transcript",
    }.get(type(error).__name__, (error.strerror or str(error)))
    return DoctorError("unreadable", f"can't read {path}: {advice}", path)
