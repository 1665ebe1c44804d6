"""Writes a planned transcript: over the file it was made from, with backup and receipt, or to another path."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from doctor.errors import DoctorError
from doctor.model import Source
from doctor.records import Record
from doctor.repair import receipts
from doctor.repair.pieces import BORROWED, PiecedSource, digest_range
from doctor.repair.plans import Plan
from doctor.repair.storage import files
from doctor.repair.storage.locks import hold_locks
from doctor.session import Session
from doctor.sources.source import FileSource, MemorySource


class Written(Record):
    """Paths of what was written; "" for what was not needed. `path` is "" when nothing had to be changed."""

    path: str
    backup: str = ""
    receipt: str = ""
    quarantine: str = ""


def write_plan(
    session: Session, plan: Plan, *, now: float, output: str | None = None, force: bool = False, client_locks: Sequence[str] = ()
) -> Written:
    """Carries a plan out. `output` writes the planned file there and leaves the transcript alone.

    `now` (seconds since the epoch) names the files beside it. `client_locks` are lock files of the client to hold meanwhile. `force`
    writes to a live session, or over an existing `output`.

    Raises DoctorError with nothing changed: "live", "changed", "unwritable", "usage", or what the plan itself failed with.
    """
    path = session.transcript.path
    if plan.failure is not None:
        raise DoctorError(plan.failure.kind, plan.failure.message, plan.failure.path)
    if output is not None:
        with files.explain_errors(output):
            return _write_copy(session, plan, output, force)
    # Also where nothing would be changed: what a live session needs can't be known before it is quiet.
    if session.liveness.is_live and not force:
        raise DoctorError("live", f"{path} is in use: {session.liveness.reason}; close the session, or insist with --force", path)
    if not plan.changed:
        return Written("")
    if not isinstance(session.transcript.source, FileSource):
        raise DoctorError("usage", f"{path} is not a file that can be replaced; say where to write with --output", path)
    real = os.path.realpath(path)
    with files.explain_errors(real):
        files.require_writable(real)
        with hold_locks(real, client_locks, force):
            return _replace(session.transcript.source, plan, real, now)


def _replace(source: FileSource, plan: Plan, real: str, now: float) -> Written:
    """The order is what makes it safe: every byte that could be needed is durable before the name changes hands."""
    expected = files.Looks(source.identity, plan.tail)
    files.require_unchanged(real, expected)
    status = os.stat(real)
    stamp = find_free_stamp(real, now)
    folder = os.path.dirname(real)
    backup, receipt = real + receipts.BACKUP + stamp, real + receipts.RECEIPT + stamp + ".json"
    quarantine = real + receipts.QUARANTINE + stamp if plan.quarantined else ""
    temporary = os.path.join(folder, f".{os.path.basename(real)}.doctor-{stamp}.tmp")
    created: list[str] = []
    inode = 0
    try:
        before = files.create_file(backup, source, status, created)
        verify_copy(backup, source)
        if quarantine:
            files.create_file(quarantine, _join_quarantined(plan), status, created)
        after = files.create_file(temporary, plan.source, status, created)
        verified = _verify_planned(temporary, plan)
        inode = verified.identity[1]
        paper = receipts.build_receipt(
            plan,
            file=os.path.basename(real),
            before=before,
            after=after,
            backup=os.path.basename(backup),
            quarantine=os.path.basename(quarantine),
            stamp=stamp,
        )
        files.create_file(receipt, MemorySource(json.dumps(paper, indent=1).encode() + b"\n"), status, created)
        files.sync_folder(folder)
        files.swap_in(temporary, real, expected)
    except BaseException:
        files.discard(created, temporary, inode, real)
        raise
    files.settle(temporary, real, verified, backup)
    return Written(real, backup, receipt, quarantine)


def find_free_stamp(path: str, now: float) -> str:
    """The time as a name that nothing beside the file uses yet; two fixes within one microsecond get different ones."""
    for step in range(1_000):
        stamp = receipts.write_stamp(now, step)
        endings = (receipts.BACKUP, receipts.RECEIPT, receipts.QUARANTINE, receipts.UNDONE)
        if not any(os.path.lexists(path + ending + stamp + tail) for ending in endings for tail in ("", ".json")):
            return stamp
    raise DoctorError("unwritable", f"can't write beside {path}: a thousand backups have this moment's name already", path)


def verify_copy(path: str, source: Source) -> files.Looks:
    """Reads a new file back and compares it with what it was made from. Returns how the verified file looks."""
    looks = files.look_at(path)
    with open(path, "rb", buffering=0) as copy, source.open() as original:
        if not files.hold_same_bytes(copy, original):
            message = f"{path} does not hold what was copied into it: the file changed meanwhile, or the disk fails; nothing was changed"
            raise DoctorError("changed", message, path)
    return looks


def _verify_planned(path: str, plan: Plan) -> files.Looks:
    """Reads the planned file back. Bytes borrowed from other files must still be those that were planned with."""
    looks = verify_copy(path, plan.source)
    if looks.identity[2] != plan.source.size:
        raise files.changed_underneath(plan.session.transcript.path)
    if isinstance(plan.source, PiecedSource):
        copy = FileSource(path)
        for start, span in plan.source.spans():
            if span.role == BORROWED and digest_range(copy, start, span.length) != span.digest:
                raise files.changed_underneath(getattr(span.source, "path", path))
    return looks


def _join_quarantined(plan: Plan) -> PiecedSource:
    """The raw bytes of every quarantined line, one a line."""
    pieces = [piece for item in plan.quarantined for piece in (*item.content, b"\n")]
    return PiecedSource(plan.session.transcript.source, pieces)


def _write_copy(session: Session, plan: Plan, output: str, force: bool) -> Written:
    """Writes the planned file to a path of its own, whole or not at all."""
    source = session.transcript.source
    status = os.stat(source.path) if isinstance(source, FileSource) else None
    if os.path.lexists(output):
        target = os.path.realpath(output)
        if status is not None and os.path.exists(target) and os.path.samestat(status, os.stat(target)):
            raise DoctorError("usage", f"--output names the transcript itself, {output}; leave it out to fix in place", output)
        if not force:
            raise DoctorError("usage", f"{output} exists already; name another file, or overwrite it with --force", output)
        if os.path.exists(target) and not os.path.isfile(target):
            raise DoctorError("usage", f"{output} is no regular file; name another one", output)
    else:
        target = os.path.abspath(output)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.doctor-{os.getpid()}.tmp")
    created: list[str] = []
    try:
        files.create_file(temporary, plan.source, status, created)
        _verify_planned(temporary, plan)
        if isinstance(source, FileSource):
            files.require_unchanged(source.path, files.Looks(source.identity, plan.tail))
        if force:
            os.replace(temporary, target)
        else:
            _link_new(temporary, target)
        files.sync_folder(folder)
    finally:
        files.discard(created, temporary, 0, target)
    return Written(output)


def _link_new(temporary: str, target: str) -> None:
    """Gives a whole file its name, unless somebody else took the name meanwhile."""
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise DoctorError("usage", f"{target} exists already; name another file, or overwrite it with --force", target) from error
    except OSError:
        # No hard links on this file system: hold the name with an empty file first.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.EXTRA_FLAGS, 0o600))
        os.replace(temporary, target)
