"""A client at work, as a process of its own: it takes the session's lock, notes itself as owner, and appends rows in torn halves.

Reads one JSON object a line from standard input ({"transcript", "lock", "rows", "pause"}), prints "in" once it holds the lock and "out"
when it has left.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
from datetime import UTC, datetime


def write_owner(lock: str, active: bool) -> None:
    owner = {
        "app": "test-client",
        "pid": os.getpid(),
        "hostname": socket.gethostname(),
        "active": active,
        "acquired_at": datetime.now(UTC).isoformat(),
    }
    with open(os.path.join(os.path.dirname(lock), "owner.json"), "w") as file:
        json.dump(owner, file)


def work(transcript: str, lock: str, rows: list[str], pause: float) -> None:
    with open(lock, "ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        write_owner(lock, True)
        with open(transcript, "ab", buffering=0) as file:
            print("in", flush=True)
            for row in rows:
                data = row.encode() + b"\n"
                file.write(data[: len(data) // 2])
                time.sleep(pause)
                file.write(data[len(data) // 2 :])
        write_owner(lock, False)
    print("out", flush=True)


if __name__ == "__main__":
    for line in sys.stdin:
        work(**json.loads(line))
