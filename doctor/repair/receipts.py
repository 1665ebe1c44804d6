"""The receipt of a fix: what was done to which rows, with hashes, so that anybody can check it. Nothing is written here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from doctor.model import Transcript
from doctor.repair.plans import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = 1
BACKUP = ".bak-doctor-"
RECEIPT = ".receipt-doctor-"
QUARANTINE = ".quarantine-doctor-"
UNDONE = ".undone-doctor-"


def write_stamp(now: float, step: int = 0) -> str:
    """UTC with microseconds, in a form that sorts by time and suits every file system: 20260820T101502123456Z."""
    micros = round(now * 1_000_000) + step
    moment = datetime.fromtimestamp(micros // 1_000_000, UTC)
    return f"{moment:%Y%m%dT%H%M%S}{micros % 1_000_000:06d}Z"


def build_receipt(
    plan: Plan, *, file: str, before: tuple[int, str], after: tuple[int, str], backup: str, quarantine: str, stamp: str
) -> dict[str, Any]:
    """`before` and `after` are (size, SHA-256 hex) of the whole file; file names are those inside the folder, so that it can be moved."""
    from doctor import __version__

    old, new = plan.session.transcript, plan.after_session.transcript
    quarantined = {item.line for item in plan.quarantined}
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": "amplifier-doctor",
        "tool_version": __version__,
        "stamp": stamp,
        "file": file,
        "before": {"size": before[0], "sha256": before[1]},
        "after": {"size": after[0], "sha256": after[1]},
        "backup": backup,
        "quarantine": quarantine,
        "fixes": [
            {"code": fix.code, "title": fix.title, "safety": fix.safety.name.lower(), "source": fix.source, "round": fix.round}
            for fix in plan.applied
        ],
        "rows": {
            "moved": [
                {"from": old_line + 1, "to": new_line + 1, "sha256": _hash(old, old_line)} for old_line, new_line in plan.changes.moved
            ],
            "added": list(_list_rows(new, plan.changes.added)),
            "removed": [row | {"quarantined": row["line"] in quarantined} for row in _list_rows(old, plan.changes.removed)],
        },
    }


def _list_rows(transcript: Transcript, lines: Iterable[int]) -> Iterable[dict[str, Any]]:
    return ({"line": line + 1, "sha256": _hash(transcript, line)} for line in lines)


def _hash(transcript: Transcript, line: int) -> str:
    """SHA-256 of a row's bytes without its line end."""
    return hashlib.sha256(transcript.read_line(line)).hexdigest()
