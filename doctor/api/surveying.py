"""`scan`: one row for each of many sessions, the worst first. One that can't be read never stops the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from doctor.analysis.registry import load_rules
from doctor.analysis.survey import SurveyRow, begin_row, sort_rows, survey_session
from doctor.api.pooling import Work, run_work
from doctor.api.reading import locate_session_state
from doctor.findings import Failure
from doctor.records import Record
from doctor.sources.source import measure_file
from doctor.sources.stores import SessionPlace
from doctor.sources.surroundings import Surroundings
from doctor.sources.writers import find_writers

HEAVY = ("doctor.sources.events", "doctor.analysis.wires.verdict")
"""Modules that hardly any store does without, and that each worker would load for itself."""


class SurveyOrder(Record):
    """What every session is looked at with."""

    now: float
    state_home: str | None
    writers: Mapping[str, int]


def survey(
    places: Sequence[SessionPlace],
    *,
    now: float,
    environment: Mapping[str, str] | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[SurveyRow]:
    """A row for each session, the worst first, among equals the newest. `jobs` and `progress`: see `check_each`."""
    # No default of the signature: its help would print the environment.
    environment = os.environ if environment is None else environment
    work = Work(make_surveyor, SurveyOrder(now, locate_session_state(environment), find_writers()), give_up, HEAVY)
    rows = []
    for row in run_work(work, places, jobs, measure_place):
        rows.append(row)
        if progress is not None:
            progress(len(rows), len(places))
    return sort_rows(rows)


def make_surveyor(order: SurveyOrder) -> Callable[[Sequence[SessionPlace]], list[SurveyRow]]:
    """The function that looks at a few sessions, in this process or in a worker."""
    from time import perf_counter

    rules, around = load_rules(), Surroundings()

    def survey_some(places: Sequence[SessionPlace]) -> list[SurveyRow]:
        rows = []
        for place in places:
            around.pass_time(perf_counter())
            rows.append(survey_session(place, rules, **order._asdict(), around=around))
        return rows

    return survey_some


def give_up(place: SessionPlace) -> SurveyRow:
    """The row of a session whose worker died of it."""
    said = f"can't judge {place.transcript}: the process that read it was killed, perhaps because memory ran out"
    return begin_row(place)._replace(failures=(Failure(place.transcript, "killed", said),))


def measure_place(place: SessionPlace) -> int:
    return measure_file(place.transcript) + (measure_file(place.events) // 8 if place.events else 0)
