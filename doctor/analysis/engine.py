"""Runs rules over a session and stamps what they find with code, severity and place. A rule that crashes is reported, never swallowed."""

# No postponed annotations: see doctor/findings.py.

from collections.abc import Sequence
from typing import NamedTuple

from doctor.analysis.excerpts import build_excerpts
from doctor.findings import Confidence, Diagnostic, Failure, FileReport, Finding, FixReport, Safety, Severity
from doctor.model import Session
from doctor.rulekit import Rule

MOST_EXCERPTS = 50
"""Rows are read again for this many findings of a file; a wholly broken file must not be read twice over."""


class Diagnosis(NamedTuple):
    """What all rules found, in the order of the file, and the rules that crashed."""

    diagnostics: tuple[Diagnostic, ...]
    failures: tuple[Failure, ...]


def diagnose(session: Session, rules: Sequence[Rule], excerpts: bool = True) -> Diagnosis:
    """Runs all rules. `excerpts=False` leaves the rows of each finding out, for planning where nobody reads them."""
    found: list[tuple[Rule, Finding]] = []
    failures = []
    for rule in rules:
        try:
            found += [(rule, finding) for finding in rule.check(session)]
        except Exception as error:
            failures.append(
                Failure(session.transcript.path, "rule-crash", f"rule {rule.code} crashed ({_place_crash(error)}); please report it")
            )
    found.sort(key=_sort_key)
    diagnostics = [_stamp(session, rule, finding, excerpts and number < MOST_EXCERPTS) for number, (rule, finding) in enumerate(found)]
    return Diagnosis(tuple(diagnostics), tuple(failures))


def _place_crash(error: Exception) -> str:
    """The exception and the last place it passed, so that one line is enough for a report."""
    import os
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f", {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}".replace("\n", " ")


def _sort_key(item: tuple[Rule, Finding]) -> tuple[bool, int, int, str]:
    rule, finding = item
    on_transcript = finding.where == "transcript" and finding.line is not None
    return (not on_transcript, finding.line or 0, finding.column, rule.code)


def _stamp(session: Session, rule: Rule, finding: Finding, with_excerpts: bool) -> Diagnostic:
    severity = rule.severity
    if finding.confidence is Confidence.POSSIBLE:
        severity = min(severity, Severity.WARNING, key=lambda value: value.rank)
    if finding.at_most is not None:
        severity = min(severity, finding.at_most, key=lambda value: value.rank)
    transcript = session.transcript
    path, byte_offset = transcript.path, 0
    if finding.where == "transcript" and finding.line is not None and finding.line < transcript.line_count:
        byte_offset = transcript.starts[finding.line] + finding.column
    elif finding.where == "events" and session.events is not None:
        path = session.events.path
    elif finding.where == "backup" and session.backup is not None:
        path = session.backup.path
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=severity,
        confidence=finding.confidence,
        message=finding.message,
        path=path,
        line=0 if finding.line is None else finding.line + 1,
        column=finding.column + 1,
        byte_offset=byte_offset,
        ids=finding.ids,
        related=build_excerpts(session, finding) if with_excerpts else (),
        fix=finding.fix,
        why=finding.why,
        intervals=finding.intervals,
    )


def judge(session: Session, diagnostics: Sequence[Diagnostic]) -> str:
    """The verdict: resumable, after-fix, not-resumable, live or unknown (nothing could be read)."""
    if session.liveness.is_live:
        return "live"
    errors = [found for found in diagnostics if found.severity is Severity.ERROR]
    if not session.transcript.messages and errors:
        return "after-fix" if any(found.fix and found.fix.safety is Safety.SAFE for found in errors) else "unknown"
    # From 5 on the passes are about what the event log knows: only what can be put right stands in the way of a resume.
    blocking = [found for found in errors if found.fix_pass < 5 or (found.fix is not None and found.fix.safety > Safety.MANUAL)]
    if not blocking:
        return "resumable"
    return "after-fix" if all(found.fix and found.fix.safety > Safety.MANUAL for found in blocking) else "not-resumable"


def report_session(session: Session, diagnosis: Diagnosis, fix: FixReport | None = None) -> FileReport:
    """All that is said about one session."""
    events = session.events
    return FileReport(
        path=session.transcript.path,
        format=session.transcript.format,
        session_id=session.session_id,
        verdict=judge(session, diagnosis.diagnostics),
        rows=len(session.transcript.messages),
        diagnostics=diagnosis.diagnostics,
        events_path=events.path if events is not None else "",
        event_lines=events.line_count if events is not None else 0,
        liveness=session.liveness.reason,
        fix=fix,
    )
