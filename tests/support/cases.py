"""Examples and fixture folders as sessions on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.session import read_session
from doctor.traits import find_traits

NOW = 1_800_000_000.0
"""January 2027: later than every recorded time by far more than the 15 minutes in which an open execution counts as live."""


def write_example(example: Any, folder: Path) -> Path:
    """Writes an example of a rule as the files of a session; returns the transcript. `.sql` files are statements that make a database."""
    folder.mkdir(parents=True, exist_ok=True)
    files = example if isinstance(example, Mapping) else {"transcript.jsonl": example}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".sql"):
            build_database(path.with_suffix(".db"), text)
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    for store in (folder / "storage", folder / "opencode.db"):
        if store.exists():
            return Path(f"{store}#ses_1")
    return folder / "transcript.jsonl"


def build_database(path: Path, statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
        connection.commit()
    return path


def find_hidden(session: Session, rules: Iterable[Rule]) -> list[str]:
    """The codes of rules that have something to say of a session although it lacks what they need: their `needs` is wrong."""
    present = find_traits(session)
    return [rule.code for rule in rules if rule.needs and not rule.needs & present and any(rule.check(session))]


def open_example(example: Any, folder: Path) -> Session:
    return read_session(str(write_example(example, folder)), now=NOW)
