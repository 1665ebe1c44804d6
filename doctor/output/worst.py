"""Keeps the worst few of many, and counts the others: what a page with limited room shows of a run of any size."""

from __future__ import annotations

from heapq import heapify, heappushpop
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Worst(Generic[Item]):
    """At most `room` items. Of equally bad ones those that came first stay."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.seen = 0
        self._kept: list[tuple[tuple[int, ...], int, Item]] = []

    def add(self, item: Item, *badness: int) -> None:
        """The higher the `badness`, the worse; the first number that differs decides."""
        self.seen += 1
        entry = (badness, -self.seen, item)
        if len(self._kept) < self.room:
            self._kept.append(entry)
            if len(self._kept) == self.room:
                heapify(self._kept)
        elif self.room:
            heappushpop(self._kept, entry)

    @property
    def left_out(self) -> int:
        return self.seen - len(self._kept)

    def list_items(self) -> list[Item]:
        """The worst first."""
        return [item for _, _, item in sorted(self._kept, key=lambda entry: entry[:2], reverse=True)]
