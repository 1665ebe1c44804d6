"""Runs one command and prints what it cost: `python -I -S launch.py COMMAND…` → "cpu wall peak status" (seconds, seconds, KiB, code).

A process of its own, because a child's recorded peak starts at the size of the process that forked it: this one stays near 10 MiB.
"""

from __future__ import annotations

import os
import sys
import time


def main() -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    start = time.perf_counter()
    child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, silence, 1)])
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - start
    peak = used.ru_maxrss // 1024 if sys.platform == "darwin" else used.ru_maxrss
    print(used.ru_utime + used.ru_stime, wall, peak, os.waitstatus_to_exitcode(status))


main()
