"""One line per finding, `path:line:col: AD301 error message`: for grep, editors and CI logs. Line 0 is the session as a whole."""

from __future__ import annotations

from doctor.findings import Confidence, Diagnostic, FileReport, Safety
from doctor.output.options import Options
from doctor.output.reporters import Reporter
from doctor.output.summary import Totals
from doctor.output.text import defuse, neutralise, say


class Concise(Reporter):
    """Fixes first (for the fix command), then what is found or left; nothing at all for a clean file."""

    def add(self, file: FileReport) -> None:
        for line in _list_fixes(file, self.options):
            say(self.stream, defuse(line))
        for found in file.diagnostics:
            say(self.stream, defuse(write_finding(found)))

    def finish(self, totals: Totals) -> None:
        if self.options.statistics:
            from doctor.output.statistics import list_statistics

            for line in list_statistics(totals):
                say(self.stream, line)


REPORTER = Concise


def write_finding(found: Diagnostic, path: str | None = None) -> str:
    """One finding as one harmless line. `path` names its file otherwise than the finding does."""
    column = found.column if found.line else 0
    notes = [found.confidence.value] if found.confidence is Confidence.POSSIBLE else []
    if found.fix is not None and found.fix.safety is not Safety.MANUAL:
        notes.append(f"{found.fix.safety.name.lower()} fix")
    tail = f" [{', '.join(notes)}]" if notes else ""
    where = found.path if path is None else path
    return neutralise(f"{where}:{found.line}:{column}: {found.code} {found.severity.value} {found.message}{tail}")


def _list_fixes(file: FileReport, options: Options) -> list[str]:
    if file.fix is None:
        return []
    verb = "would fix" if options.dry_run else "fixed"
    lines = [f"{file.path}: {verb} {fix.code} {fix.title}" for fix in file.fix.applied]
    lines += [f"{file.path}: held back {fix.code} {fix.title} [{fix.safety.name.lower()}]" for fix in file.fix.held_back]
    return [neutralise(line) for line in lines]
