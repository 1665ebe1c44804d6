"""Private copies of databases: what is analysed is never the file that a client may be writing to.

A SQLite database is its file together with `-wal` (or `-journal`). They are copied into a folder of their own that goes with the process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from doctor.errors import DoctorError
from doctor.sources.source import explain_os_error, identify

COMPANIONS = ("-wal", "-journal", "-shm")
TRIES = 4


class Copy:
    """A copy and where it came from. `identity` tells whether the original is still the same."""

    def __init__(self, path: str) -> None:
        self.original = path
        self.folder = tempfile.mkdtemp(prefix="amplifier-doctor-")
        self.path = os.path.join(self.folder, "copy.db")
        self.identity: tuple[object, ...] = ()
        atexit.register(self.remove)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.remove)


def identify_database(path: str) -> tuple[object, ...]:
    """What changes when somebody writes to a database, in its file or beside it. `-shm` changes with every reader and is left out."""
    found: list[object] = []
    for name in (path, *(path + ending for ending in COMPANIONS[:2])):
        try:
            found.append(identify(os.stat(name)))
        except OSError:
            found.append(None)
    return tuple(found)


def copy_database(path: str) -> Copy:
    """Copies a database with what lies beside it, all from one moment.

    Raises DoctorError: it can't be read, there is no room for the copy, or it is written to all the time.
    """
    copy = Copy(path)
    try:
        for _ in range(TRIES):
            before = identify_database(path)
            _copy_files(path, copy.path)
            if identify_database(path) == before:
                copy.identity = before
                return copy
    except BaseException:
        copy.remove()
        raise
    copy.remove()
    raise DoctorError(
        "live", f"{path} changes faster than it can be copied: somebody is writing to it; run this again when it is quiet", path
    )


def _copy_files(path: str, target: str) -> None:
    for ending in ("", *COMPANIONS):
        try:
            shutil.copyfile(path + ending, target + ending)
        except FileNotFoundError as error:
            if not ending:
                raise explain_os_error(path, error) from error
            if os.path.exists(target + ending):
                os.unlink(target + ending)
        except PermissionError as error:
            raise explain_os_error(path + ending, error) from error
        except OSError as error:
            advice = f"{error.strerror or error}; it needs room for a copy of the database (TMPDIR names another place)"
            raise DoctorError("unreadable", f"can't copy {path} to look at it: {advice}", path) from error
