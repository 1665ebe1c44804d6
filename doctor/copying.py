"""Rows of the client's other files, copied byte for byte: from its backup, and from its note of an append that it did not finish."""

from __future__ import annotations

import json
import os

from doctor.findings import Edit, FileSpan
from doctor.model import BROKEN_SHAPE, DAMAGED_LINE, SHARED_LINE, Backup, Transcript
from doctor.rebuilding import Recovery, name_span
from doctor.session import Session

UNFIT = SHARED_LINE | DAMAGED_LINE | BROKEN_SHAPE
"""Flags of rows that are not copied."""


def plan_append(session: Session) -> Recovery:
    """Puts the rows back that the client's backup and its announcement of an append hold beyond the transcript's last row.

    The announcement may spell a row in another key order than the transcript, so rows are compared as values.
    """
    transcript = session.transcript
    if transcript.line_problems:
        return Recovery(reason="damaged lines come first")
    held = [_read_value(transcript, message.line) for message in transcript.messages]
    spans: list[FileSpan] = []
    sources: list[str] = []
    for beside in (session.backup, session.pending):
        if beside is None:
            continue
        rows = [message for message in beside.transcript.messages if not message.flags & UNFIT]
        values = [_read_value(beside.transcript, message.line) for message in rows]
        if beside is session.pending:
            known = set(held)
            new = [message for message, value in zip(rows, values, strict=True) if value not in known]
        elif values[: len(held)] == held:
            new = rows[len(held) :]
        else:
            new = []
        spans += [copy_row(beside, message.line) for message in new]
        held += [_read_value(beside.transcript, message.line) for message in new]
        if new:
            sources.append(name_span(os.path.basename(beside.path), new[0].line, new[-1].line))
    if not spans:
        return Recovery(reason="the transcript holds every row that is known of")
    stop = transcript.line_count
    return Recovery((Edit(stop, stop, tuple(spans)),), len(spans), ", ".join(sources))


def copy_row(backup: Backup, line: int) -> FileSpan:
    """A row of another file, byte for byte."""
    return FileSpan(backup.path, backup.transcript.starts[line], len(backup.transcript.read_line(line)))


def _read_value(transcript: Transcript, line: int) -> int:
    """A row as a number that does not depend on its key order; the rows themselves may be huge."""
    return hash(json.dumps(transcript.read_row(line), sort_keys=True))
