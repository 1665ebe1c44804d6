"""`fix`: repairs transcripts, or says what it would do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from doctor.analysis.engine import report_session
from doctor.analysis.registry import load_rules, select_rules
from doctor.analysis.targets import check_wires
from doctor.api.checking import make_whole
from doctor.api.outcomes import Outcome, Told
from doctor.api.reading import (
    REQUEST,
    Aim,
    Target,
    describe_failure,
    find_store,
    find_targets,
    how_to_read,
    is_packed,
    locate_target,
    name_target,
    read_target,
)
from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, FixReport, Safety
from doctor.records import Record
from doctor.sources.session import is_unsaved

MESSAGES = "messages"
"""The format of a file that is one JSON list: its rows are written into such a list again."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from doctor.api.configuring import Course
    from doctor.repair.plans import Plan
    from doctor.repair.storage.database import KeptBackup
    from doctor.rulekit import Rule
    from doctor.session import Session


def fix_each(
    path: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    unsafe: bool = False,
    recover: bool = False,
    force: bool = False,
    in_place: bool = False,
    output: str | os.PathLike[str] | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    events: str | bool | None = None,
    as_request: bool = False,
    diff: bool = False,
    wires: Sequence[str] = (),
    model: str = "",
    host: str = "",
    wait: float = 0.0,
    course: Course | None = None,
    watch: Callable[[int, int], None] | None = None,
    now: float | None = None,
    environment: Mapping[str, str] | None = None,
    debug: bool = False,
) -> Iterator[Outcome]:
    """Repairs one transcript after the other that a path names, or says what it would do, and forgets each once it is handed out.

    `dry_run` (the default here) plans and verifies, and writes nothing. `unsafe` also applies fixes that change or take out a recorded
    row. `recover` also adds rows that the transcript lost and its backup or event log still holds. `force` writes to a session that
    somebody seems to be in. `in_place` writes into a database of sessions, which is otherwise left alone. `output` leaves the transcript
    alone and writes the repaired one there. `diff` adds the change as a unified diff. With `wires` nothing is written that one of them
    would still refuse, and thinking that they refuse can be taken out. `wait`: how many seconds to wait for somebody to leave the
    session. `watch` is told how much of a large event log is read. The other arguments are those of `check`.

    Each FileReport holds what is left after the fix, and in `.fix` what was done, with the paths of backup, receipt and quarantine.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or `output` is given for several transcripts.
    """
    from doctor.repair.waiting import repeat_while_busy

    # No default of the signature: its help would print the environment.
    environment = os.environ if environment is None else environment
    rules = select_rules(load_rules(), select, ignore)
    aim = Aim(check_wires(wires), model, host)
    targets, failures = find_targets(path, environment) if course is None else find_targets(path, environment, course.find)
    if len(targets) > 1:
        # Of a session that was never saved there is no file to repair; who wants one written (--recover -o) names it.
        targets = [one for one in targets if not (isinstance(one, str) and is_unsaved(one))] or targets
    if output is not None and len(targets) > 1:
        raise DoctorError("usage", f"--output takes one transcript, but {os.fspath(path)} holds {len(targets)}")
    how = how_to_read(events, as_request, now, environment) | {"recover": recover, "watch": watch}
    wish = _Wish(dry_run, unsafe, force, os.fspath(output) if output is not None else None, diff, in_place, {})
    if failures:
        yield Outcome(None, tuple(failures))
    told = Told()
    for target in targets:
        try:
            attempt = partial(_attempt_fix, target, _tune(rules, course, target), wish, aim, how | {"thorough": True}, refresh=now is None)
            file, troubles = repeat_while_busy(attempt, 0.0 if force else wait, time.monotonic, time.sleep)
            outcome = Outcome(told.shorten(file if course is None else course.finish(file)), tuple(troubles))
        except Exception as error:
            outcome = Outcome(None, told.drop_repeated((describe_failure(name_target(target), error, debug),)))
        yield outcome


fix = make_whole(fix_each, "fix", "Repairs the transcripts that a path names, or says what it would do, as one Report.\n")


def _tune(rules: Sequence[Rule], course: Course | None, target: Target) -> Sequence[Rule]:
    if course is None:
        return rules
    from doctor.settings.selecting import tune_rules

    return tune_rules(rules, course.tuning, locate_target(target))


def _attempt_fix(
    target: Target, rules: Sequence[Rule], wish: _Wish, aim: Aim, how: dict[str, Any], refresh: bool
) -> tuple[FileReport, list[Failure]]:
    """One try at a session that somebody may be in; `refresh` looks at the clock anew."""
    if is_packed(target) and not wish.dry_run and wish.output is None:
        raise DoctorError("usage", f"{name_target(target)} is packed and stays as it is; say where to write with --output FILE")
    session = read_target(target, how | {"now": time.time()} if refresh else how, aim)
    if session.transcript.format == REQUEST:
        raise DoctorError("usage", f"{name_target(target)} holds request bodies: fix repairs stored transcripts only", "")
    if session.is_record:
        _require_view(session.transcript.path, wish)
    return _fix_session(session, rules, wish, how)


