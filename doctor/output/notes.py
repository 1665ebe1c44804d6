"""A sound session with nothing but notes, written without rich: importing it takes as long as checking ten megabytes."""

from __future__ import annotations

from textwrap import wrap

from doctor.findings import FileReport, Severity
from doctor.output.headline import compose_heading, compose_headline
from doctor.output.options import Options
from doctor.output.text import defuse
from doctor.output.verdict import describe_verdict, list_doubts, list_unseen_answers, suggest_next

MOST_NOTES = 5
WIDE = "\u1100"
"""From here on characters may be two columns wide, which is for rich to measure."""


def write_notes(file: FileReport, options: Options) -> list[str] | None:
    """The lines that the drawing would have; None for a file that has to be drawn."""
    if options.color or file.fix is not None or file.accepted or not 0 < len(file.diagnostics) <= MOST_NOTES:
        return None
    if any(found.severity is not Severity.INFO for found in file.diagnostics) or list_doubts(file) or list_unseen_answers(file):
        return None
    lines = ["".join(text for text, _ in pieces) for pieces in compose_heading(file, options)]
    lines.append("")
    for found in file.diagnostics:
        lines += _wrap("".join(text for text, _ in compose_headline(found, file.path)), options.width)
    lines += ["", *_wrap(describe_verdict(file), options.width)]
    command = suggest_next(file, options)
    if command:
        lines.append(f"next: {command}")
    # An ellipsis is one column wide, and stands in every path that is long.
    return [defuse(line) for line in lines] if max("".join(lines).replace("…", "")) < WIDE else None


def _wrap(line: str, width: int) -> list[str]:
    return wrap(line, width, subsequent_indent="  ", break_on_hyphens=False, replace_whitespace=False)
