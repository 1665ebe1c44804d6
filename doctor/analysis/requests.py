"""Checks request bodies as they are sent: what their API would answer becomes diagnostics under the doctor's own codes."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.analysis.errors_catalogue import load_entries
from doctor.analysis.wires import check_request
from doctor.findings import Confidence, Diagnostic, FileReport, Severity
from doctor.refusals import ACCEPTED, DEPENDS, ERROR, REFUSED, Violation, WireVerdict
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.formats.request import RequestBody, read_requests

UNCOVERED = "AD506"
"""The code for what no stored transcript causes: it is a provider's refusal all the same."""
MOST_OF_ONE_BODY = 100


def check_requests(session: Session, rules: Sequence[Rule], wires: Sequence[str], model: str, host: str) -> FileReport:
    """All bodies of a file, each against its own wire, or against all of `wires` where some are given.

    Raises DoctorError: the file holds no request body.
    """
    transcript = session.transcript
    bodies = read_requests(transcript.source, transcript.path)
    names = {rule.code: rule.name for rule in rules}
    found: dict[str, list[Violation]] = {}
    diagnostics = []
    for body in bodies:
        for wire in wires or (body.wire,):
            violations = check_request(body.body, wire, host or body.host, model or body.model)
            found.setdefault(wire, []).extend(violations)
            offset = transcript.starts[body.line] if body.line < len(transcript.starts) else 0
            diagnostics += [
                diagnostic
                for violation in violations[:MOST_OF_ONE_BODY]
                if (diagnostic := _describe(violation, wire, body, transcript.path, offset, names, len(bodies) > 1)) is not None
            ]
    answers = tuple(WireVerdict(wire, _answer(violations), _errors_first(violations)) for wire, violations in found.items())
    refused = any(answer.answer == REFUSED for answer in answers)
    return FileReport(
        path=transcript.path,
        format=transcript.format,
        session_id="",
        verdict="not-resumable" if refused else "resumable",
        rows=len(bodies),
        diagnostics=tuple(diagnostics),
        wires=answers,
        targets=tuple(found),
        aim="given" if wires else "recorded",
        model=model or bodies[0].model,
    )


def _answer(violations: Sequence[Violation]) -> str:
    if not violations:
        return ACCEPTED
    return REFUSED if any(found.severity == ERROR for found in violations) else DEPENDS


def _errors_first(violations: Sequence[Violation]) -> tuple[Violation, ...]:
    return tuple(sorted(violations, key=lambda found: found.severity != ERROR))


def _describe(
    violation: Violation, wire: str, body: RequestBody, path: str, offset: int, names: dict[str, str], one_of_many: bool
) -> Diagnostic | None:
    """One violation as a diagnostic; None when its rule is not selected."""
    known = (violation.code,) if violation.code else find_codes(violation.rule)
    code = next((code for code in known if code in names), "") if known else UNCOVERED
    if code not in names:
        return None
    sure = violation.severity == ERROR
    place = f" at {violation.param}" if violation.param else ""
    doubt = f" (it depends on {violation.depends})" if violation.depends else ""
    if violation.text:
        said = f"{wire} {'answers' if sure else 'may answer'} 400, {violation.rule}{place}: {violation.text}"
    else:
        said = f"{wire} {'refuses' if sure else 'may refuse'} it, {violation.rule}{place}"
        said += f": {violation.reason} (its words for this are not known)" if violation.reason else ""
    number = f"body {body.line + 1}: " if one_of_many else ""
    return Diagnostic(
        code=code,
        name=names[code],
        severity=Severity.ERROR if sure else Severity.WARNING,
        confidence=Confidence.CONFIRMED if sure else Confidence.POSSIBLE,
        message=f"{number}{said}{doubt}",
        path=path,
        line=body.line + 1,
        column=1,
        byte_offset=offset,
        ids=violation.ids,
        related=(),
        fix=None,
        wires=((wire, violation.text),) if sure and violation.text else (),
    )


def find_codes(rule: str) -> tuple[str, ...]:
    """The doctor's codes that cover a rule of a contract, the likeliest first."""
    return next((entry.codes for entry, _, _ in load_entries() if entry.rule == rule), ())
