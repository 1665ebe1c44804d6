"""What the commands do, for programs: the same work and the same reports, without a process in between.

A harness that looks before it resumes a session:

    from doctor import check, fix

    report = check("sessions/7a2c5a9f/transcript.jsonl")
    for file in report.files:
        if file.verdict == "after-fix":
            planned = fix(file.path)                     # dry run: nothing is written
            print([step.title for step in planned.files[0].fix.applied])
            report = fix(file.path, dry_run=False)       # verified backup first; `undo(file.path)` brings it back
        elif file.verdict in ("not-resumable", "live"):
            raise RuntimeError(f"{file.path}: {file.verdict}")
    if report.errors:
        raise RuntimeError(report.errors[0].message)

A path is a transcript, a session folder, or a tree of them; `bytes` are a transcript that lies on no disk. Nothing here raises for a
session that can't be read or written: it becomes a Failure in `Report.errors`, and the others go on. What the caller got wrong (an
unknown rule, say) raises `doctor.errors.DoctorError`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import find_rule, load_rules, select_rules
from doctor.analysis.targets import aim_session, check_wires
from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, FixReport, Report, Safety
from doctor.sources.session import read_session
from doctor.sources.stores import find_transcripts, locate_stores

if TYPE_CHECKING:
    from doctor.analysis.explaining import ErrorExplanation
    from doctor.model import Session
    from doctor.repair.plans import Plan
    from doctor.repair.storage import Undone
    from doctor.rulekit import Rule

STDIN = "-"
"""The path that a transcript given as bytes is reported under."""

REQUEST = "request"
"""The format of a file that holds request bodies instead of a transcript."""

Target = str | os.PathLike[str] | bytes


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
    targets, failures = _find_targets(paths, environment)
    targets = _add_children(targets) if children else targets
    how = _how_to_read(events, as_request, now, environment)
    files: list[FileReport] = []
    for target in targets:
        try:
            session = _read_target(target, how, aim)
            if session.transcript.format == REQUEST:
                files.append(_check_requests(session, rules, aim))
                continue
            diagnosis = diagnose(session, rules)
            failures += diagnosis.failures
            files.append(report_session(session, diagnosis))
        except Exception as error:
            failures.append(_describe_failure(_name_target(target), error, debug))
    return Report(tuple(files), tuple(failures))


def fix(
    path: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    unsafe: bool = False,
    recover: bool = False,
    force: bool = False,
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
    now: float | None = None,
    environment: Mapping[str, str] = os.environ,
    debug: bool = False,
) -> Report:
    """Repairs the transcripts that a path names, or says what it would do.

    `dry_run` (the default here) plans and verifies, and writes nothing. `unsafe` also applies fixes that change or take out a recorded
    row. `recover` also adds rows that the transcript lost and its backup or event log still holds. `force` writes to a session that
    somebody seems to be in. `output` leaves the transcript alone and writes the repaired one there. `diff` adds the change as a unified
    diff. With `wires` nothing is written that one of them would still refuse, and thinking that they refuse can be taken out. `wait`: how
    many seconds to wait for somebody to leave the session. The other arguments are those of `check`.

    Each FileReport holds what is left after the fix, and in `.fix` what was done, with the paths of backup, receipt and quarantine.

    Raises DoctorError: a selector matches no rule, a wire is unknown, or `output` is given for several transcripts.
    """
    from doctor.repair.waiting import repeat_while_busy

    rules = select_rules(load_rules(), select, ignore)
    aim = Aim(check_wires(wires), model, host)
    targets, failures = _find_targets(path, environment)
    if output is not None and len(targets) > 1:
        raise DoctorError("usage", f"--output takes one transcript, but {os.fspath(path)} holds {len(targets)}")
    how = _how_to_read(events, as_request, now, environment) | {"recover": recover}
    wish = _Wish(dry_run, unsafe, force, os.fspath(output) if output is not None else None, diff)
    files: list[FileReport] = []
    for target in targets:
        try:
            attempt = partial(_attempt_fix, target, rules, wish, aim, how | {"thorough": True}, refresh=now is None)
            file, troubles = repeat_while_busy(attempt, 0.0 if force else wait, time.monotonic, time.sleep)
            files.append(file)
            failures += troubles
        except Exception as error:
            failures.append(_describe_failure(_name_target(target), error, debug))
    return Report(tuple(files), tuple(failures))


def _attempt_fix(
    target: Target, rules: Sequence[Rule], wish: _Wish, aim: Aim, how: dict[str, Any], refresh: bool
) -> tuple[FileReport, list[Failure]]:
    """One try at a session that somebody may be in; `refresh` looks at the clock anew."""
    session = _read_target(target, how | {"now": time.time()} if refresh else how, aim)
    if session.transcript.format == REQUEST:
        raise DoctorError("usage", f"{_name_target(target)} holds request bodies: fix repairs stored transcripts only", "")
    return _fix_session(session, rules, wish, how)


class Aim(NamedTuple):
    """Whom the next request goes to, as far as the caller says so."""

    wires: tuple[str, ...] = ()
    model: str = ""
    host: str = ""


def _check_requests(session: Session, rules: Sequence[Rule], aim: Aim) -> FileReport:
    from doctor.analysis.requests import check_requests

    return check_requests(session, rules, aim.wires, aim.model, aim.host)


class _Wish(NamedTuple):
    """What `fix` was asked to do with a plan."""

    dry_run: bool
    unsafe: bool
    force: bool
    output: str | None
    diff: bool


def _fix_session(session: Session, rules: Sequence[Rule], wish: _Wish, how: Mapping[str, Any]) -> tuple[FileReport, list[Failure]]:
    """Plans, and writes if that is wanted. What could not be written is reported as it is, with the reason."""
    from doctor.repair.binding import warn_of_bound_thinking
    from doctor.repair.edits import render_diff
    from doctor.repair.planner import plan_fix

    plan = plan_fix(session, rules, Safety.UNSAFE if wish.unsafe else Safety.SAFE)
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
        return report_session(session, plan.before, done), [_describe_failure(session.transcript.path, error, False)]
    return report_session(plan.after_session, plan.after, done), []


def _write(session: Session, plan: Plan, wish: _Wish, how: Mapping[str, Any], done: FixReport) -> FixReport:
    from doctor.repair.storage import write_plan
    from doctor.sources.liveness import find_client_locks

    locks = find_client_locks(session.session_id or os.path.basename(session.folder or ""), how["state_home"])
    written = write_plan(session, plan, now=how["now"], output=wish.output, force=wish.force, client_locks=locks)
    return done._replace(written=written.path, backup=written.backup, receipt=written.receipt, quarantine=written.quarantine)


def undo(
    path: str | os.PathLike[str], *, force: bool = False, now: float | None = None, environment: Mapping[str, str] = os.environ
) -> Undone:
    """Brings back the transcript as it was before its last fix, and keeps what it replaces.

    Raises DoctorError: there is nothing to undo, somebody is in the session, or the transcript was changed since (`force` insists).
    """
    from doctor.repair.storage import undo as undo_file
    from doctor.sources.liveness import find_client_locks

    found = find_transcripts(os.fspath(path), locate_stores(environment))
    if len(found) > 1:
        raise DoctorError("usage", f"undo takes one transcript, but {os.fspath(path)} holds {len(found)}")
    how = _how_to_read(None, False, now, environment)
    session = read_session(found[0], thorough=True, **how)
    locks = find_client_locks(session.session_id, how["state_home"])
    return undo_file(found[0], now=how["now"], force=force, client_locks=locks, liveness=session.liveness)


def explain(code: str) -> Rule:
    """The rule of a code (`AD301`) or a name (`missing-tool-result`).

    Raises DoctorError: there is none.
    """
    return find_rule(load_rules(), code)


def explain_error(
    text: str,
    session: Target | None = None,
    *,
    wires: Sequence[str] = (),
    model: str = "",
    now: float | None = None,
    environment: Mapping[str, str] = os.environ,
) -> list[ErrorExplanation]:
    """What the providers' error texts inside a text mean: the bare text, a JSON envelope, or a log with one of them in the middle.

    With a `session`, each explanation also names the findings and the rows of that session which the text is about.

    Raises DoctorError: the text holds no error that is known, or the session can't be read.
    """
    from doctor.analysis.explaining import explain_text

    read = None
    if session is not None:
        found = [session] if isinstance(session, bytes) else find_transcripts(os.fspath(session), locate_stores(environment))
        if len(found) > 1:
            raise DoctorError("usage", f"--error takes one session, but {_name_target(session)} holds {len(found)}")
        read = _read_target(found[0], _how_to_read(None, False, now, environment), Aim(check_wires(wires), model, ""))
    return explain_text(text, load_rules(), read)


def locate_session_state(environment: Mapping[str, str]) -> str | None:
    """Where the client keeps its session locks: `$AMPLIFIER_SESSION_STATE_HOME`, else below the user's state folder."""
    named = environment.get("AMPLIFIER_SESSION_STATE_HOME")
    if named:
        return named
    base = environment.get("XDG_STATE_HOME")
    if not base:
        home = environment.get("HOME")
        base = os.path.join(home, ".local", "state") if home else None
    return os.path.join(base, "amplifier", "sessions") if base else None


