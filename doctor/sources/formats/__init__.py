"""One module per stored form, and `detect_format`, which says what a file is by its rows."""

from __future__ import annotations

from types import ModuleType

import orjson

from doctor.errors import DoctorError
from doctor.model import Source

ROWS_LOOKED_AT = 20


def detect_format(source: Source, path: str) -> ModuleType:
    """The format module for a transcript.

    A file without one readable row is taken for Amplifier's, since damage is what the doctor is for.

    Raises DoctorError: when the rows are those of something that is no transcript, or of a client that can't be read yet.
    """
    from doctor.sources.formats import amplifier

    with source.open() as stream:
        for _, raw in zip(range(ROWS_LOOKED_AT), stream, strict=False):
            try:
                row = orjson.loads(raw)
            except ValueError:
                continue
            if not isinstance(row, dict):
                continue
            if "role" in row:
                return amplifier
            refuse_foreign(row, path)
    return amplifier


def refuse_foreign(row: dict[str, object], path: str) -> None:
    """Raises DoctorError when a row without a role is known to belong to something else."""
    if "event" in row and ("schema" in row or "ts" in row or "timestamp" in row):
        raise DoctorError("unreadable", f"{path} is an event log; name the transcript (transcript.jsonl) or the session folder", path)
    if isinstance(row.get("message"), dict) and "type" in row:
        raise DoctorError("unreadable", f"{path} looks like a Claude Code session; this version reads Amplifier transcripts only", path)
    if row.get("type") in ("session_meta", "response_item", "event_msg", "turn_context"):
        raise DoctorError("unreadable", f"{path} looks like a Codex rollout; this version reads Amplifier transcripts only", path)
    if isinstance(row.get("messages"), list) or isinstance(row.get("contents"), list) or isinstance(row.get("input"), list):
        raise DoctorError(
            "unreadable", f"{path} looks like a request body or an export; this version reads Amplifier transcripts only", path
        )
