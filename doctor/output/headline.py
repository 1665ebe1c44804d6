"""The first lines of a file and of a finding as pieces of (text, style), for what draws them in color and what writes them plainly."""

from __future__ import annotations

from doctor.findings import Confidence, Diagnostic, FileReport, Safety, Severity
from doctor.output.options import Options
from doctor.output.text import count_of, cut, neutralise, shorten_path

Pieces = list[tuple[str, str]]

SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
SAFETY_WORDS = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe (--unsafe)", Safety.MANUAL: "shown only"}
LONGEST_PROSE = 600


def compose_headline(found: Diagnostic, path: str) -> Pieces:
    """`error[AD305] placeholder-shadows-result: …`"""
    pieces = [(f"{found.severity.value}[{found.code}]", SEVERITY_STYLES[found.severity]), (" ", ""), (found.name, "bold")]
    # Where executions are drawn, the reader asks how sure that is; elsewhere only doubt is worth a word.
    if found.confidence is Confidence.POSSIBLE or found.intervals:
        pieces.append((f", {found.confidence.value}", "yellow" if found.confidence is Confidence.POSSIBLE else ""))
    pieces.append((f": {neutralise(cut(found.message, LONGEST_PROSE))}", ""))
    if (not found.related or found.severity is Severity.INFO) and found.line and found.path == path:
        pieces.append((f"  (row {found.line}, column {found.column})" if found.column > 1 else f"  (row {found.line})", "dim"))
    return pieces


def compose_heading(file: FileReport, options: Options) -> list[Pieces]:
    """The file's path and what there is of it, on one line where they fit."""
    if file.format == "request":
        events = ""
    elif file.events_path == file.path != "":
        events = "turns in its rows"
    elif file.events_path.startswith(f"{file.path}:"):
        events = count_of(file.event_lines, "event")
    elif file.events_path:
        events = f"{file.events_path.replace(chr(92), '/').rsplit('/', 1)[-1]} {count_of(file.event_lines, 'line')}"
    else:
        events = "events not read" if "--no-events" in options.carried else "no event log"
    facts = " · ".join(fact for fact in (file.format or "unknown format", count_rows(file), neutralise(events)) if fact)
    path = shorten_path(file.path, max(24, options.width - len(facts) - 3))
    if len(path) + len(facts) + 3 <= options.width:
        return [[(path, "bold underline"), ("   ", ""), (facts, "dim")]]
    return [[(shorten_path(file.path, options.width), "bold underline")], [(f"  {cut(facts, options.width - 2)}", "dim")]]


def count_rows(file: FileReport) -> str:
    return count_of(file.rows, "request body", "request bodies") if file.format == "request" else count_of(file.rows, "row")
