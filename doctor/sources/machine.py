"""How many processors this process may use, and how many threads it has."""

from __future__ import annotations

import os

QUOTA = "/sys/fs/cgroup/cpu.max"
"""`200000 100000`: microseconds that a container gets, of so many. `max` for no limit."""
TASKS = "/proc/self/task"
"""One folder for each thread of this process (Linux)."""


def count_processors(quota: str = QUOTA) -> int:
    """Those that the scheduler gives to this process, or that the container's quota pays for: a container with two of a host's 64
    processors would otherwise start 64 workers that take turns."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with open(quota, encoding="ascii") as stream:
            paid, period = stream.read().split()
        return max(1, min(allowed, -(-int(paid) // int(period))))
    except (OSError, ValueError, ZeroDivisionError):
        return allowed


def count_threads(tasks: str = TASKS) -> int:
    """All threads of this process. Python's own count leaves out those of libraries, and those that are done but not gone yet."""
    from threading import active_count

    try:
        return max(active_count(), len(os.listdir(tasks)))
    except OSError:
        return active_count()
