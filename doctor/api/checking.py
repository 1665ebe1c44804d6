"""`check`: what is wrong with each transcript, and whether its session can be resumed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import load_common_rules, load_rules, select_rules
from doctor.analysis.targets import check_wires
from doctor.api.reading import REQUEST, Aim, Target, add_children, describe_failure, find_targets, how_to_read, name_target, read_target
from doctor.findings import Failure, FileReport, Report
from doctor.rulekit import Rule
from doctor.session import Session


def check(paths: Target | Iterable[Target], *, debug: bool = False, **how: Any) -> Report:
    """What is wrong with each transcript, and whether its session can be resumed. For the arguments see `check_each`."""
    files: list[FileReport] = []
    failures: list[Failure] = []
    for outcome in check_each(paths, debug=debug, **how):
        failures += outcome.failures
        if outcome.file is not None:
            files.append(outcome.file)
    return Report(tuple(files), tuple(failures))


class Outcome(NamedTuple):
    """What became of one target: its report, None where it could not be read, and what went wrong on the way."""

    file: FileReport | None
    failures: tuple[Failure, ...] = ()


class Order(NamedTuple):
    """All that decides how a target is judged, beside its bytes."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    aim: Aim
    how: Mapping[str, Any]
    """The arguments of `read_session`."""
    debug: bool


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
    now: float | None = None,
    environment: Mapping[str, str] = os.environ,
    debug: bool = False,
) -> Iterator[Outcome]:
    """Checks one target after the other, and forgets each once it is handed out.

    `select` and `ignore` take codes, prefixes of codes, names, or "ALL". `events` is an event log, False for none, None for the one
    beside the transcript. `as_request`: judge the transcript as a request that is sent as it is. `now` (seconds since the epoch) and
    `environment` decide whether a session counts as live; the defaults are the clock and the process's own environment. `debug` lets an
    internal error out, with its traceback, where it otherwise becomes one more Failure.

    A file of request bodies (one JSON body, or one a line) is checked as it is sent. `children`: check the sub-sessions that a session
    delegated to as well, and theirs. A path may also be a pattern, or the beginning of a session's id in one of this machine's stores.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or there is nothing to check.
    """
    aim = Aim(check_wires(wires), model, host)
    order = Order(tuple(select), tuple(ignore), aim, how_to_read(events, as_request, now, environment), debug)
    rules = select_rules(load_rules(), select, ignore) if select or ignore else load_common_rules()
    targets, failures = find_targets(paths, environment)
    if failures:
        yield Outcome(None, tuple(failures))
    for target in add_children(targets) if children else targets:
        yield check_target(target, order, rules)


def check_target(target: Target, order: Order, rules: Sequence[Rule]) -> Outcome:
    """Judges one target; nothing but its files and its arguments decides the outcome."""
    try:
        session = read_target(target, order.how, order.aim)
        if session.transcript.format == REQUEST:
            return Outcome(_check_requests(session, rules, order.aim))
        if session.transcript.form is not None and not (order.select or order.ignore):
            rules = load_rules()
        diagnosis = diagnose(session, rules)
        return Outcome(report_session(session, diagnosis), tuple(diagnosis.failures))
    except Exception as error:
        return Outcome(None, (describe_failure(name_target(target), error, order.debug),))


def _check_requests(session: Session, rules: Sequence[Rule], aim: Aim) -> FileReport:
    from doctor.analysis.requests import check_requests

    return check_requests(session, rules, aim.wires, aim.model, aim.host)
