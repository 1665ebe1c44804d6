"""The table of many sessions, for people and for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from doctor import __version__
from doctor.analysis.survey import SurveyRow
from doctor.output.text import count_of, escape_in_json, neutralise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

SCHEMA_VERSION = 1
FORMATS = ("human", "json", "jsonl")
HEADINGS = ("session", "project", "age", "size", "turns", "live", "findings", "resumable")
RIGHT = frozenset((2, 3, 4))
LEAST_WANTED = (1, 3, 4, 5, 2)
"""Columns in the order in which they go. Session, findings and verdict stay."""
WIDEST_PROJECT = 28
SHORTEST_ID = 8
COLORS = {"not-resumable": "31", "unreadable": "31", "unknown": "31", "after-fix": "33", "live": "36", "resumable": "32"}
ANSWERS = {"resumable": "yes", "after-fix": "after fix", "not-resumable": "no", "live": "when it is quiet", "unknown": "unknown"}


def write_table(
    rows: Sequence[SurveyRow],
    stream: TextIO,
    *,
    now: float,
    color: bool = False,
    shown: Sequence[SurveyRow] | None = None,
    width: int | None = None,
) -> None:
    """One line for each of `shown` (default: all), then one for all of `rows`. Ids are cut to what tells them apart among `rows`.

    Columns that a narrow terminal has no room for go, those first that matter least.
    """
    shown = rows if shown is None else shown
    ids = shorten_ids([row.session_id for row in rows])
    cells = [_list_cells(row, ids[row.session_id], now) for row in shown]
    widths = [max(len(line[column]) for line in (HEADINGS, *cells)) for column in range(len(HEADINGS))]
    kept = _choose_columns(widths, width)
    if cells:
        stream.write(_join(HEADINGS, widths, kept) + "\n")
    for row, line in zip(shown, cells, strict=True):
        text = _join(line, widths, kept)
        stream.write(f"\x1b[{COLORS[row.verdict]}m{text}\x1b[0m\n" if color else text + "\n")
    stream.write(("\n" if cells else "") + describe_rows(rows) + "\n")


def describe_rows(rows: Sequence[SurveyRow]) -> str:
    """`14 sessions: 9 resumable, 4 after fix, 1 not resumable`"""
    words = {"resumable": "resumable", "after-fix": "after fix", "not-resumable": "not resumable", "live": "live"}
    counts = [(sum(1 for row in rows if row.verdict == verdict), word) for verdict, word in words.items()]
    unread = sum(1 for row in rows if row.verdict not in words)
    parts = [f"{number:,} {word}" for number, word in counts if number] + ([f"{unread:,} could not be judged"] if unread else [])
    return f"{count_of(len(rows), 'session')}: {', '.join(parts)}" if parts else "no sessions"


def write_json(rows: Sequence[SurveyRow], stream: TextIO, *, roots: Sequence[str], now: float) -> None:
    """One object with all rows. It holds no contents of sessions."""
    failures = [{"path": item.path, "kind": item.kind, "message": item.message} for row in rows for item in row.failures]
    report = {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "roots": list(roots),
        "summary": {"sessions": len(rows), "broken": sum(1 for row in rows if row.is_broken), "verdicts": _count_verdicts(rows)},
        "sessions": [build_row(row, now) for row in rows],
        "errors": failures,
    }
    stream.write(escape_in_json(json.dumps(report, indent=2, ensure_ascii=False)) + "\n")


def write_jsonl(rows: Sequence[SurveyRow], stream: TextIO, *, now: float) -> None:
    """One object a line, as in `sessions` of the JSON report."""
    for row in rows:
        stream.write(escape_in_json(json.dumps(build_row(row, now), ensure_ascii=False)) + "\n")


def build_row(row: SurveyRow, now: float) -> dict[str, Any]:
    return {
        "session_id": row.session_id,
        "project": row.project,
        "path": row.path,
        "modified": datetime.fromtimestamp(row.modified, UTC).isoformat(timespec="seconds") if row.modified else None,
        "age_seconds": max(0, round(now - row.modified)) if row.modified else None,
        "size": row.size,
        "turns": row.turns,
        "live": row.liveness or None,
        "verdict": row.verdict,
        "move": row.move or None,
        "broken": row.is_broken,
        "findings": {"errors": row.errors, "warnings": row.warnings, "notes": row.notes, "codes": list(row.codes)},
        "errors": [item.message for item in row.failures],
    }


def shorten_ids(ids: Sequence[str]) -> dict[str, str]:
    """The shortest beginning of each id that no other one shares, at least eight characters: what `check` takes in its place."""
    ordered = sorted(set(ids))
    short = {}
    for index, own in enumerate(ordered):
        near = [ordered[place] for place in (index - 1, index + 1) if 0 <= place < len(ordered)]
        length = max([SHORTEST_ID, *(_count_shared(own, other) + 1 for other in near)])
        short[own] = own[:length]
    return short


def _count_shared(first: str, second: str) -> int:
    return next((index for index, (one, two) in enumerate(zip(first, second, strict=False)) if one != two), min(len(first), len(second)))


def _list_cells(row: SurveyRow, short: str, now: float) -> tuple[str, ...]:
    agent = "" if row.session_id.startswith("ses_") else row.session_id.partition("_")[2]
    counts = [count_of(row.errors, "error") if row.errors else "", count_of(row.warnings, "warning") if row.warnings else ""]
    found = ", ".join(part for part in counts if part)
    answer = f"no: {row.move.partition(' instead')[0]}" if row.move else ANSWERS.get(row.verdict, "can't be read")
    return (
        neutralise(f"{short} ({agent})" if agent and agent not in short else short),
        neutralise(_cut_left(row.project, WIDEST_PROJECT)),
        # What can't be looked at, such as a link to nowhere, has no age.
        write_age(now - row.modified) if row.modified else "-",
        write_size(row.size),
        f"{row.turns:,}",
        "live" if row.liveness else "",
        f"{found} {' '.join(row.codes)}".strip() or "-",
        answer,
    )


def _cut_left(text: str, width: int) -> str:
    """Projects are paths: their ends tell them apart."""
    return text if len(text) <= width else "…" + text[1 - width :]


def _choose_columns(widths: Sequence[int], width: int | None) -> list[int]:
    kept = list(range(len(widths)))
    for column in LEAST_WANTED:
        if width is None or sum(widths[one] + 2 for one in kept) - 2 <= width:
            break
        kept.remove(column)
    return kept


def _join(cells: Sequence[str], widths: Sequence[int], kept: Sequence[int]) -> str:
    padded = [cells[one].rjust(widths[one]) if one in RIGHT else cells[one].ljust(widths[one]) for one in kept]
    return "  ".join(padded).rstrip()


def write_age(seconds: float) -> str:
    """`40s`, `12m`, `5h`, `3d`"""
    steps: tuple[tuple[int, str], ...] = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
    return next((f"{int(seconds // size)}{unit}" for size, unit in steps if seconds >= size), "now")


def write_size(size: int) -> str:
    """`812 B`, `4.2 KB`, `1.3 GB`: powers of ten."""
    value, units = float(size), ["B", "KB", "MB", "GB", "TB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.0f} {units[0]}" if value >= 99.95 or units[0] == "B" else f"{value:.1f} {units[0]}"


def _count_verdicts(rows: Sequence[SurveyRow]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    return counts
