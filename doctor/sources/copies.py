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
LOG = COMPANIONS[0]
LOG_HEAD = 32
"""Bytes at the beginning of a write-ahead log that change when it is begun anew."""
TRIES = 4


class Copy:
    """A copy of a database. `identity` tells whether the original is still the same."""

    def __init__(self) -> None:
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
    copy = Copy()
    try:
        for _ in range(TRIES):
            before = identify_database(path)
            _copy_files(path, copy.path)
            if is_of_one_moment(before, identify_database(path), path, copy.path):
                copy.identity = before
                return copy
    except BaseException:
        copy.remove()
        raise
    copy.remove()
    raise DoctorError(
        "live", f"{path} changes faster than it can be copied: somebody is writing to it; run this again when it is quiet", path
    )


def is_of_one_moment(before: tuple[object, ...], after: tuple[object, ...], path: str, target: str) -> bool:
    """Whether copied files belong together: nobody wrote meanwhile, or to the write-ahead log alone, which only grew. It was copied last,
    and what it lacks of its end is a transaction that is not there yet."""
    if before == after:
        return True
    if before[0] != after[0] or before[2] != after[2] or not os.path.exists(target + LOG):
        return False
    try:
        with open(path + LOG, "rb") as log, open(target + LOG, "rb") as copied:
            head = log.read(LOG_HEAD)
            return len(head) == LOG_HEAD and head == copied.read(LOG_HEAD) and os.path.getsize(path + LOG) >= os.path.getsize(target + LOG)
    except OSError:
        return False


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
