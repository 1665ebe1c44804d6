"""Which files a walk takes, by the patterns of a configuration, and which of those patterns came to nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from doctor.settings.globs import ANY, Pattern, compile_pattern, lies_in, name_store
from doctor.settings.model import Settings


class Choice:
    """The patterns of a configuration at work. Paths are absolute; `walked` are the folders that were asked for."""

    def __init__(self, settings: Settings) -> None:
        self.folder = settings.folder
        self.include = [compile_pattern(text, self.folder) for text in settings.include]
        self.exclude = [compile_pattern(text, self.folder) for text in settings.exclude]
        self.per_file = [compile_pattern(text, self.folder) for text, _ in settings.tuning.per_file_ignores]
        self.walked: list[str] = []
        self._used: set[Pattern] = set()

    @property
    def asks_for_names(self) -> bool:
        """Whether `include` asks for files by name, which a plain walk may not take."""
        return any(pattern.names_files for pattern in self.include)

    def takes(self, path: str) -> bool:
        """Whether a walk takes a transcript."""
        return (not self.include or self._use(self.include, path)) and not self.skips(path)

    def asks_for(self, path: str) -> bool:
        """Whether `include` names this very file, and `exclude` does not."""
        named = [pattern for pattern in self.include if pattern.names(path)]
        self._used.update(named)
        return bool(named) and not self.skips(path)

    def skips(self, path: str) -> bool:
        """Whether `exclude` leaves a file or a folder out."""
        return self._use(self.exclude, path)

    def note(self, path: str) -> None:
        """Remembers which patterns for single files are of use for a file that was looked at."""
        if self.per_file:
            self._use(self.per_file, os.path.abspath(path))

    def list_idle(self) -> list[tuple[str, str]]:
        """(key, pattern) of all that matched nothing although it had its chance."""
        keys = (("include", self.include), ("exclude", self.exclude), ("per-file-ignores", self.per_file))
        return [
            (key, pattern.text) for key, patterns in keys for pattern in patterns if pattern not in self._used and self._was_due(pattern)
        ]

    def _was_due(self, pattern: Pattern) -> bool:
        """All that a pattern can match lies in a folder that was walked. One that may match anywhere had its chance when the whole
        project was walked, or a folder outside of it."""
        if pattern.parts[0] != ANY or pattern.base:
            return any(pattern.lies_below(walked) for walked in self.walked)
        return any(lies_in(self.folder, walked) or not lies_in(walked, self.folder) for walked in self.walked)

    def _use(self, patterns: Iterable[Pattern], path: str) -> bool:
        found = [pattern for pattern in patterns if covers(pattern, path)]
        self._used.update(found)
        return bool(found)


def covers(pattern: Pattern, path: str) -> bool:
    """Whether a pattern means an absolute path. The path may have been given through a link while the configuration was found from where
    that leads, or the other way round."""
    if pattern.covers(path):
        return True
    base = os.sep.join(("", *pattern.base)) if os.sep == "/" else os.sep.join(pattern.base)
    return bool(pattern.base) and not lies_in(path, base) and pattern.covers(os.path.realpath(name_store(path)))
