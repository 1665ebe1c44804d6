"""Stands between the storage code and the operating system: counts every call, and lets a test fail or end the process at any of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from doctor.repair.storage import files

CALLS = (
    "open", "close", "read", "write", "fsync", "lseek", "replace", "rename", "link", "unlink", "stat", "lstat", "fstat", "fchmod", "fchown",
    "access", "listdir",
)  # fmt: skip


@contextmanager
def watch_calls(before: Callable[[int, str, tuple[Any, ...]], None]) -> Iterator[None]:
    """Calls `before(number, name, arguments)` ahead of each operating system call of storage, counted from 0."""
    count = 0
    originals = {name: getattr(os, name) for name in CALLS}
    find_exchange = files.find_exchange

    def wrap(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            number, count = count, count + 1
            before(number, name, arguments)
            return original(*arguments, **named)

        return wrapped

    def find_watched_exchange() -> Callable[[str, str], bool] | None:
        exchange = find_exchange()
        return wrap("exchange", exchange) if exchange is not None else None

    for name, original in originals.items():
        setattr(os, name, wrap(name, original))
    files.find_exchange = find_watched_exchange
    try:
        yield
    finally:
        files.find_exchange = find_exchange
        for name, original in originals.items():
            setattr(os, name, original)


def record_calls(job: Callable[[], object]) -> list[tuple[str, tuple[Any, ...]]]:
    """All calls of one undisturbed run."""
    calls: list[tuple[str, tuple[Any, ...]]] = []
    with watch_calls(lambda _, name, arguments: calls.append((name, arguments))):
        job()
    return calls
