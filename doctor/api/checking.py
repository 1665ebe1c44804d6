"""`check`: what is wrong with each transcript, and whether its session can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from doctor.analysis.targets import check_wires
from doctor.api.judging import Order, choose_rules, give_up, make_checker, measure_target
from doctor.api.outcomes import Judged, Lookahead, Outcome, Told
from doctor.api.reading import (
    Aim,
    Target,
    add_children,
    expand_archives,
    how_to_read,
    walk_targets,
)
from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, Report
from doctor.sources.naming import is_archive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ParamSpec

    Parameters = ParamSpec("Parameters")

    from doctor.api.configuring import Course
    from doctor.api.remembering import Memory

LOCAL, DASK = "local", "dask"
ENGINES = (LOCAL, DASK)
HEAVY = ("doctor.sources.liveness", "doctor.sources.events", "doctor.analysis.wires.verdict")
"""Modules that hardly any corpus does without, and that each worker would load for itself."""


def make_whole(each: Callable[Parameters, Iterator[Outcome]], name: str, summary: str) -> Callable[Parameters, Report]:
    """The function of the same parameters that returns all outcomes as one Report."""

    def run(*arguments: Parameters.args, **named: Parameters.kwargs) -> Report:
        return collect(each(*arguments, **named))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = summary + (each.__doc__ or "").partition("\n")[2]
    run.__wrapped__ = each  # type: ignore[attr-defined]
    return run


def collect(outcomes: Iterable[Outcome]) -> Report:
    """All outcomes of a run in one report."""
    files: list[FileReport] = []
    failures: list[Failure] = []
    for outcome in outcomes:
        failures += outcome.failures
        if outcome.file is not None:
            files.append(outcome.file)
    return Report(tuple(files), tuple(failures))


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
    environment: Mapping[str, str] | None = None,
    watch: Callable[[int, int], None] | None = None,
    debug: bool = False,
    spell: bool = False,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    observe: Callable[[FileReport, float], None] | None = None,
    cache: str = "",
    engine: str = LOCAL,
) -> Iterator[Outcome]:  # long for its arguments and what there is to say of them
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

    `jobs`: how many processes share the work; 0 for all processors where there is work enough for them. The outcomes and their order are
    the same for any number. `progress` is told how many targets are done, and how many are known by then; `observe` how many seconds each
    report took. `cache`: the folder in which verdicts are remembered, "" for none. `engine`: "local", or "dask" for a cluster.

    A path may also be an archive, a compressed transcript, or a URL that fsspec knows.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or there is nothing to check.
    """
    # No default of the signature: its help would print the environment.
    environment = os.environ if environment is None else environment
    aim = Aim(check_wires(wires), model, host)
    tuning = course.tuning if course is not None else None
    order = Order(tuple(select), tuple(ignore), aim, how_to_read(events, as_request, now, environment), debug, spell, tuning)
    choose_rules(order)
    if engine not in ENGINES:
        raise DoctorError("usage", f"there is no engine {engine!r}; choose from {', '.join(ENGINES)}")
    missing: list[Failure] = []
    given = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    targets = walk_targets(given, environment, missing) if course is None else walk_targets(given, environment, missing, course.find)
    ahead = Lookahead(add_children(targets) if children else targets)
    if missing:
        yield Outcome(None, tuple(missing))
        missing.clear()
    if watch is not None and ahead.known == 1:
        order = order._replace(how={**order.how, "watch": watch})
    named = {os.fspath(path) for path in given if isinstance(path, (str, os.PathLike))}
    is_single = ahead.known < 2 and not _is_archive(ahead.first)
    if cache and engine == LOCAL and not is_single:
        # One session is checked in less time than it takes to open the cache, hash an event log and write the verdict down.
        order = order._replace(memory=_prepare_memory(cache, order))
    done, told = 0, Told()
    if engine == DASK:
        everything = _distribute(ahead, order, jobs, named)
    else:
        everything = _check_all(expand_archives(ahead, named), order, 1 if is_single else jobs)
    for done, judged in enumerate(everything, 1):
        outcome = judged.outcome
        if observe is not None and outcome.file is not None:
            observe(outcome.file, judged.seconds)
        if progress is not None:
            progress(done, max(done, ahead.known))
        # A baseline counts over the whole run: it is held against the reports here, in their order.
        if outcome.file is not None and (course is not None or "#" in outcome.file.path):
            outcome = outcome._replace(file=told.shorten(outcome.file if course is None else course.finish(outcome.file)))
        if outcome.failures:
            outcome = outcome._replace(failures=told.drop_repeated(outcome.failures))
        yield outcome
    if ahead.known and not done:
        missing.append(Failure("", "usage", "there is nothing to check: the archives hold no session"))
    if missing:
        yield Outcome(None, tuple(missing))


check = make_whole(check_each, "check", "What is wrong with each transcript, and whether its session can be resumed, as one Report.\n")


def _is_archive(target: Target | None) -> bool:
    return isinstance(target, (str, os.PathLike)) and is_archive(os.fspath(target))


def _prepare_memory(folder: str, order: Order) -> Memory:
    """Raises DoctorError: the cache can't be kept there."""
    from doctor.api.caching import SECONDS_A_DAY, Cache, write_salt
    from doctor.api.remembering import Memory
    from doctor.sources.fingerprints import hash_program

    Cache(folder).prepare()
    now = order.how["now"]
    # When and on which machine a session is looked at is no option: what depends on that is not remembered.
    options = order._replace(
        how={name: value for name, value in sorted(order.how.items()) if name not in ("now", "state_home")}, debug=False
    )
    return Memory(os.path.abspath(folder), write_salt(hash_program(), options), int(now // SECONDS_A_DAY))


def _check_all(targets: Iterable[Target], order: Order, jobs: int) -> Iterator[Judged]:
    cache = None
    if order.memory is not None:
        from doctor.api.caching import Cache

        cache = Cache(order.memory.folder)
    try:
        for judged in _judge_all(targets, order, jobs):
            if cache is not None and judged.key:
                cache.note(judged.key, judged.entry, order.memory.day)
            yield judged
    finally:
        if cache is not None:
            cache.close()


def _judge_all(targets: Iterable[Target], order: Order, jobs: int) -> Iterator[Judged]:
    if jobs == 1:
        checker = make_checker(order)
        for target in targets:
            yield from checker((target,))
        return
    from doctor.api.pooling import Work, run_work

    yield from run_work(Work(make_checker, order, give_up, HEAVY), targets, jobs, measure_target)


def _distribute(targets: Iterable[Target], order: Order, jobs: int, named: Collection[Target]) -> Iterator[Judged]:
    """An archive is one task of many outcomes: a worker opens it, not this process. The cache is of this machine, so it is left out."""
    from doctor.api.distributing import run_distributed

    yield from run_distributed(make_expander, (order, frozenset(named)), give_up, targets, jobs)


def make_expander(task: tuple[Order, frozenset[Target]]) -> Callable[[Sequence[Target]], list[Judged]]:
    """As make_checker, for targets among which there may be archives."""
    order, named = task
    check_some = make_checker(order)
    return lambda targets: [judged for target in expand_archives(targets, named) for judged in check_some((target,))]
