"""Brings back the file as it was before a fix. What is there now is kept too: an undo loses nothing either."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from doctor.errors import DoctorError
from doctor.model import Liveness
from doctor.records import Record
from doctor.repair import receipts
from doctor.repair.storage import files
from doctor.repair.storage.locks import hold_locks
from doctor.repair.storage.writing import find_free_stamp, verify_copy
from doctor.sources.source import FileSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Undone(Record):
    """`path` holds the bytes of `backup` again; `kept` is what it held before the undo."""

    path: str
    backup: str
    kept: str


class Receipt(Record):
    """What undo needs of a receipt, hashes as SHA-256 hex."""

    path: str
    backup: str
    before: str
    after: str


def undo(path: str, *, now: float, force: bool = False, client_locks: Sequence[str] = (), liveness: Liveness | None = None) -> Undone:
    """Takes the last fix back; called again, the one before it.

    Which fix that is, the bytes themselves say: the newest receipt whose "after" hash is that of the file now. So a receipt of a fix that
    a crash stopped half-way does no harm. `force` restores the newest backup although the file was changed since, or is in use.

    Raises DoctorError: "usage" (nothing to undo), "changed" (the file was changed since), "live", "unreadable", "unwritable".
    """
    real = os.path.realpath(path)
    if liveness is not None and liveness.is_live and not force:
        raise DoctorError("live", f"{path} is in use: {liveness.reason}; close the session, or insist with --force", path)
    source = FileSource(real)
    with files.explain_errors(real):
        files.require_writable(real)
        with hold_locks(real, client_locks, force):
            current = files.digest_file(real).sha256
            return _restore(real, source, _choose(real, current, force), current, now)


def _choose(real: str, current: str, force: bool) -> Receipt:
    """The fix to take back: the newest one that led to the present bytes; with `force` the newest not yet taken back."""
    found = find_receipts(real)
    if not found:
        raise DoctorError("usage", f"there is nothing to undo: no receipt of a fix lies beside {real}", real)
    for receipt in found:
        if receipt.after == current:
            return receipt
    undone = max((place for place, receipt in enumerate(found) if receipt.before == current), default=-1)
    pending = found[undone + 1 :]
    if not pending:
        raise DoctorError("usage", f"there is nothing to undo: {real} is as it was before its first fix", real)
    if not force:
        message = f"{real} was changed since it was fixed; --force restores {pending[0].backup} all the same, and keeps the present file"
        raise DoctorError("changed", message, real)
    return pending[0]


def find_receipts(real: str) -> list[Receipt]:
    """All readable receipts beside a file, newest first. The stamp in the name sorts by time."""
    folder, name = os.path.split(real)
    beginning = name + receipts.RECEIPT
    found = []
    for entry in sorted(os.listdir(folder), reverse=True):
        if entry.startswith(beginning) and entry.endswith(".json"):
            receipt = _read_receipt(os.path.join(folder, entry), folder)
            if receipt is not None:
                found.append(receipt)
    return found


def _read_receipt(path: str, folder: str) -> Receipt | None:
    try:
        with open(path, "rb") as stream:
            paper: Any = json.loads(stream.read())
        # Only the name counts: the folder may have been moved, and a receipt must not point out of it.
        backup = os.path.join(folder, os.path.basename(paper["backup"]))
        return Receipt(path, backup, str(paper["before"]["sha256"]), str(paper["after"]["sha256"]))
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None


def _restore(real: str, source: FileSource, receipt: Receipt, current: str, now: float) -> Undone:
    backup = FileSource(receipt.backup)
    expected = files.look_at(real)
    if expected.identity != source.identity:
        raise files.changed_underneath(real)
    status = os.stat(real)
    stamp = find_free_stamp(real, now)
    folder = os.path.dirname(real)
    kept = real + receipts.UNDONE + stamp
    temporary = os.path.join(folder, f".{os.path.basename(real)}.doctor-{stamp}.tmp")
    created: list[str] = []
    inode = 0
    try:
        if files.create_file(kept, source, status, created).sha256 != current:
            raise files.changed_underneath(real)
        verify_copy(kept, source)
        if files.create_file(temporary, backup, status, created).sha256 != receipt.before:
            message = f"{receipt.backup} is not the backup that its receipt describes; nothing was changed"
            raise DoctorError("unreadable", message, receipt.backup)
        verified = verify_copy(temporary, backup)
        inode = verified.identity[1]
        files.sync_folder(folder)
        files.swap_in(temporary, real, expected)
    except BaseException:
        files.discard(created, temporary, inode, real)
        raise
    files.settle(temporary, real, verified, kept)
    return Undone(real, receipt.backup, kept)