def _describe_failure(path: str, error: Exception, debug: bool) -> Failure:
    """Why a path could not be judged, in one line for people."""
    if isinstance(error, DoctorError):
        return Failure(error.path or path, error.kind, error.message)
    if isinstance(error, OSError):
        return Failure(path, "unreadable", f"can't read {path}: {error.strerror or error}")
    if debug:
        raise error
    said = " ".join(str(error).split())
    return Failure(path, "internal", f"{path}: internal error, {type(error).__name__}: {said}; please report it (--debug shows where)")


def _find_targets(paths: Target | Iterable[Target], environment: Mapping[str, str]) -> tuple[list[Target], list[Failure]]:
    """Every transcript that the paths name, each once, and the paths that name none."""
    given = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)
    if not given:
        raise DoctorError("usage", "there is nothing to check; name a transcript, a session folder or a tree of them")
    targets: dict[Target, None] = {}
    failures: list[Failure] = []
    for path in given:
        if isinstance(path, bytes):
            targets[path] = None
            continue
        try:
            targets.update(dict.fromkeys(find_transcripts(os.fspath(path), locate_stores(environment))))
        except DoctorError as error:
            failures.append(Failure(error.path or os.fspath(path), error.kind, error.message))
    return list(targets), failures


def _add_children(targets: Iterable[Target]) -> list[Target]:
    """Each session followed by its sub-sessions, each once."""
    from doctor.sources.siblings import TRANSCRIPT, follow_children

    family: dict[Target, None] = {}
    for target in targets:
        family[target] = None
        if isinstance(target, bytes) or os.path.basename(target) != TRANSCRIPT:
            continue
        folder = os.path.dirname(os.path.realpath(target))
        near = os.path.dirname(os.path.dirname(os.fspath(target)))
        for child in follow_children(folder, os.path.basename(folder)):
            name = os.path.join(near, os.path.basename(child)) if near else child
            family[os.path.join(name if os.path.isdir(name) else child, TRANSCRIPT)] = None
    return list(family)


def _how_to_read(events: str | bool | None, as_request: bool, now: float | None, environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "events": events,
        "as_request": as_request,
        "now": time.time() if now is None else now,
        "state_home": locate_session_state(environment),
    }


def _read_target(target: Target, how: Mapping[str, Any], aim: Aim = Aim()) -> Session:  # noqa: B008 - frozen
    if isinstance(target, bytes):
        from doctor.sources.source import MemorySource

        session = read_session(STDIN, source=MemorySource(target), **how)
    else:
        session = read_session(os.fspath(target), **how)
    aim_session(session, *aim)
    return session


def _name_target(target: Target) -> str:
    return STDIN if isinstance(target, bytes) else os.fspath(target)
