"""The last lines about a file: can it be resumed, and which command comes next."""

from __future__ import annotations

from doctor.findings import FileReport, Safety, Severity
from doctor.output.options import Options
from doctor.output.summary import count_fixes
from doctor.output.text import count_of, join_counts, neutralise, write_command


def describe_verdict(file: FileReport) -> str:
    """`not resumable as it is · resumable after fix (2 safe fixes)`"""
    safe = count_fixes(file.diagnostics, Safety.SAFE)
    unsafe = count_fixes(file.diagnostics, Safety.UNSAFE)
    if file.verdict == "resumable":
        parts = ["resumable", f"{count_of(safe, 'safe fix')} on offer" if safe else ""]
    elif file.verdict == "after-fix":
        needed = "fix --unsafe" if _needs_unsafe(file) else "fix"
        parts = ["not resumable as it is", f"resumable after {needed} ({join_counts([(safe, 'safe fix'), (unsafe, 'unsafe fix')])})"]
    elif file.verdict == "live":
        reason = neutralise(file.liveness) or "somebody is in this session"
        parts = [f"live: {reason}", "fix does not touch it; check again when it is quiet"]
    elif file.verdict == "not-resumable":
        parts = ["not resumable", f"{count_of(unsafe, 'fix')} only with --unsafe" if unsafe else _name_unfixed(file)]
    else:
        parts = ["unknown: too little could be read to judge it"]
    refusing = sorted(getattr(file, "wires", None) or {})
    if refusing:
        parts.append("refused by " + ", ".join(refusing))
    return " · ".join(part for part in parts if part)


def _needs_unsafe(file: FileReport) -> bool:
    """Whether an error is left that only an unsafe fix cures."""
    errors = (found for found in file.diagnostics if found.severity is Severity.ERROR)
    return any(found.fix is not None and found.fix.safety is Safety.UNSAFE for found in errors)


def _name_unfixed(file: FileReport) -> str:
    codes = sorted({found.code for found in file.diagnostics if found.severity is Severity.ERROR and found.fix is None})
    return f"no fix for {', '.join(codes)}" if codes else ""


def suggest_next(file: FileReport, options: Options) -> str:
    """The exact command to run next after a check, "" when there is nothing to do."""
    if file.verdict == "live" or file.path == "-":
        return ""
    if count_fixes(file.diagnostics, Safety.SAFE) and not _needs_unsafe(file):
        return write_command("fix", "--dry-run", *options.carried, file.path)
    if count_fixes(file.diagnostics, Safety.UNSAFE):
        return write_command("fix", "--dry-run", "--unsafe", *options.carried, file.path)
    worst = max((found for found in file.diagnostics), key=lambda found: found.severity.rank, default=None)
    if worst is None or worst.severity is Severity.INFO:
        return ""
    return write_command("explain", worst.code)
