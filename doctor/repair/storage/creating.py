"""Writes a new file that is no transcript, such as a page: whole or not at all, and never over something that it should not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from doctor.errors import DoctorError
from doctor.repair.storage import files
from doctor.sources.source import MemorySource


def create_whole(path: str, data: bytes, *, force: bool = False, spared: Sequence[str] = ()) -> None:
    """Writes `data` under a name that nothing has yet. `force` replaces a regular file, but none of those in `spared`.

    Raises DoctorError ("usage" or "unwritable") with nothing written.
    """
    target = os.path.realpath(path)
    if any(os.path.exists(other) and os.path.exists(target) and os.path.samefile(other, target) for other in spared):
        raise DoctorError("usage", f"{path} is a file of the session itself; name another one", path)
    if os.path.lexists(path) and not force:
        raise DoctorError("usage", f"{path} exists already; name another file, or overwrite it with --force", path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise DoctorError("usage", f"{path} is no regular file; name another one", path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.doctor-{os.getpid()}.tmp")
    created: list[str] = []
    try:
        files.create_file(temporary, MemorySource(data), None, created)
        if force:
            os.replace(temporary, target)
        else:
            _give_name(temporary, target)
        files.sync_folder(folder)
    except FileExistsError as error:
        raise DoctorError("usage", f"{path} exists already; name another file, or overwrite it with --force", path) from error
    except OSError as error:
        raise DoctorError("unwritable", f"can't write {path}: {error.strerror or error}; nothing was written", path) from error
    finally:
        for leftover in created:
            with suppress(OSError):
                os.unlink(leftover)


def _give_name(temporary: str, target: str) -> None:
    """Raises FileExistsError: somebody took the name meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # No hard links on this file system: hold the name with an empty file first.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.EXTRA_FLAGS, 0o666))
        os.replace(temporary, target)
