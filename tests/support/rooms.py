"""Sessions on disk for one examination."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any, Self

TRANSCRIPT = "transcript.jsonl"
Folders = Mapping[str, Mapping[str, bytes]]
"""Files by name, by session folder."""


class Store:
    """Session folders that are gone afterwards; the first one's session is examined. `now` is when, unless a call says otherwise."""

    def __init__(self, folders: Folders, now: float = 0.0) -> None:
        self.base = tempfile.mkdtemp(prefix="session-")
        write_folders(self.base, folders)
        self.folder = os.path.join(self.base, next(iter(folders)))
        self.path = os.path.join(self.folder, TRANSCRIPT)
        self.now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def check(self, now: float | None = None) -> Any:
        import doctor

        return doctor.check(self.path, now=self.now if now is None else now, environment={})

    def fix(self, now: float | None = None, *, dry_run: bool = False, **how: Any) -> Any:
        import doctor

        return doctor.fix(self.path, now=self.now if now is None else now, environment={}, dry_run=dry_run, **how)


def write_folders(base: str, folders: Folders) -> None:
    for folder, files in folders.items():
        os.makedirs(os.path.join(base, folder), exist_ok=True)
        for name, data in files.items():
            with open(os.path.join(base, folder, name), "wb") as file:
                file.write(data)


def list_findings(report: Any) -> list[str]:
    """What a check says, for people: one text for each finding."""
    found = []
    for seen in (seen for one in report.files for seen in one.diagnostics):
        fix = f"{seen.fix.safety.name}: {seen.fix.title}" if seen.fix else "no fix"
        found.append(f"{seen.severity} {seen.code} {seen.confidence} line {seen.line}: {seen.message}\n    {fix}\n    {seen.why}\n")
    return found