def _require_view(path: str, wish: _Wish) -> None:
    """Of a platform's own record only a view is written, to a file of its own.

    Raises DoctorError: it would be written in place.
    """
    from doctor.output.text import name_view, write_command

    if wish.output is not None and os.path.exists(wish.output) and os.path.samefile(wish.output, path):
        raise DoctorError("usage", f"--output names the chat log itself, {path}, whose order is never rewritten; name another file", path)
    if wish.output is None and not wish.dry_run:
        command = write_command("fix", "-o", name_view(path), path)
        raise DoctorError("usage", f"{path} is a platform's own log and is never rewritten; write a view of it: {command}", path)


class _Wish(Record):
    """What `fix` was asked to do with a plan."""

    dry_run: bool
    unsafe: bool
    force: bool
    output: str | None
    diff: bool
    in_place: bool
    kept: dict[str, KeptBackup]
    """The backups that this run made of databases."""


def _fix_session(session: Session, rules: Sequence[Rule], wish: _Wish, how: Mapping[str, Any]) -> tuple[FileReport, list[Failure]]:
    """Plans, and writes if that is wanted. What could not be written is reported as it is, with the reason."""
    from doctor.repair.binding import warn_of_bound_thinking
    from doctor.repair.edits import render_diff
    from doctor.repair.planner import plan_fix

    live = session.liveness
    if wish.force:
        # Who insists says that nobody is in it: what would only be unfinished is then broken.
        session.liveness = live._replace(is_live=False)
    plan = plan_fix(session, rules, Safety.UNSAFE if wish.unsafe else Safety.SAFE)
    session.liveness = plan.after_session.liveness = live
    diff = render_diff(session.transcript, plan.after_session.transcript, plan.changes) if wish.diff and plan.changed else ""
    warning = warn_of_bound_thinking(plan) if plan.changed else ""
    done = FixReport(plan.applied, plan.held_back, plan.changed, diff=diff, before=plan.before.diagnostics, warning=warning)
    if plan.failure is not None:
        return report_session(session, plan.before, done._replace(is_stopped=True)), [plan.failure]
    if wish.dry_run:
        # The file still has the rows that it has; only what would be left of the findings is of the plan.
        return report_session(plan.after_session, plan.after, done)._replace(rows=len(session.transcript.messages)), []
    try:
        done = _write(session, plan, wish, how, done)
    except DoctorError as error:
        done = FixReport(held_back=plan.held_back, before=plan.before.diagnostics, is_stopped=True)
        return report_session(session, plan.before, done), [describe_failure(session.transcript.path, error, False)]
    return report_session(plan.after_session, plan.after, done), []


def _write(session: Session, plan: Plan, wish: _Wish, how: Mapping[str, Any], done: FixReport) -> FixReport:
    from doctor.repair.storage import write_plan
    from doctor.sources.liveness import find_client_locks

    if session.transcript.format == MESSAGES:
        plan = _wrap_rows(session.transcript.path, plan)
    store = find_store(session.transcript.path)
    if store is not None and wish.output is None and plan.changed:
        return _write_store(session, plan, wish, store, how["now"], done)
    locks = find_client_locks(session.session_id or os.path.basename(session.folder or ""), how["state_home"])
    written = write_plan(session, plan, now=how["now"], output=wish.output, force=wish.force, client_locks=locks)
    return done._replace(written=written.path, backup=written.backup, receipt=written.receipt, quarantine=written.quarantine)


def _wrap_rows(path: str, plan: Plan) -> Plan:
    """The planned rows as one JSON text again, with what stood around them."""
    from doctor.sources.formats.messages import join_rows
    from doctor.sources.source import FileSource, MemorySource

    original = FileSource(path)
    rows = plan.source.read(0, plan.source.size)
    return plan._replace(source=MemorySource(join_rows(original.read(0, original.size), rows)))


def _write_store(session: Session, plan: Plan, wish: _Wish, store: tuple[str, str], now: float, done: FixReport) -> FixReport:
    path, session_id = store
    if os.path.isdir(path) or not wish.in_place:
        where = "" if os.path.isdir(path) else ", or write into the database with --in-place while OpenCode is closed"
        raise DoctorError(
            "usage", f"{session.transcript.path} is part of a store: write the session as a new export with -o FILE{where}", path
        )
    if session.liveness.is_live and not wish.force:
        raise DoctorError("live", f"{session.transcript.path} is in use: {session.liveness.reason}; close OpenCode", path)
    from doctor.repair.storage.database import write_session

    written = write_session(plan, path, session_id, now, wish.kept)
    return done._replace(written=written.path, backup=written.backup, receipt=written.receipt)
