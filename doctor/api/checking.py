"""`check`: what is wrong with each transcript, and whether its session can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import load_common_rules, load_rules, select_rules
from doctor.analysis.targets import check_wires
from doctor.api.reading import (
    REQUEST,
    Aim,
    Target,
    add_children,
    describe_failure,
    find_targets,
    how_to_read,
    locate_target,
    name_target,
    read_target,
)
from doctor.findings import Failure, FileReport, Report
from doctor.records import Record
from doctor.rulekit import Rule
from doctor.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from doctor.api.configuring import Course
    from doctor.settings.model import Tuning


def check(paths: Target | Iterable[Target], *, debug: bool = False, **how: Any) -> Report:
    """What is wrong with each transcript, and whether its session can be resumed. For the arguments see `check_each`."""
    return collect(check_each(paths, debug=debug, **how))


class Outcome(Record):
    """What became of one target: its report, None where it could not be read, and what went wrong on the way."""

    file: FileReport | None
    failures: tuple[Failure, ...] = ()


def collect(outcomes: Iterable[Outcome]) -> Report:
    """All outcomes of a run in one report."""
    files: list[FileReport] = []
    failures: list[Failure] = []
    for outcome in outcomes:
        failures += outcome.failures
        if outcome.file is not None:
            files.append(outcome.file)
    return Report(tuple(files), tuple(failures))


class Order(Record):
    """All that decides how a target is judged, beside its bytes."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    aim: Aim
    how: Mapping[str, Any]
    """The arguments of `read_session`."""
    debug: bool
    spell: bool = False
    tuning: Tuning | None = None
    """Settings for single rules and files."""


def check_each(
    paths: Target | Iterable[Target],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    events: str | bool | None = None,
    as_request: bool = False,
    wires: Sequence[str] = (),
    model: str = "",
    host: str = "",
    children: bool = False,
    course: Course | None = None,
    now: float | None = None,
    environment: Mapping[str, str] = os.environ,
    watch: Callable[[int, int], None] | None = None,
    debug: bool = False,
    spell: bool = False,
) -> Iterator[Outcome]:
    """Checks one target after the other, and forgets each once it is handed out.

    `select` and `ignore` take codes, prefixes of codes, names, or "ALL". `events` is an event log, False for none, None for the one
    beside the transcript. `as_request`: judge the transcript as a request that is sent as it is. `now` (seconds since the epoch) and
    `environment` decide whether a session counts as live; the defaults are the clock and the process's own environment. `debug` lets an
    internal error out, with its traceback, where it otherwise becomes one more Failure. `spell`: short fixes hold the bytes that they
    replace (`Fix.replacements`).

    A file of request bodies (one JSON body, or one a line) is checked as it is sent. `children`: check the sub-sessions that a session
    delegated to as well, and theirs. A path may also be a pattern, or the beginning of a session's id in one of this machine's stores.
    `course`: the configuration that the run is under, see `doctor.api.configuring`.

    `watch` is told, where there is one target only, how many bytes of a large event log are read, and of how many.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or there is nothing to check.
    """
    aim = Aim(check_wires(wires), model, host)
    tuning = course.tuning if course is not None else None
    order = Order(tuple(select), tuple(ignore), aim, how_to_read(events, as_request, now, environment), debug, spell, tuning)
    rules = select_rules(load_rules(), select, ignore) if select or ignore else load_common_rules()
    targets, failures = find_targets(paths, environment) if course is None else find_targets(paths, environment, course.find)
    if failures:
        yield Outcome(None, tuple(failures))
    targets = add_children(targets) if children else targets
    if watch is not None and len(targets) == 1:
        order = order._replace(how={**order.how, "watch": watch})
    for target in targets:
        outcome = check_target(target, order, rules)
        yield outcome if course is None or outcome.file is None else outcome._replace(file=course.finish(outcome.file))


def check_target(target: Target, order: Order, rules: Sequence[Rule]) -> Outcome:
    """Judges one target; nothing but its files and its arguments decides the outcome."""
    try:
        if order.tuning is not None:
            from doctor.settings.selecting import tune_rules

            rules = tune_rules(rules, order.tuning, locate_target(target))
        session = read_target(target, order.how, order.aim)
        if session.transcript.format == REQUEST:
            return Outcome(_check_requests(session, rules, order.aim))
        if session.transcript.form is not None and not (order.select or order.ignore):
            rules = load_rules()
        diagnosis = diagnose(session, rules)
        if order.spell:
            from doctor.repair.replacements import spell_fixes

            diagnosis = diagnosis._replace(diagnostics=spell_fixes(session.transcript, diagnosis.diagnostics))
        return Outcome(report_session(session, diagnosis), tuple(diagnosis.failures))
    except Exception as error:
        return Outcome(None, (describe_failure(name_target(target), error, order.debug),))


def _check_requests(session: Session, rules: Sequence[Rule], aim: Aim) -> FileReport:
    from doctor.analysis.requests import check_requests

    return check_requests(session, rules, aim.wires, aim.model, aim.host)
