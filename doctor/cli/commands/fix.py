"""`amplifier-doctor fix PATH…`: repairs transcripts, after a verified backup; `--dry-run` and `--diff` only say what would be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.cli.settings import Display, Gate, Scope, finish, make_scope, repeat_options
from doctor.errors import DoctorError
from doctor.findings import Failure, FileReport, Report

if TYPE_CHECKING:
    import typer


class Writing(NamedTuple):
    """Whether and where to write."""

    dry_run: bool = False
    diff: bool = False
    unsafe: bool = False
    force: bool = False
    output: str | None = None
    recover: bool = False
    wait: float = 0.0
    in_place: bool = False

    @property
    def is_pending(self) -> bool:
        """Nothing is written: a change that would be made is news."""
        return self.dry_run or self.diff


def run_fix(paths: Sequence[str], scope: Scope, writing: Writing, display: Display, gate: Gate, debug: bool = False) -> int:
    from doctor.api.fixing import fix

    _refuse_nonsense(paths, writing, display)
    files: list[FileReport] = []
    errors: list[Failure] = []
    for path in paths:
        report = fix(
            path,
            dry_run=writing.is_pending,
            unsafe=writing.unsafe,
            recover=writing.recover,
            force=writing.force,
            output=writing.output,
            diff=writing.diff,
            wait=writing.wait,
            in_place=writing.in_place,
            debug=debug,
            **scope._asdict(),
        )
        files += report.files
        errors += report.errors
    carried = (*repeat_options(scope), *(["--unsafe"] if writing.unsafe else []), *(["--recover"] if writing.recover else []))
    if writing.in_place:
        carried = (*carried, "--in-place")
    if writing.output is not None:
        carried = (*carried, "--output", writing.output)
    return finish(
        Report(tuple(files), tuple(errors)),
        display,
        gate,
        pending=writing.is_pending,
        command="fix",
        dry_run=writing.is_pending,
        show_diff=writing.diff,
        carried=carried,
    )


def _refuse_nonsense(paths: Sequence[str], writing: Writing, display: Display) -> None:
    if "-" in paths:
        raise DoctorError("usage", "fix needs a file that it can back up and replace; save the transcript and name that file")
    if writing.output is not None and writing.in_place:
        raise DoctorError("usage", "--output leaves the session alone and --in-place writes into its database; leave one out")
    if writing.output is not None and len(paths) > 1:
        raise DoctorError("usage", f"--output takes one transcript, but {len(paths)} paths were given")
    if writing.diff and not display.excerpt:
        raise DoctorError("usage", "--diff shows what rows say and --no-excerpt forbids it; leave one out")


def register(app: typer.Typer) -> None:
    from typer import Option

    from doctor.cli import options

    @app.command("fix", help="Repair transcripts; a verified backup comes first.")
    def fix(
        paths: list[str] = options.FILES,
        dry_run: bool = Option(False, "--dry-run", "-n", help="Plan and verify, write nothing; exit 1 if something would change."),
        diff: bool = Option(False, "--diff", help="As --dry-run, and show the change as a unified diff."),
        output: str = Option(None, "--output", "-o", metavar="FILE", help="Write the repaired transcript there; the input stays as it is."),
        unsafe: bool = Option(False, "--unsafe", help="Also apply fixes that change or take out a recorded row (kept in the quarantine)."),
        recover: bool = Option(False, "--recover", help="Also put lost rows and turns back, from the client's backup or the event log."),
        force: bool = Option(False, "--force", help="Write although somebody seems to be in the session."),
        in_place: bool = Option(False, "--in-place", help="Write into OpenCode's database (V1), while nobody has it open; backup first."),
        session: str = options.SESSION,
        wait: float = Option(0.0, "--wait", min=0.0, metavar="SECONDS", help="Wait so long for somebody to leave the session."),
        format: str = options.FORMAT,
        select: list[str] = options.SELECT,
        ignore: list[str] = options.IGNORE,
        events: str = options.EVENTS,
        no_events: bool = options.NO_EVENTS,
        as_request: bool = options.AS_REQUEST,
        wires: list[str] = options.FOR,
        model: str = options.MODEL,
        host: str = options.HOST,
        fail_on: str = options.FAIL_ON,
        exit_zero: bool = options.EXIT_ZERO,
        no_excerpt: bool = options.NO_EXCERPT,
        quiet: bool = options.QUIET,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> Any:
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        writing = Writing(dry_run, diff, unsafe, force, output, recover, wait, in_place)
        paths = options.choose_session(paths, session)
        display = Display(format, not no_excerpt, color, False, quiet)
        return lambda: run_fix(paths, scope, writing, display, options.make_gate(fail_on, exit_zero), debug)
