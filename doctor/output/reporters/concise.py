"""One line per finding, `path:line:col: AD301 error message`: for grep, editors and CI logs. Line 0 is the session as a whole."""

from __future__ import annotations

from doctor.findings import Confidence, Diagnostic, FileReport, Report, Safety
from doctor.output.options import Options
from doctor.output.statistics import list_statistics
from doctor.output.summary import summarise
from doctor.output.text import neutralise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def write_report(report: Report, stream: TextIO, options: Options) -> None:
    """Fixes first (for the fix command), then what is found or left; nothing at all for a clean file."""
    for file in report.files:
        for line in _list_fixes(file, options):
            stream.write(line + "\n")
        for found in file.diagnostics:
            stream.write(_write_finding(found) + "\n")
    if options.statistics:
        for line in list_statistics(summarise(report)):
            stream.write(line + "\n")


def _write_finding(found: Diagnostic) -> str:
    column = found.column if found.line else 0
    notes = [found.confidence.value] if found.confidence is Confidence.POSSIBLE else []
    if found.fix is not None and found.fix.safety is not Safety.MANUAL:
        notes.append(f"{found.fix.safety.name.lower()} fix")
    tail = f" [{', '.join(notes)}]" if notes else ""
    return neutralise(f"{found.path}:{found.line}:{column}: {found.code} {found.severity.value} {found.message}{tail}")


def _list_fixes(file: FileReport, options: Options) -> list[str]:
    if file.fix is None:
        return []
    verb = "would fix" if options.dry_run else "fixed"
    lines = [f"{file.path}: {verb} {fix.code} {fix.title}" for fix in file.fix.applied]
    lines += [f"{file.path}: held back {fix.code} {fix.title} [{fix.safety.name.lower()}]" for fix in file.fix.held_back]
    return [neutralise(line) for line in lines]
