"""Runs rules over a session and stamps what they find with code, severity and place. A rule that crashes is reported, never swallowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.analysis.excerpts import build_excerpts
from doctor.analysis.targets import aim_session
from doctor.findings import Confidence, Diagnostic, Failure, FileReport, Finding, Fix, FixReport, LineOf, Related, Safety, Severity
from doctor.records import Record
from doctor.refusals import PAIRING_RULES, Violation
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.traits import find_traits

NO_WAY_IN = "AD602"
"""The finding that says that no client can resume a session, whatever a fix does to its rows."""
HARMLESS = "AD111"
"""Tells of bytes that are as good as others: who has nothing but that was not told what is damaged."""
MOST_EXCERPTS = 50
"""Rows are read again for this many findings of a file; a wholly broken file must not be read twice over."""


class Diagnosis(Record):
    """What all rules found, in the order of the file, and the rules that crashed."""

    diagnostics: tuple[Diagnostic, ...]
    failures: tuple[Failure, ...]


def diagnose(session: Session, rules: Sequence[Rule], excerpts: bool = True) -> Diagnosis:
    """Runs all rules. `excerpts=False` leaves out the rows of each finding and the words of providers: nobody reads them while planning.

    A session that nobody has aimed at a provider yet is judged for the one that it recorded.
    """
    if not session.aim:
        aim_session(session)
    found: list[tuple[Rule, Finding]] = []
    failures = []
    is_adapted = session.transcript.form is not None or (session.events is not None and len(session.events.rows) > 0)
    present = find_traits(session)
    for rule in rules:
        if rule.needs and not rule.needs & present:
            continue
        try:
            findings = list(_find(rule, session) if is_adapted else rule.check(session))
            if findings:
                found += [(rule, finding) for finding in findings]
        except Exception as error:
            failures.append(
                Failure(session.transcript.path, "rule-crash", f"rule {rule.code} crashed ({_place_crash(error)}); please report it")
            )
    if not found:
        return Diagnosis((), tuple(failures))
    found.sort(key=_sort_key)
    if excerpts:
        found = list(_quote_answers(session, found))
    diagnostics = [_stamp(session, rule, finding, excerpts and number < MOST_EXCERPTS) for number, (rule, finding) in enumerate(found)]
    return Diagnosis(tuple(diagnostics), tuple(failures))


def _find(rule: Rule, session: Session) -> Iterator[Finding]:
    """What a rule finds, as it holds for the format; what is said of moments that the transcript itself bears is about its rows."""
    form, events = session.transcript.form, session.events
    rows = events.rows if events is not None else ()
    for finding in rule.check(session):
        if form is not None:
            adapted = form.adapt(session, rule.code, finding)
            if adapted is None:
                continue
            finding = adapted
        yield place_in_rows(finding, rows) if rows else finding


def place_in_rows(finding: Finding, rows: Sequence[int]) -> Finding:
    """A finding about moments, moved to the rows that bear them. Bars over lines would show nothing there."""
    if finding.where == "events":
        finding = finding._replace(where="transcript", line=rows[finding.line] if finding.line is not None else None)
    related = {(row.where, row.line): row for row in reversed([_place_related(row, rows) for row in finding.related])}
    return finding._replace(related=tuple(reversed(related.values())), intervals=())


def _place_related(row: Related, rows: Sequence[int]) -> Related:
    return row._replace(where="transcript", line=rows[row.line]) if row.where == "events" else row


def _quote_answers(session: Session, found: Sequence[tuple[Rule, Finding]]) -> Iterator[tuple[Rule, Finding]]:
    """Puts the words of each provider that refuses it to each finding about calls and results."""
    tables: list[tuple[str, _Answers]] | None = None
    for rule, finding in found:
        if finding.wires is None and rule.code[2] == "3":
            if tables is None:
                tables = [(wire, _Answers(verdict.errors)) for wire, verdict in session.wires.items()]
            quoted = [(wire, answers.find_text(finding)) for wire, answers in tables]
            finding = finding._replace(wires=tuple((wire, text) for wire, text in quoted if text))
        yield rule, finding


class _Answers:
    """The pairing errors of one wire, by id and by line."""

    def __init__(self, errors: Sequence[Violation]) -> None:
        self.by_id: dict[str, list[Violation]] = {}
        self.by_line: dict[int, Violation] = {}
        for error in errors:
            if error.rule in PAIRING_RULES:
                for call_id in error.ids:
                    self.by_id.setdefault(call_id, []).append(error)
                for line in () if error.ids else error.lines:
                    self.by_line.setdefault(line, error)

    def find_text(self, finding: Finding) -> str:
        """The first answer that names an id of the finding, best with a line of it too; for wires that name no ids, a line."""
        lines = {row.line for row in finding.related if row.where == "transcript"} | {
            finding.line if finding.where == "transcript" and finding.line is not None else -1
        }
        named = [error for call_id in finding.ids for error in self.by_id.get(call_id, ())]
        best = next((error for error in named if lines.intersection(error.lines)), named[0] if named else None)
        best = best or next((self.by_line[line] for line in sorted(line for line in lines if line in self.by_line)), None)
        return best.text if best is not None else ""


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
        # What a wire may mind about a row counts where the row is sent as it is; of a platform's record nobody knows that.
        is_remote = session.is_record and not session.as_request and finding.wires is not None
        severity = min(severity, Severity.INFO if is_remote else Severity.WARNING, key=lambda value: value.rank)
    if finding.at_most is not None:
        severity = min(severity, finding.at_most, key=lambda value: value.rank)
    transcript = session.transcript
    path, byte_offset, message = transcript.path, 0, finding.message
    if finding.where == "transcript" and finding.line is not None and finding.line < transcript.line_count:
        form = transcript.form
        byte_offset = (form.place_row(transcript, finding.line) if form is not None else transcript.starts[finding.line]) + finding.column
        name = form.name_row(transcript, finding.line) if form is not None else ""
        message = f"{message} [{name}]" if name and name not in message else message
    elif finding.where == "events" and session.events is not None:
        path = session.events.path
    elif finding.where == "backup" and session.backup is not None:
        path = session.backup.path
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=severity,
        confidence=finding.confidence,
        message=message,
        path=path,
        line=0 if finding.line is None else finding.line + 1,
        column=finding.column + 1,
        byte_offset=byte_offset,
        ids=finding.ids,
        related=build_excerpts(session, finding) if with_excerpts else (),
        fix=_hold_back(rule, finding.fix) if session.is_record and finding.fix is not None else finding.fix,
        why=finding.why,
        intervals=finding.intervals,
        wires=finding.wires or (),
    )


def _hold_back(rule: Rule, fix: Fix) -> Fix:
    """Rows are written anew in Amplifier's spelling only: in a platform's own record they are moved or taken out, never made up."""
    writes = any(content.__class__ is not LineOf for edit in fix.edits for content in edit.contents)
    return Fix(f"{fix.title}: by hand, in the platform's own spelling", Safety.MANUAL) if writes and rule.code[2] > "1" else fix


def judge(session: Session, diagnostics: Sequence[Diagnostic]) -> str:
    """The verdict: resumable, after-fix, not-resumable, live or unknown (nothing could be read)."""
    if session.liveness.is_live:
        return "live"
    errors = [found for found in diagnostics if found.severity is Severity.ERROR]
    if any(found.code == NO_WAY_IN for found in errors):
        return "not-resumable"
    if not session.transcript.messages and errors:
        return "after-fix" if any(found.fix and found.fix.safety is Safety.SAFE for found in errors) else "unknown"
    unsound = session.pairing.list_unsound_ids()
    blocking = [found for found in errors if _blocks_resume(found, unsound, session.is_record)]
    if not blocking:
        looked = any(found.fix_pass < 4 and found.code != HARMLESS for found in diagnostics)
        damaged = unsound or session.transcript.line_problems or session.transcript.shape_problem_count
        return "unknown" if damaged and not looked else "resumable"
    return "after-fix" if all(found.fix and found.fix.safety > Safety.MANUAL for found in blocking) else "not-resumable"


def _blocks_resume(found: Diagnostic, unsound: set[str], is_record: bool) -> bool:
    """Whether an error stands in the way of a resume. `unsound`: ids of calls that are not answered as they must be. `is_record`: requests
    are built from the rows by the platform, which needs no ids for it.

    A placeholder hides work that was done, but a provider takes it; what only the event log knows counts where it can be put right.
    """
    if found.fix_pass == 5 and (found.fix is None or found.fix.safety is Safety.MANUAL):
        # History: where it left its mark on the rows, findings about the rows say so.
        return False
    if found.ids and found.fix_pass in (3, 5):
        return bool(unsound.intersection(found.ids))
    if found.fix_pass == 4 and found.fix is None and not found.wires:
        # What two replies said to a person stops no request.
        return False
    # Links that are broken stand in the way like rows that are.
    return found.fix_pass < 5 or (found.fix_pass == 7 and not is_record) or (found.fix is not None and found.fix.safety > Safety.MANUAL)


def count_rows(session: Session) -> int:
    transcript = session.transcript
    return int(transcript.form.count_rows(transcript)) if transcript.form is not None else len(transcript.messages)


def report_session(session: Session, diagnosis: Diagnosis, fix: FixReport | None = None) -> FileReport:
    """All that is said about one session."""
    events = session.events
    return FileReport(
        path=session.transcript.path,
        format=session.transcript.format,
        session_id=session.session_id,
        verdict=judge(session, diagnosis.diagnostics),
        rows=count_rows(session),
        diagnostics=diagnosis.diagnostics,
        events_path=events.path if events is not None and events.path != session.transcript.path else "",
        event_lines=events.line_count if events is not None and events.path != session.transcript.path else 0,
        liveness=session.liveness.reason,
        fix=fix,
        wires=tuple(session.wires.values()),
        targets=session.targets,
        aim=session.aim,
        model=session.model,
    )
