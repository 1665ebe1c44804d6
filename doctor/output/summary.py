"""The numbers over a report, and the exit code that follows from it: the same for every format."""

from __future__ import annotations

from doctor.findings import Diagnostic, FileReport, Report, Safety, Severity
from doctor.records import Record

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130


class CodeCount(Record):
    """How often one code was found, in how many files, and how many of those findings come with a safe fix."""

    code: str
    name: str
    severity: Severity
    count: int
    files: int
    safe_fixes: int


class Summary(Record):
    """Counts over all files. A clean file has nothing above info."""

    files: int
    clean: int
    errors: int
    warnings: int
    infos: int
    safe_fixes: int
    unsafe_fixes: int
    verdicts: dict[str, int]
    codes: tuple[CodeCount, ...]


def is_clean(file: FileReport) -> bool:
    """Whether nothing above info was found."""
    return all(found.severity is Severity.INFO for found in file.diagnostics)


def count_fixes(diagnostics: tuple[Diagnostic, ...], safety: Safety) -> int:
    return sum(1 for found in diagnostics if found.fix is not None and found.fix.safety is safety)


def summarise(report: Report) -> Summary:
    verdicts: dict[str, int] = {}
    for file in report.files:
        verdicts[file.verdict] = verdicts.get(file.verdict, 0) + 1
    return Summary(
        files=len(report.files),
        clean=sum(1 for file in report.files if is_clean(file)),
        errors=report.count(Severity.ERROR),
        warnings=report.count(Severity.WARNING),
        infos=report.count(Severity.INFO),
        safe_fixes=sum(count_fixes(file.diagnostics, Safety.SAFE) for file in report.files),
        unsafe_fixes=sum(count_fixes(file.diagnostics, Safety.UNSAFE) for file in report.files),
        verdicts=verdicts,
        codes=_count_codes(report),
    )


def _count_codes(report: Report) -> tuple[CodeCount, ...]:
    """Most frequent first."""
    table: dict[str, CodeCount] = {}
    for file in report.files:
        seen: set[str] = set()
        for found in file.diagnostics:
            old = table.get(found.code) or CodeCount(found.code, found.name, found.severity, 0, 0, 0)
            table[found.code] = CodeCount(
                old.code,
                old.name,
                max(old.severity, found.severity, key=lambda severity: severity.rank),
                old.count + 1,
                old.files + (found.code not in seen),
                old.safe_fixes + (found.fix is not None and found.fix.safety is Safety.SAFE),
            )
            seen.add(found.code)
    return tuple(sorted(table.values(), key=lambda entry: (-entry.count, entry.code)))


def choose_exit_code(report: Report, *, fail_on: Severity = Severity.WARNING, exit_zero: bool = False, pending: bool = False) -> int:
    """0 clean; 1 findings at or above `fail_on`, or `pending` and a file would change; 2 when anything could not be done.

    `exit_zero` turns 1 into 0, never 2.
    """
    if report.errors:
        return FAILED
    if exit_zero:
        return CLEAN
    if any(found.severity.rank >= fail_on.rank for file in report.files for found in file.diagnostics):
        return FOUND
    if pending and any(file.fix is not None and file.fix.changed for file in report.files):
        return FOUND
    return CLEAN
