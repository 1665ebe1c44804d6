"""Which processes hold files or locks, as Linux tells in /proc. Elsewhere, and of other users' processes, nothing is known."""

from __future__ import annotations

import os
from collections.abc import Sequence

PROCESSES = "/proc"
ROWS = ".jsonl"
"""Ending of transcripts, whatever they are called, and of event logs."""
ACCESS = 0o3
"""The bits of the open flags that say how a file may be used; 0 is reading only, and readers do no harm."""


def find_writers(names: Sequence[str] = ()) -> dict[str, int]:
    """Real path to process id, for every file that another process has open for writing: of these names, else of rows."""
    found: dict[str, int] = {}
    own = os.getpid()
    ends = tuple("/" + name for name in names) or ROWS
    for entry in _list_folder(PROCESSES):
        if not entry.isdigit() or int(entry) == own:
            continue
        folder = f"{PROCESSES}/{entry}/fd"
        for descriptor in _list_folder(folder):
            try:
                target = os.readlink(f"{folder}/{descriptor}")
            except OSError:
                continue
            if target.endswith(ends) and _is_open_for_writing(entry, descriptor):
                found[target] = int(entry)
    return found


def find_lock_holder(path: str) -> int | None:
    """The process that holds the flock of a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}" if hasattr(os, "major") else ""
    for line in _read_text(f"{PROCESSES}/locks").splitlines():
        # "1: FLOCK  ADVISORY  WRITE 812 fe:01:4197 0 EOF"; a waiting process has "->" behind the number.
        words = line.split()
        if len(words) >= 6 and words[1] == "FLOCK" and words[5] == place and words[4].isdigit() and int(words[4]) > 0:
            return int(words[4])
    return None


def find_start_time(pid: int) -> float | None:
    """When a process started, in seconds since the epoch; good to about a second."""
    # The name of the program stands in brackets and may hold anything; the start is the 20th word behind it, in clock ticks since boot.
    words = _read_text(f"{PROCESSES}/{pid}/stat").rpartition(")")[2].split()
    boot = next((line.split()[1] for line in _read_text(f"{PROCESSES}/stat").splitlines() if line.startswith("btime ")), "")
    try:
        return int(boot) + int(words[19]) / os.sysconf("SC_CLK_TCK")
    except (IndexError, ValueError, AttributeError, OSError):
        return None


def _is_open_for_writing(process: str, descriptor: str) -> bool:
    for line in _read_text(f"{PROCESSES}/{process}/fdinfo/{descriptor}").splitlines():
        if line.startswith("flags:"):
            try:
                return int(line.split()[1], 8) & ACCESS != 0
            except (IndexError, ValueError):
                return False
    return False


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _list_folder(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
