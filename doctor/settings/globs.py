"""Patterns for paths, as people write them in a configuration: `**/old/*.jsonl`, `recordings/2024`, `scratch`.

`*`, `?` and `[…]` stay within one name, `**` stands for any number of folders. A pattern without a slash means a name anywhere; one with
a slash starts at the folder that it is relative to, unless it begins with `**`. What matches a folder covers all that lies in it, and what
matches a database or another store the sessions in it, `opencode.db#ses_…`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatch

from doctor.records import Record

ANY = "**"
SEPARATOR, SESSION = "#", "ses_"
"""How a session inside a store is named."""


class Pattern(Record):
    """`base` and `parts` are names of folders; a pattern that may match anywhere has no base and begins with `**`."""

    text: str
    base: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def names_files(self) -> bool:
        """Its last part is more than wildcards: `*.jsonl` asks for files of that name, `recordings/**` for what lies in a folder."""
        return bool(self.parts[-1].strip("*"))

    def covers(self, path: str) -> bool:
        """Whether an absolute path, or a folder or store that it lies in, is meant."""
        return self._match(path, exactly=False) or (SEPARATOR in path and self._match(name_store(path), exactly=False))

    def names(self, path: str) -> bool:
        """Whether this very file is asked for, and not only a folder that it lies in."""
        return self.names_files and self._match(path, exactly=True)

    def lies_below(self, folder: str) -> bool:
        """Whether all that the pattern can match lies in this folder. One that may match anywhere does not."""
        fixed = next((place for place, part in enumerate(self.parts) if any(sign in part for sign in "*?[")), len(self.parts))
        start, names = (*self.base, *self.parts[:fixed]), split_path(folder)
        return start[: len(names)] == names and bool(start)

    def _match(self, path: str, exactly: bool) -> bool:
        names = split_path(path)
        return names[: len(self.base)] == self.base and _match_parts(names[len(self.base) :], self.parts, exactly)


def compile_pattern(text: str, folder: str) -> Pattern:
    """`folder`: what the pattern is relative to, absolute."""
    parts = _join_gaps(split_path(text))
    if os.path.isabs(text):
        return Pattern(text, (), parts)
    if parts[:1] == (ANY,) or (len(parts) == 1 and not text.startswith("./")):
        return Pattern(text, (), parts if parts[:1] == (ANY,) else (ANY, *parts))
    base = split_path(folder)
    while base and parts[:1] == ("..",):
        base, parts = base[:-1], parts[1:]
    return Pattern(text, base, parts or (ANY,))


def _join_gaps(parts: Sequence[str]) -> tuple[str, ...]:
    """`**/**` says no more than `**`, and takes a power of the time to match."""
    return tuple(part for place, part in enumerate(parts) if part != ANY or place == 0 or parts[place - 1] != ANY)


def split_path(path: str) -> tuple[str, ...]:
    """The names on the way; empty for the root."""
    return tuple(part for part in path.replace(os.sep, "/").split("/") if part not in ("", "."))


def _match_parts(names: Sequence[str], parts: Sequence[str], exactly: bool) -> bool:
    if not parts:
        return not names or not exactly
    if parts[0] == ANY:
        return any(_match_parts(names[skipped:], parts[1:], exactly) for skipped in range(len(names) + 1))
    return bool(names) and fnmatch(names[0], parts[0]) and _match_parts(names[1:], parts[1:], exactly)


def name_store(path: str) -> str:
    """The store of a session that is named inside it; any other path as it is."""
    store, _, name = path.rpartition(SEPARATOR)
    return store if name.startswith(SESSION) else path


def lies_in(path: str, folder: str) -> bool:
    """Whether an absolute path is a folder or lies below it."""
    names = split_path(folder)
    return split_path(path)[: len(names)] == names
