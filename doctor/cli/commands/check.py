"""`amplifier-doctor check PATH…`: what is wrong, where, and what a fix would do. Reads only."""

from __future__ import annotations

import os
from collections.abc import Sequence

from doctor.cli.settings import Display, Gate, Scope, finish, make_scope, read_cache, read_jobs, read_targets, repeat_options, watch_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer


def run_check(
    paths: Sequence[str],
    scope: Scope = Scope(),  # noqa: B008 - frozen
    display: Display = Display(),  # noqa: B008 - frozen
    gate: Gate = Gate(),  # noqa: B008 - frozen
    debug: bool = False,
    children: bool = False,
    jobs: int = 0,
    cache: str | None = None,
    engine: str = "local",
) -> int:
    """`cache`: the folder of remembered verdicts, None for the usual one, "" for none."""
    from doctor.api.checking import check

    run = {"children": children, "debug": debug, "jobs": jobs, "watch": watch_log(), "engine": engine}
    carried = repeat_options(scope)
    if len(paths) == 1 and not children and not display.statistics and not _holds_many(paths[0]):
        # One session, most likely: nothing of what follows would pay, nor its import.
        return finish(check(read_targets(paths), **scope._asdict(), **run), display, gate, command="check", carried=carried)
    from doctor.api.caching import choose_cache
    from doctor.cli.progress import show_progress
    from doctor.cli.streams import print_text
    from doctor.output.statistics import Tally

    tally = Tally()
    with show_progress() as progress:
        run |= {"cache": choose_cache(cache, os.environ), "progress": progress, "observe": tally.add}
        report = check(read_targets(paths), **scope._asdict(), **run)
    code = finish(report, display, gate, command="check", carried=carried)
    if display.statistics and not display.quiet and display.format in ("human", "concise") and tally.systems:
        print_text("\n".join(tally.list_lines()))
    return code


def _holds_many(path: str) -> bool:
    from doctor.sources.stores import is_archive

    return os.path.isdir(path) or is_archive(path)


def register(app: typer.Typer) -> None:
    from typer import Option

    from doctor.cli import options

    @app.command("check", help="Say what is wrong and whether the session can be resumed.")
    def check(
        paths: list[str] = options.TARGETS,
        children: bool = Option(False, "--children", help="Check the sub-sessions that a session delegated to as well, and theirs."),
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
        jobs: str = options.JOBS,
        engine: str = options.ENGINE,
        no_cache: bool = options.NO_CACHE,
        cache_dir: str = options.CACHE_DIR,
        debug: bool = options.DEBUG,
    ) -> object:
        cache = read_cache(no_cache, cache_dir)
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        display = Display(format, not no_excerpt, color, statistics, quiet)
        return lambda: run_check(
            paths, scope, display, options.make_gate(fail_on, exit_zero), debug, children, read_jobs(jobs), cache, engine
        )
