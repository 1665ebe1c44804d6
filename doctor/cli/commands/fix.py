"""`amplifier-doctor fix PATH…`: repairs transcripts, after a verified backup; `--dry-run` and `--diff` only say what would be done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain

from doctor.cli.configuring import configure
from doctor.cli.settings import Display, Gate, Scope, make_scope, repeat_options, report, split_formats, watch_log
from doctor.errors import DoctorError
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer

    from doctor.cli.configuration import Wish


class Writing(Record):
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


def run_fix(
    paths: Sequence[str],
    scope: Scope,
    writing: Writing,
    display: Display,
    gate: Gate,
    debug: bool = False,
    wish: Wish | None = None,
) -> int:
    from doctor.api.fixing import fix_each

    _refuse_nonsense(paths, writing, display)
    carried = (
        *repeat_options(scope),
        *(wish.words if wish is not None else ()),
        *(["--unsafe"] if writing.unsafe else []),
        *(["--recover"] if writing.recover else []),
        *(["--in-place"] if writing.in_place else []),
    )
    scope, gate, course = configure(scope, gate, wish)
    how = {name: getattr(writing, name) for name in ("unsafe", "recover", "force", "output", "diff", "wait", "in_place")}
    how |= {"dry_run": writing.is_pending, "course": course, "watch": watch_log(), "debug": debug, **scope._asdict()}
    if writing.output is not None:
        carried = (*carried, "--output", writing.output)
    code = report(
        chain.from_iterable(fix_each(path, **how) for path in paths),
        display,
        gate,
        pending=writing.is_pending,
        command="fix",
        dry_run=writing.is_pending,
        show_diff=writing.diff,
        carried=carried,
    )
    if course is not None:
        from doctor.cli.configuration import say_notes

        say_notes(course, scope.select, display, pending=writing.is_pending)
    return code


def _refuse_nonsense(paths: Sequence[str], writing: Writing, display: Display) -> None:
    if "-" in paths:
        raise DoctorError("usage", "fix needs a file that it can back up and replace; save the transcript and name that file")
    if writing.output is not None and writing.in_place:
        raise DoctorError("usage", "--output leaves the session alone and --in-place writes into its database; leave one out")
    if writing.output is not None and len(paths) > 1:
        raise DoctorError("usage", f"--output takes one transcript, but {len(paths)} paths were given")
    if writing.output is not None and any(
        path and os.path.realpath(path) == os.path.realpath(writing.output) for _, path in display.formats
    ):
        raise DoctorError("usage", f"--output and the report would both go to {writing.output}; name another file for the report")
    if writing.diff and not display.excerpt:
        raise DoctorError("usage", "--diff shows what rows say and --no-excerpt forbids it; leave one out")


def register(app: typer.Typer) -> None:
    from typer import Option

    from doctor.cli import manual, options

    @app.command("fix", **manual.describe("fix"))
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
        format: list[str] = options.FORMATS,
        output_file: str = options.OUTPUT_FILE,
        select: list[str] = options.SELECT,
        extend_select: list[str] = options.EXTEND_SELECT,
        ignore: list[str] = options.IGNORE,
        events: str = options.EVENTS,
        no_events: bool = options.NO_EVENTS,
        as_request: bool = options.AS_REQUEST,
        wires: list[str] = options.FOR,
        model: str = options.MODEL,
        host: str = options.HOST,
        fail_on: str = options.FAIL_ON,
        exit_zero: bool = options.EXIT_ZERO,
        config: str = options.CONFIG,
        isolated: bool = options.ISOLATED,
        baseline: str = options.BASELINE,
        no_baseline: bool = options.NO_BASELINE,
        force_exclude: bool = options.FORCE_EXCLUDE,
        no_excerpt: bool = options.NO_EXCERPT,
        quiet: bool = options.QUIET,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> object:
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        writing = Writing(dry_run, diff, unsafe, force, output, recover, wait, in_place)
        paths = options.choose_session(paths, session)
        display = Display(split_formats(format, output_file), not no_excerpt, color, False, quiet)
        wish = options.make_wish(config, isolated, extend_select, baseline, no_baseline, force_exclude)
        return lambda: run_fix(paths, scope, writing, display, options.make_gate(fail_on, exit_zero), debug, wish)
