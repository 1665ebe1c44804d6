"""A time line for programs: every bar, nothing grouped. Lines and rows count from 1; what the log did not record is null."""

from __future__ import annotations

import json

from doctor import __version__
from doctor.output.text import clean_value, escape_in_json
from doctor.output.timeline import Bar, Span, Timeline
from doctor.output.timeline_axis import read_time
from doctor.output.timeline_groups import lay_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = 1


def write_timeline(timeline: Timeline) -> str:
    """One JSON document. `folded` lists the gaps that the drawings fold, `findings` are named by code and place."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "session_id": timeline.session_id,
        "path": timeline.path,
        "events_path": timeline.events_path,
        "event_lines": timeline.event_lines,
        "rows": timeline.rows,
        "bars": [_build_bar(bar) for bar in timeline.bars],
        "overlaps": [_build_span(span) for span in timeline.spans],
        "folded": _list_folds(timeline),
        "findings": [
            {
                "code": found.code,
                "name": found.name,
                "severity": found.severity.value,
                "confidence": found.confidence.value,
                "message": found.message,
                "path": found.path,
                "line": found.line,
            }
            for found in timeline.findings
        ],
    }
    return escape_in_json(json.dumps(clean_value(document), ensure_ascii=False, indent=2))


def _build_bar(bar: Bar) -> dict[str, Any]:
    begin, end = read_time(bar.start_time), read_time(bar.end_time)
    seconds = round(end - begin, 6) if begin is not None and end is not None and bar.end_line >= 0 else None
    return {
        "kind": bar.kind,
        "label": bar.label,
        "state": bar.state or None,
        "start_line": _count_from_one(bar.start_line),
        "end_line": _count_from_one(bar.end_line),
        "start_time": bar.start_time or None,
        "end_time": bar.end_time or None,
        "seconds": seconds,
        "drawn": [bar.first + 1, bar.last + 1],
        "execution": _count_from_one(bar.execution),
        "call_id": bar.call_id or None,
        "error": bar.text or None,
        "rows": [row + 1 for row in bar.rows],
        "findings": list(bar.findings),
    }


def _build_span(span: Span) -> dict[str, Any]:
    return {
        "start_line": span.first + 1,
        "end_line": span.last + 1,
        "older": span.older + 1,
        "newer": span.newer + 1,
        "confidence": span.confidence,
        "proof": span.proof,
        "proof_lines": [line + 1 for line in span.proof_lines],
    }


def _list_folds(timeline: Timeline) -> list[dict[str, Any]]:
    layout = lay_out(timeline, max(1, len(timeline.bars)))
    pieces = [piece for section in layout.sections for piece in section.axis.folds]
    return [
        {"after_line": piece.first_line + 1, "before_line": piece.last_line + 1, "seconds": round(piece.end - piece.begin, 6)}
        for piece in pieces
    ]


def _count_from_one(line: int) -> int | None:
    return line + 1 if line >= 0 else None
