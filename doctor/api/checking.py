"""`check`: what is wrong with each transcript, and whether its session can be resumed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import load_rules, select_rules
from doctor.analysis.targets import check_wires
from doctor.api.reading import REQUEST, Aim, Target, add_children, describe_failure, find_targets, how_to_read, name_target, read_target
from doctor.findings import FileReport, Report
from doctor.rulekit import Rule
from doctor.session import Session


def check(
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
) -> Report:
    """What is wrong with each transcript, and whether its session can be resumed.

    `select` and `ignore` take codes, prefixes of codes, names, or "ALL". `events` is an event log, False for none, None for the one
    beside the transcript. `as_request`: judge the transcript as a request that is sent as it is. `now` (seconds since the epoch) and
    `environment` decide whether a session counts as live; the defaults are the clock and the process's own environment. `debug` lets an
    internal error out, with its traceback, where it otherwise becomes one more Failure.

    A file of request bodies (one JSON body, or one a line) is checked as it is sent. `children`: check the sub-sessions that a session
    delegated to as well, and theirs. A path may also be a pattern, or the beginning of a session's id in one of this machine's stores.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or there is nothing to check.
    """
    rules = select_rules(load_rules(), select, ignore)
    aim = Aim(check_wires(wires), model, host)
    targets, failures = find_targets(paths, environment)
    targets = add_children(targets) if children else targets
    how = how_to_read(events, as_request, now, environment)
    files: list[FileReport] = []
    for target in targets:
        try:
            session = read_target(target, how, aim)
            if session.transcript.format == REQUEST:
                files.append(_check_requests(session, rules, aim))
                continue
            diagnosis = diagnose(session, rules)
            failures += diagnosis.failures
            files.append(report_session(session, diagnosis))
        except Exception as error:
            failures.append(describe_failure(name_target(target), error, debug))
    return Report(tuple(files), tuple(failures))


def _check_requests(session: Session, rules: Sequence[Rule], aim: Aim) -> FileReport:
    from doctor.analysis.requests import check_requests

    return check_requests(session, rules, aim.wires, aim.model, aim.host)
