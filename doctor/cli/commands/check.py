"""`amplifier-doctor check PATH…`: what is wrong, where, and what a fix would do. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doctor.cli.settings import Display, Gate, Scope, finish, make_scope, read_targets, repeat_options

if TYPE_CHECKING:
    import typer


def run_check(
    paths: Sequence[str],
    scope: Scope = Scope(),  # noqa: B008 - frozen
    display: Display = Display(),  # noqa: B008 - frozen
    gate: Gate = Gate(),  # noqa: B008 - frozen
    debug: bool = False,
    children: bool = False,
) -> int:
    from doctor.api.checking import check

    report = check(read_targets(paths), **scope._asdict(), children=children, debug=debug)
    return finish(report, display, gate, command="check", carried=repeat_options(scope))


def register(app: typer.Typer) -> None:
    from typer import Option

    from doctor.cli import options

    @app.command("check", help="Say what is wrong and whether the session can be resumed.")
    def check(
        paths: list[str] = options.TARGETS,
        children: bool = Option(False, "--children", help="Check the sub-sessions that a session delegated to as well, and theirs."),
        session: str = options.SESSION,
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
        statistics: bool = options.STATISTICS,
        no_excerpt: bool = options.NO_EXCERPT,
        quiet: bool = options.QUIET,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> Any:
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        display = Display(format, not no_excerpt, color, statistics, quiet)
        paths = options.choose_session(paths, session)
        return lambda: run_check(paths, scope, display, options.make_gate(fail_on, exit_zero), debug, children)
