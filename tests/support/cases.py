"""Examples and fixture folders as sessions on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doctor.session import Session
from doctor.sources.session import read_session

NOW = 1_800_000_000.0
"""January 2027: later than every recorded time by far more than the 15 minutes in which an open execution counts as live."""


def write_example(example: Any, folder: Path) -> Path:
    """Writes an example of a rule as the files of a session; returns the transcript."""
    folder.mkdir(parents=True, exist_ok=True)
    files = example if isinstance(example, Mapping) else {"transcript.jsonl": example}
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return folder / "transcript.jsonl"


def open_example(example: Any, folder: Path) -> Session:
    return read_session(str(write_example(example, folder)), now=NOW)
