"""The only part that writes a user's files: locks, verified backups, atomic replacement, receipts, undo.

Every step is written as if the power went off behind it: at any instant the old or the new file stands whole under its name, and the new
one never without a verified copy of the old one beside it.
"""

from __future__ import annotations

from doctor.repair.storage.undoing import Undone, undo
from doctor.repair.storage.writing import Written, write_plan

__all__ = ["Undone", "Written", "undo", "write_plan"]
