"""Texts that have to wait for the end of a run before they are written: memory stays small whatever their number."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


CHUNK = 1 << 16


class Spool:
    """Texts on their way through a file that somebody else opened and closes. `separator` stands between them."""

    def __init__(self, file: TextIO, separator: str = "") -> None:
        self.file = file
        self.separator = separator
        self.is_empty = True

    def add(self, text: str) -> None:
        self.file.write(text if self.is_empty else self.separator + text)
        self.is_empty = False

    def copy(self, stream: TextIO) -> None:
        self.file.seek(0)
        while chunk := self.file.read(CHUNK):
            stream.write(chunk)
