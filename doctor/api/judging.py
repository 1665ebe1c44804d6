"""Judges one target, here or in a worker: nothing but its files and the order decides what is said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from doctor.analysis.engine import Diagnosis, diagnose, report_session
from doctor.analysis.registry import load_common_rules, load_rules, select_rules
from doctor.api.outcomes import Judged, Outcome
from doctor.api.reading import REQUEST, Aim, Target, describe_failure, locate_target, name_target, read_target
from doctor.findings import Failure, FileReport, Severity
from doctor.records import Record
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.liveness import probe_writers
from doctor.sources.siblings import EVENTS
from doctor.sources.source import measure_file
from doctor.sources.surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from doctor.api.remembering import Memory, Notes
    from doctor.settings.model import Tuning

TARGETS_PER_CLEANING = 4_096
"""The command line runs without the garbage collector; what little a session leaves behind in circles must not add up for ever."""


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
    memory: Memory | None = None
    """Where verdicts are remembered, None for nowhere."""


def make_checker(order: Order) -> Callable[[Sequence[Target]], list[Judged]]:
    """The function that checks a few targets, in this process or in a worker."""
    import gc
    from time import perf_counter

    rules = choose_rules(order)
    around = Surroundings()
    order = order._replace(how={**order.how, "around": around})
    judge = _make_judge(order, rules)
    count = 0

    def check_some(targets: Sequence[Target]) -> list[Judged]:
        nonlocal count
        done = []
        for target in targets:
            start = perf_counter()
            around.pass_time(start)
            count += 1
            if count % TARGETS_PER_CLEANING == 0 and not gc.isenabled():
                gc.collect()
            outcome, key, entry, _ = judge(target)
            done.append(Judged(outcome, key, entry, perf_counter() - start))
        return done

    return check_some


def _make_judge(order: Order, rules: Sequence[Rule]) -> Callable[[Target], Judged]:
    if order.memory is None:
        return lambda target: (check_target(target, order, rules), b"", None, 0.0)  # type: ignore[return-value]
    from doctor.api.remembering import Rememberer

    return Rememberer(lambda target, notes: check_target(target, order, rules, notes), order.memory, order.how).judge


def choose_rules(order: Order) -> Sequence[Rule]:
    """Raises DoctorError: a selector matches no rule."""
    return select_rules(load_rules(), order.select, order.ignore) if order.select or order.ignore else load_common_rules()


def check_target(target: Target, order: Order, rules: Sequence[Rule], notes: Notes | None = None) -> Outcome:
    """Judges one target; nothing but its files and its arguments decides the outcome. `notes` takes what a cache has to know."""
    try:
        session = read_target(target, order.how, order.aim)
        if notes is not None:
            notes.watch(session)
        if session.transcript.form is not None and not (order.select or order.ignore):
            rules = load_rules()
        if order.tuning is not None:
            from doctor.settings.selecting import tune_rules

            rules = tune_rules(rules, order.tuning, locate_target(target))
        if session.transcript.format == REQUEST:
            return Outcome(_check_requests(session, rules, order.aim))
        diagnosis = diagnose(session, rules)
        if _has_writer(session, diagnosis, order.how.get("around")):
            diagnosis = diagnose(session, rules)
        if order.spell:
            from doctor.repair.replacements import spell_fixes

            diagnosis = diagnosis._replace(diagnostics=spell_fixes(session.transcript, diagnosis.diagnostics))
        return Outcome(take_edits(report_session(session, diagnosis)), tuple(diagnosis.failures))
    except Exception as error:
        return Outcome(None, (describe_failure(name_target(target), error, order.debug),))


def _has_writer(session: Session, diagnosis: Diagnosis, around: Surroundings | None) -> bool:
    """Whether somebody has a session open of which a finding says that it is not as it should be; the session then knows.

    All processes are asked only now: for a sound session that would cost more than its check.
    """
    if session.liveness.is_live or not session.folder or all(found.severity is Severity.INFO for found in diagnosis.diagnostics):
        return False
    found = probe_writers(os.path.realpath(session.transcript.path), session.events, (around or Surroundings()).find_writers())
    session.liveness = found if found.is_live else session.liveness
    return found.is_live


def take_edits(file: FileReport) -> FileReport:
    """The report without the bytes of its fixes: it says what a fix would do, and `fix` plans anew. They would only be held, or sent on."""
    if all(found.fix is None or not found.fix.edits for found in file.diagnostics):
        return file
    return file._replace(diagnostics=tuple(
        found if found.fix is None else found._replace(fix=found.fix._replace(edits=(), quarantined=())) for found in file.diagnostics
    ))  # fmt: skip


def give_up(target: Target) -> Judged:
    """The outcome of a target whose worker died of it."""
    path = name_target(target)
    reason = "the process that checked it was killed, perhaps because memory ran out; check it alone"
    return Judged(Outcome(None, (Failure(path, "killed", f"can't judge {path}: {reason}"),)))


def measure_target(target: Target) -> int:
    """About how many bytes of a transcript it takes as long to check as this target. Event logs are read eight times as fast."""
    if isinstance(target, bytes):
        return len(target)
    if isinstance(target, tuple):
        return sum(map(len, target.files.values()))
    return measure_file(target) + measure_file(os.path.join(os.path.dirname(target), EVENTS[0])) // 8


def _check_requests(session: Session, rules: Sequence[Rule], aim: Aim) -> FileReport:
    from doctor.analysis.requests import check_requests

    return check_requests(session, rules, aim.wires, aim.model, aim.host)
