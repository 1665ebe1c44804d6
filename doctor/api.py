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
from typing import TYPE_CHECKING, Any

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import find_rule, load_rules, select_rules
from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, Report
from doctor.sources.session import read_session
from doctor.sources.stores import find_transcripts

if TYPE_CHECKING:
    from doctor.repair.storage import Undone
    from doctor.rulekit import Rule

STDIN = "-"
"""The path that a transcript given as bytes is reported under."""

Target = str | os.PathLike[str] | bytes


def check(
    paths: Target | Iterable[Target],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    events: str | bool | None = None,
    as_request: bool = False,
    now: float | None = None,
    environment: Mapping[str, str] = os.environ,
    debug: bool = False,
) -> Report:
    """What is wrong with each transcript, and whether its session can be resumed.

    `select` and `ignore` take codes, prefixes of codes, names, or "ALL". `events` is an event log, False for none, None for the one
    beside the transcript. `as_request`: judge the transcript as a request that is sent as it is. `now` (seconds since the epoch) and
    `environment` decide whether a session counts as live; the defaults are the clock and the process's own environment. `debug` lets an
    internal error out, with its traceback, where it otherwise becomes one more Failure.

    Raises DoctorError: a selector matches no rule, or there is nothing to check.
    """
    rules = select_rules(load_rules(), select, ignore)
    targets, failures = _find_targets(paths)
    how = _how_to_read(events, as_request, now, environment)
    files: list[FileReport] = []
    for target in targets:
        try:
            session = _read_target(target, how)
            diagnosis = diagnose(session, rules)
            failures += diagnosis.failures
            files.append(report_session(session, diagnosis))
        except Exception as error:  # noqa: BLE001 - one session must not hide all others
            failures.append(_describe_failure(_name_target(target), error, debug))
    return Report(tuple(files), tuple(failures))


def fix(
    path: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    unsafe: bool = False,
    force: bool = False,
    output: str | os.PathLike[str] | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    events: str | bool | None = None,
    as_request: bool = False,
    diff: bool = False,
    now: float | None = None,
    environment: Mapping[str, str] = os.environ,
    debug: bool = False,
) -> Report:
    """Repairs the transcripts that a path names, or says what it would do.

    `dry_run` (the default here) plans and verifies, and writes nothing. `unsafe` also applies fixes that change or take out a recorded
    row. `force` writes to a session that somebody seems to be in. `output` leaves the transcript alone and writes the repaired one
    there. `diff` adds the change as a unified diff. The other arguments are those of `check`.

    Each FileReport holds what is left after the fix, and in `.fix` what was done, with the paths of backup, receipt and quarantine.

    Raises DoctorError: a selector matches no rule, or `output` is given for several transcripts.
    """
    from doctor.repair.fixing import fix_session

    rules = select_rules(load_rules(), select, ignore)
    targets, failures = _find_targets(path)
    if output is not None and len(targets) > 1:
        raise DoctorError("usage", f"--output takes one transcript, but {os.fspath(path)} holds {len(targets)}")
    how = _how_to_read(events, as_request, now, environment)
    files: list[FileReport] = []
    for target in targets:
        try:
            session = _read_target(target, how)
            outcome = fix_session(
                session, rules, dry_run=dry_run, unsafe=unsafe, force=force, output=os.fspath(output) if output is not None else None, diff=diff
            )
            failures += outcome.failures
            files.append(outcome.file)
        except Exception as error:  # noqa: BLE001 - one session must not stop the others
            failures.append(_describe_failure(_name_target(target), error, debug))
    return Report(tuple(files), tuple(failures))


def undo(path: str | os.PathLike[str], *, force: bool = False) -> Undone:
    """Brings back the transcript as it was before its last fix.

    Raises DoctorError: there is no backup, or the transcript was changed since (`force` insists).
    """
    from doctor.repair.storage import undo as undo_file

    found = find_transcripts(os.fspath(path))
    if len(found) > 1:
        raise DoctorError("usage", f"undo takes one transcript, but {os.fspath(path)} holds {len(found)}")
    return undo_file(found[0], force=force)


def explain(code: str) -> Rule:
    """The rule of a code (`AD301`) or a name (`missing-tool-result`).

    Raises DoctorError: there is none.
    """
    return find_rule(load_rules(), code)


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


def _find_targets(paths: Target | Iterable[Target]) -> tuple[list[Target], list[Failure]]:
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
            targets.update(dict.fromkeys(find_transcripts(os.fspath(path))))
        except DoctorError as error:
            failures.append(Failure(error.path or os.fspath(path), error.kind, error.message))
    return list(targets), failures


def _how_to_read(events: str | bool | None, as_request: bool, now: float | None, environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "events": events,
        "as_request": as_request,
        "now": time.time() if now is None else now,
        "state_home": locate_session_state(environment),
    }


def _read_target(target: Target, how: Mapping[str, Any]) -> Any:
    if isinstance(target, bytes):
        from doctor.sources.source import MemorySource

        return read_session(STDIN, source=MemorySource(target), **how)
    return read_session(os.fspath(target), **how)


def _name_target(target: Target) -> str:
    return STDIN if isinstance(target, bytes) else os.fspath(target)
