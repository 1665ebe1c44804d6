"""The files that reports go to, whole or not at all, and the unnamed ones that long reports wait in. No user's session is written here."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO, cast

from doctor.errors import DoctorError

IN_MEMORY = 4 * 1024 * 1024
"""Bytes of a spool before it becomes a file."""
SESSION_FILES = ("transcript.jsonl", "events.jsonl", "metadata.json")
"""With what stands behind: the client's backups of these, and ours."""


class Spools:
    """Text files without a name: the system takes them away with the process, however that ends."""

    def __init__(self) -> None:
        self.opened: list[TextIO] = []

    def open(self) -> TextIO:
        spool = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, mode="w+", encoding="utf-8", newline="")  # noqa: SIM115 - see close
        self.opened.append(cast(TextIO, spool))
        return self.opened[-1]

    def close(self) -> None:
        for spool in self.opened:
            spool.close()


class ReportFile:
    """A report on its way into a file: written beside it, and given its name at the end. What is no regular file, such as a pipe or
    /dev/stderr, is written to directly.

    Raises DoctorError ("usage" or "unwritable") where it can't be written.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.target = os.path.realpath(path)
        self.temporary = ""
        try:
            # Not the target: what /dev/stdout or the shell's >(…) leads to may be a pipe, which has no path that could be opened.
            status = os.stat(path)
        except OSError:
            status = None
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise DoctorError("usage", f"can't write {path}: it is a folder; name a file in it")
        if status is not None and os.path.basename(self.target).startswith(SESSION_FILES):
            raise DoctorError("usage", f"{path} is called like a file of a session; name another one for the report")
        self.identity = (status.st_dev, status.st_ino) if status is not None else None
        try:
            if status is not None and not stat.S_ISREG(status.st_mode):
                self.stream = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed by commit or discard
                return
            folder, name = os.path.split(self.target)
            self.temporary = os.path.join(folder, f".{name}.report-{os.getpid()}.tmp")
            self.stream = open(self.temporary, "x", encoding="utf-8", newline="\n")  # noqa: SIM115 - closed by commit or discard
            if status is not None:
                os.chmod(self.temporary, stat.S_IMODE(status.st_mode))
        except OSError as error:
            self.temporary = ""
            raise _explain(path, error) from error

    def spare(self, paths: Iterable[str]) -> None:
        """Refuses to replace a file of a session that is looked at. Raises DoctorError."""
        for path in filter(None, paths):
            if self._is(path):
                raise DoctorError("usage", f"{self.path} is {path}, which is looked at or written; name another file for the report")

    def _is(self, path: str) -> bool:
        """By name as well: what `fix --output` has just written was not there when the report was begun."""
        try:
            status = os.stat(path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.identity or os.path.realpath(path) == self.target

    def commit(self) -> None:
        try:
            self.stream.close()
            if self.temporary:
                os.replace(self.temporary, self.target)
                self.temporary = ""
        except OSError as error:
            raise _explain(self.path, error) from error

    def discard(self) -> None:
        with suppress(OSError):
            self.stream.close()
        if self.temporary:
            with suppress(OSError):
                os.unlink(self.temporary)
            self.temporary = ""


def _explain(path: str, error: OSError) -> DoctorError:
    advice = {
        "FileNotFoundError": "there is no such folder; make it first",
        "PermissionError": "no permission to write there",
        "FileExistsError": "another run is writing it, or was stopped in the middle: remove " + str(error.filename),
    }.get(type(error).__name__, error.strerror or str(error))
    return DoctorError("unwritable", f"can't write {path}: {advice}")
