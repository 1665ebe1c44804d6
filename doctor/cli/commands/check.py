"""`amplifier-doctor check PATH…`: what is wrong, where, and what a fix would do. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from doctor.cli.settings import Display, Gate, Scope, finish, make_scope, read_targets, repeat_options

if TYPE_CHECKING:
    import typer


def run_check(paths: Sequence[str], scope: Scope = Scope(), display: Display = Display(), gate: Gate = Gate(), debug: bool = False) -> int:  # noqa: B008 - frozen
    from doctor.api import check

    report = check(read_targets(paths), **scope._asdict(), debug=debug)
    return finish(report, display, gate, command="check", carried=repeat_options(scope))


def register(app: typer.Typer) -> None:
    from doctor.cli import options

    @app.command("check", help="Say what is wrong and whether the session can be resumed.")
    def check(
        paths: list[str] = options.TARGETS,
        format: str = options.FORMAT,
        select: list[str] = options.SELECT,
        ignore: list[str] = options.IGNORE,
        events: str = options.EVENTS,
        no_events: bool = options.NO_EVENTS,
        as_request: bool = options.AS_REQUEST,
        fail_on: str = options.FAIL_ON,
        exit_zero: bool = options.EXIT_ZERO,
        statistics: bool = options.STATISTICS,
        no_excerpt: bool = options.NO_EXCERPT,
        quiet: bool = options.QUIET,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> Any:
        scope = make_scope(select, ignore, events, no_events, as_request)
        display = Display(format, not no_excerpt, color, statistics, quiet)
        return lambda: run_check(paths, scope, display, options.make_gate(fail_on, exit_zero), debug)
