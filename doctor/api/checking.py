"""`check`: what is wrong with each transcript, and whether its session can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import load_rules, select_rules
from doctor.analysis.targets import check_wires
from doctor.api.reading import REQUEST, Aim, Target, add_children, describe_failure, how_to_read, name_target, read_target, walk_targets
from doctor.findings import Failure, FileReport, Report
from doctor.records import Record
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.siblings import EVENTS
from doctor.sources.source import measure_file
from doctor.sources.surroundings import Surroundings

TARGETS_PER_LOOK = 16
"""After so many sessions the surroundings are looked at anew: some milliseconds."""
TARGETS_PER_CLEANING = 4_096
"""The command line runs without the garbage collector; what little a session leaves behind in circles must not add up for ever."""
MOST_AHEAD = 100_000
"""Targets that are listed before the first is checked, so that progress knows its end; beyond that memory must not follow the corpus."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check(paths: Target | Iterable[Target], *, debug: bool = False, **how: Any) -> Report:
    """What is wrong with each transcript, and whether its session can be resumed. For the arguments see `check_each`."""
    files: list[FileReport] = []
    failures: list[Failure] = []
    for outcome in check_each(paths, debug=debug, **how):
        failures += outcome.failures
        if outcome.file is not None:
            files.append(outcome.file)
    return Report(tuple(files), tuple(failures))


class Outcome(Record):
    """What became of one target: its report, None where it could not be read, and what went wrong on the way.

    `seconds` is how long it took, by the clock: the one thing that differs from run to run.
    """

    file: FileReport | None
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0


class Lookahead:
    """Targets in their order, listed as far ahead as is wise. `known`: how many were listed so far."""

    def __init__(self, targets: Iterator[Target], most: int = MOST_AHEAD) -> None:
        self._rest = targets
        self._ahead = list(islice(targets, most))
        self.known = len(self._ahead)

    def __iter__(self) -> Iterator[Target]:
        ahead, self._ahead = self._ahead, []
        yield from ahead
        for target in self._rest:
            self.known += 1
            yield target


class Order(Record):
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
    watch: Callable[[int, int], None] | None = None,
    debug: bool = False,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Outcome]:
    """Checks one target after the other, and forgets each once it is handed out.

    `select` and `ignore` take codes, prefixes of codes, names, or "ALL". `events` is an event log, False for none, None for the one
    beside the transcript. `as_request`: judge the transcript as a request that is sent as it is. `now` (seconds since the epoch) and
    `environment` decide whether a session counts as live; the defaults are the clock and the process's own environment. `debug` lets an
    internal error out, with its traceback, where it otherwise becomes one more Failure.

    A file of request bodies (one JSON body, or one a line) is checked as it is sent. `children`: check the sub-sessions that a session
    delegated to as well, and theirs. A path may also be a pattern, or the beginning of a session's id in one of this machine's stores.

    `watch` is told, where there is one target only, how many bytes of a large event log are read, and of how many.

    `jobs`: how many processes share the work; 0 for all processors where there is work enough for them. The outcomes and their order are
    the same for any number. `progress` is told how many targets are done, and how many are known by then.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or there is nothing to check.
    """
    aim = Aim(check_wires(wires), model, host)
    order = Order(tuple(select), tuple(ignore), aim, how_to_read(events, as_request, now, environment), debug)
    select_rules(load_rules(), select, ignore)
    missing: list[Failure] = []
    targets = walk_targets(paths, environment, missing)
    ahead = Lookahead(add_children(targets) if children else targets)
    if missing:
        yield Outcome(None, tuple(missing))
        missing.clear()
    if watch is not None and ahead.known == 1:
        order = order._replace(how={**order.how, "watch": watch})
    for done, outcome in enumerate(_check_all(ahead, order, jobs), 1):
        if progress is not None:
            progress(done, max(done, ahead.known))
        yield outcome
    if missing:
        yield Outcome(None, tuple(missing))


def _check_all(targets: Lookahead, order: Order, jobs: int) -> Iterator[Outcome]:
    if jobs == 1 or targets.known < 2:
        checker = make_checker(order)
        for target in targets:
            yield from checker((target,))
        return
    from doctor.api.pooling import Work, run_work

    yield from run_work(Work(make_checker, order, give_up), targets, jobs, measure_target)


def make_checker(order: Order) -> Callable[[Sequence[Target]], list[Outcome]]:
    """The function that checks a few targets, in this process or in a worker."""
    import gc
    from time import perf_counter

    rules = select_rules(load_rules(), order.select, order.ignore)
    around = Surroundings()
    order = order._replace(how={**order.how, "around": around})
    count = 0

    def check_some(targets: Sequence[Target]) -> list[Outcome]:
        nonlocal count
        outcomes = []
        for target in targets:
            if count % TARGETS_PER_LOOK == 0:
                around.renew()
                if count % TARGETS_PER_CLEANING == 0 and count and not gc.isenabled():
                    gc.collect()
            count += 1
            start = perf_counter()
            outcomes.append(check_target(target, order, rules)._replace(seconds=perf_counter() - start))
        return outcomes

    return check_some


def check_target(target: Target, order: Order, rules: Sequence[Rule]) -> Outcome:
    """Judges one target; nothing but its files and its arguments decides the outcome."""
    try:
        session = read_target(target, order.how, order.aim)
        if session.transcript.format == REQUEST:
            return Outcome(_check_requests(session, rules, order.aim))
        diagnosis = diagnose(session, rules)
        return Outcome(take_edits(report_session(session, diagnosis)), tuple(diagnosis.failures))
    except Exception as error:
        return Outcome(None, (describe_failure(name_target(target), error, order.debug),))


def take_edits(file: FileReport) -> FileReport:
    """The report without the bytes of its fixes: it says what a fix would do, and `fix` plans anew. They would only be held, or sent on."""
    if all(found.fix is None or not found.fix.edits for found in file.diagnostics):
        return file
    return file._replace(diagnostics=tuple(
        found if found.fix is None else found._replace(fix=found.fix._replace(edits=(), quarantined=())) for found in file.diagnostics
    ))  # fmt: skip


def give_up(target: Target) -> Outcome:
    """The outcome of a target whose worker died of it."""
    path = name_target(target)
    reason = "the process that checked it was killed, perhaps because memory ran out; check it alone"
    return Outcome(None, (Failure(path, "killed", f"can't judge {path}: {reason}"),))


def measure_target(target: Target) -> int:
    """About how many bytes of a transcript it takes as long to check as this target. Event logs are read eight times as fast."""
    if isinstance(target, bytes):
        return len(target)
    return measure_file(target) + measure_file(os.path.join(os.path.dirname(target), EVENTS[0])) // 8


def _check_requests(session: Session, rules: Sequence[Rule], aim: Aim) -> FileReport:
    from doctor.analysis.requests import check_requests

    return check_requests(session, rules, aim.wires, aim.model, aim.host)
