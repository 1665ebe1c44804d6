"""What a session is worth in a list of many: one row, also where it can't be read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from doctor.analysis.engine import Diagnosis, diagnose, judge
from doctor.errors import DoctorError
from doctor.findings import Diagnostic, Failure, Severity
from doctor.records import Record
from doctor.resuming import is_sub_session, name_move
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.session import read_session
from doctor.sources.stores import SessionPlace
from doctor.sources.surroundings import Surroundings

BROKEN_FIRST = ("not-resumable", "unreadable", "unknown", "after-fix", "live", "resumable")
"""Verdicts, the worst first."""
COUNTERS = ("errors", "warnings", "notes")


class SurveyRow(Record):
    """One session. `modified`: when its transcript or events were last written, in seconds since the epoch. `size`: bytes of both.

    `verdict` is that of a check, or "unreadable"; `move` is what to do where a resume is no use; `codes` are those of errors and warnings,
    the worst first.
    """

    session_id: str
    project: str
    path: str
    modified: float
    size: int
    turns: int
    verdict: str
    liveness: str
    move: str
    errors: int
    warnings: int
    notes: int
    codes: tuple[str, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether something stands in the way of a resume, or was lost."""
        return self.errors > 0 or bool(self.failures) or self.verdict in ("not-resumable", "unreadable", "unknown", "after-fix")


def begin_row(place: SessionPlace) -> SurveyRow:
    """The row of a session that nobody has read yet, or could read."""
    modified, size = _measure(place)
    return SurveyRow(place.session_id, place.project, place.transcript, modified, size, 0, "unreadable", "", "", 0, 0, 0, ())


def survey_session(
    place: SessionPlace,
    rules: Sequence[Rule],
    *,
    now: float,
    state_home: str | None,
    writers: Mapping[str, int],
    around: Surroundings | None = None,
) -> SurveyRow:
    """One row; whatever goes wrong is in its failures. `writers`: what `find_writers` found."""
    empty = begin_row(place)
    try:
        events = None if place.events or place.modified or "#" in place.transcript else False
        session = read_session(place.transcript, events=events, now=now, state_home=state_home, writers=writers, around=around)
        diagnosis = diagnose(session, rules, excerpts=False)
    except DoctorError as error:
        return empty._replace(failures=(Failure(error.path or place.transcript, error.kind, error.message),))
    except OSError as error:
        return empty._replace(failures=(_describe(place, "unreadable", error.strerror or str(error)),))
    except Exception as error:
        return empty._replace(failures=(_describe(place, "internal", f"{type(error).__name__}: {error}"),))
    return _fill(empty, session, diagnosis)


def sort_rows(rows: Iterable[SurveyRow]) -> list[SurveyRow]:
    """The worst first: by verdict, then by errors and warnings, then the newest."""
    return sorted(
        rows, key=lambda row: (not row.is_broken, BROKEN_FIRST.index(row.verdict), -row.errors, -row.warnings, -row.modified, row.path)
    )


def measure_age(place: SessionPlace) -> float:
    """When a session was last written, in seconds since the epoch; 0 when its files are gone."""
    return _measure(place)[0]


def _fill(empty: SurveyRow, session: Session, diagnosis: Diagnosis) -> SurveyRow:
    found = diagnosis.diagnostics
    verdict = judge(session, found)
    counts = [sum(1 for item in found if item.severity is severity) for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)]
    return empty._replace(
        # A session in a database has no file: what it would be as an export counts.
        size=empty.size or session.transcript.source.size,
        turns=sum(1 for message in session.transcript.messages if message[2] == "prompt"),
        verdict=verdict,
        liveness=session.liveness.reason if session.liveness.is_live else "",
        move=_name_move(session) if verdict == "not-resumable" else "",
        codes=_list_codes(found),
        failures=diagnosis.failures,
        **dict(zip(COUNTERS, counts, strict=True)),
    )


def _name_move(session: Session) -> str:
    return "re-delegate" if is_sub_session(session.session_id, session.metadata) else name_move(session.session_id, session.metadata)


def _list_codes(found: Sequence[Diagnostic]) -> tuple[str, ...]:
    worth = sorted((item for item in found if item.severity is not Severity.INFO), key=lambda item: (-item.severity.rank, item.code))
    return tuple(dict.fromkeys(item.code for item in worth))


def _measure(place: SessionPlace) -> tuple[float, int]:
    modified, size = place.modified, 0
    for path in (place.transcript, place.events):
        try:
            status = os.stat(path) if path else None
        except OSError:
            continue
        if status is not None:
            modified, size = max(modified, status.st_mtime), size + status.st_size
    return modified, size


def _describe(place: SessionPlace, kind: str, reason: str) -> Failure:
    said = " ".join(reason.split())
    return Failure(place.transcript, kind, f"can't judge {place.transcript}: {said}")
