"""The numbers over a run, counted while files come in, and the exit code that follows from them: the same for every format."""

from __future__ import annotations

from doctor.findings import Diagnostic, Failure, FileReport, Report, Safety, Severity

CLEAN, FOUND, FAILED = 0, 1, 2


class CodeCount:
    """How often one code was found, in how many files, how severe at worst, and how many of those findings come with a safe fix."""

    __slots__ = ("code", "count", "files", "name", "safe_fixes", "severity")

    def __init__(self, code: str, name: str, severity: Severity) -> None:
        self.code = code
        self.name = name
        self.severity = severity
        self.count = self.files = self.safe_fixes = 0


class Totals:
    """Counts over all files. A clean file has nothing above info. Memory follows the number of codes, not of files."""

    __slots__ = ("accepted", "changed", "clean", "codes", "failures", "files", "safe_fixes", "severities", "unsafe_fixes", "verdicts")

    def __init__(self) -> None:
        self.files = self.clean = self.failures = self.changed = self.accepted = 0
        self.safe_fixes = self.unsafe_fixes = 0
        self.severities: dict[Severity, int] = dict.fromkeys(Severity, 0)
        self.verdicts: dict[str, int] = {}
        self.codes: dict[str, CodeCount] = {}

    def add(self, file: FileReport) -> None:
        self.files += 1
        self.clean += is_clean(file)
        self.accepted += len(file.accepted)
        self.changed += file.fix is not None and file.fix.changed
        self.verdicts[file.verdict] = self.verdicts.get(file.verdict, 0) + 1
        seen: set[str] = set()
        for found in file.diagnostics:
            self._count(found, found.code not in seen)
            seen.add(found.code)

    def fail(self, failure: Failure) -> None:
        self.failures += 1

    def _count(self, found: Diagnostic, first_in_file: bool) -> None:
        safety = found.fix.safety if found.fix is not None else None
        self.severities[found.severity] += 1
        self.safe_fixes += safety is Safety.SAFE
        self.unsafe_fixes += safety is Safety.UNSAFE
        entry = self.codes.get(found.code)
        if entry is None:
            entry = self.codes[found.code] = CodeCount(found.code, found.name, found.severity)
        if found.severity.rank > entry.severity.rank:
            entry.severity = found.severity
        entry.count += 1
        entry.files += first_in_file
        entry.safe_fixes += safety is Safety.SAFE

    def list_codes(self) -> list[CodeCount]:
        """Most frequent first."""
        return sorted(self.codes.values(), key=lambda entry: (-entry.count, entry.code))

    @property
    def errors(self) -> int:
        return self.severities[Severity.ERROR]

    @property
    def warnings(self) -> int:
        return self.severities[Severity.WARNING]

    @property
    def infos(self) -> int:
        return self.severities[Severity.INFO]


def is_clean(file: FileReport) -> bool:
    """Whether nothing above info was found."""
    return all(found.severity is Severity.INFO for found in file.diagnostics)


def count_fixes(diagnostics: tuple[Diagnostic, ...], safety: Safety) -> int:
    return sum(1 for found in diagnostics if found.fix is not None and found.fix.safety is safety)


def total(report: Report) -> Totals:
    """The numbers over a whole report."""
    totals = Totals()
    for file in report.files:
        totals.add(file)
    for failure in report.errors:
        totals.fail(failure)
    return totals


def choose_exit_code(totals: Totals, *, fail_on: Severity = Severity.WARNING, exit_zero: bool = False, pending: bool = False) -> int:
    """0 clean; 1 findings at or above `fail_on`, or `pending` and a file would change; 2 when anything could not be done.

    `exit_zero` turns 1 into 0, never 2.
    """
    if totals.failures:
        return FAILED
    if exit_zero:
        return CLEAN
    if any(count for severity, count in totals.severities.items() if severity.rank >= fail_on.rank):
        return FOUND
    return FOUND if pending and totals.changed else CLEAN
