"""`amplifier-doctor check PATH…`: what is wrong, where, and what a fix would do. Reads only."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.cli.configuring import configure
from doctor.cli.settings import Display, Gate, Scope, make_scope, read_targets, repeat_options, report, split_formats, watch_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer

    from doctor.cli.configuration import Wish


def run_check(
    paths: Sequence[str],
    scope: Scope = Scope(),  # noqa: B008 - frozen
    display: Display = Display(),  # noqa: B008 - frozen
    gate: Gate = Gate(),  # noqa: B008 - frozen
    debug: bool = False,
    children: bool = False,
    wish: Wish | None = None,
) -> int:
    from doctor.api.checking import check_each

    carried = (*repeat_options(scope), *(wish.words if wish is not None else ()))
    scope, gate, course = configure(scope, gate, wish)
    how = {"children": children, "course": course, "watch": watch_log(), "debug": debug, "spell": display.spells}
    code = report(check_each(read_targets(paths), **scope._asdict(), **how), display, gate, command="check", carried=carried)
    if course is not None:
        from doctor.cli.configuration import say_notes

        say_notes(course, scope.select, display)
    return code


def register(app: typer.Typer) -> None:
    from typer import Option

    from doctor.cli import manual, options

    @app.command("check", **manual.describe("check"))
    def check(
        paths: list[str] = options.TARGETS,
        children: bool = Option(False, "--children", help="Check the sub-sessions that a session delegated to as well, and theirs."),
        session: str = options.SESSION,
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
        statistics: bool = options.STATISTICS,
        no_excerpt: bool = options.NO_EXCERPT,
        quiet: bool = options.QUIET,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> object:
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        display = Display(split_formats(format, output_file), not no_excerpt, color, statistics, quiet)
        paths = options.choose_session(paths, session)
        wish = options.make_wish(config, isolated, extend_select, baseline, no_baseline, force_exclude)
        return lambda: run_check(paths, scope, display, options.make_gate(fail_on, exit_zero), debug, children, wish)
