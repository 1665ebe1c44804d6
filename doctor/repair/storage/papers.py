"""Receipts of fixes inside databases: by row what it held, and what it was made to hold. A fix is taken back from them."""

from __future__ import annotations

import json
import os

from doctor.records import Record
from doctor.repair import receipts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLES = {"message": ("id", "sessionID"), "part": ("id", "sessionID", "messageID")}
"""By table the members of an export's record that are columns of their own."""


class RowChange(Record):
    """One row: what its `data` column held, and what it is to hold."""

    table: str
    id: str
    before: str
    after: str


class Paper(Record):
    """A receipt of a fix in a database."""

    path: str
    backup: str
    session: str
    rows: tuple[RowChange, ...]
    is_undone: bool


def find_papers(real: str) -> list[Paper]:
    """All readable receipts beside a database, newest first, those of fixes that were taken back among them."""
    folder, name = os.path.split(real)
    found = []
    for entry in sorted(os.listdir(folder), reverse=True):
        for ending, is_undone in ((receipts.RECEIPT, False), (receipts.UNDONE, True)):
            if entry.startswith(name + ending) and entry.endswith(".json"):
                paper = _read_paper(os.path.join(folder, entry), folder, is_undone)
                found += [paper] if paper is not None else []
    return found


def _read_paper(path: str, folder: str, is_undone: bool) -> Paper | None:
    try:
        with open(path, "rb") as stream:
            paper: Any = json.loads(stream.read())
        rows = tuple(RowChange(**row) for row in paper["rows"])
        # Only names of tables that are written here may reach a statement.
        if any(row.table not in TABLES for row in rows):
            return None
        name = os.path.basename(paper["undone" if is_undone else "backup"])
        return Paper(path, os.path.join(folder, name), str(paper["session"]), rows, is_undone)
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
