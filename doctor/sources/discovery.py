"""Looks for a project's configuration on the way up from a folder.

Every run does. Where there is none, that must cost no more than a few system calls: no TOML parser is imported for it, nor anything else.
"""

from __future__ import annotations

import os
import re
from stat import S_ISFIFO

from doctor.errors import DoctorError

OWN, SHARED = "amplifier-doctor.toml", "pyproject.toml"
"""In the same folder the first one wins."""
NAME = b"amplifier-doctor"
MOST_BYTES = 4 << 20
_HEADER = rb"""tool["']?\s*\.\s*["']?amplifier-doctor|^\s*\[\s*["']?tool["']?\s*\]"""
"""`[tool.amplifier-doctor]` and what else TOML lets one write for it. A project may also name the doctor as something it depends on."""
ADVICE = "mend it, or leave all configuration out of account with --isolated"


def find_candidate(folder: str) -> tuple[str, bytes] | None:
    """The nearest file that is a configuration or may hold one, in `folder` (absolute) or above it, with what it holds.

    Raises DoctorError: such a file can't be read.
    """
    while True:
        for name in (OWN, SHARED):
            path = os.path.join(folder, name)
            # Opening a pipe of that name would wait for somebody to write into it.
            data = None if is_pipe(path) else read_bytes(path)
            if data is not None and (name == OWN or mentions(data)):
                return path, data
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def is_pipe(path: str) -> bool:
    try:
        return S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def read_bytes(path: str) -> bytes | None:
    """The bytes of a file, None when there is none. A folder of that name is none either."""
    try:
        with open(path, "rb", buffering=0) as stream:
            data = stream.read(MOST_BYTES) or b""
            # A pipe (`--config <(…)`) hands out what is there just now, perhaps the beginning of a line.
            while data and len(data) < MOST_BYTES and (more := stream.read(MOST_BYTES - len(data))):
                data += more
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise DoctorError("usage", f"can't read {path}, which may hold a configuration: {error.strerror or error}; {ADVICE}") from error
    if len(data) >= MOST_BYTES:
        raise DoctorError("usage", f"{path} is too large for a configuration (more than {MOST_BYTES >> 20} MiB); {ADVICE}")
    return data


def mentions(data: bytes) -> bool:
    """Whether a pyproject.toml may hold the table: a look at its bytes."""
    return NAME in data and re.search(_HEADER, data, re.MULTILINE) is not None
