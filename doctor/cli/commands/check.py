"""`amplifier-doctor check PATH…`: what is wrong, where, and what a fix would do. Reads only."""

from __future__ import annotations

import os
from collections.abc import Sequence

from doctor.cli.configuring import configure
from doctor.cli.settings import (
    Display,
    Gate,
    Scope,
    make_scope,
    read_cache,
    read_jobs,
    read_targets,
    repeat_options,
    report,
    split_formats,
    watch_log,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    jobs: int | None = None,
    cache: str | None = None,
    engine: str = "local",
) -> int:
    """`jobs`: None leaves it to the configuration. `cache`: the folder of remembered verdicts, None for the usual one, "" for none."""
    from doctor.api.checking import check_each

    carried = (*repeat_options(scope), *(wish.words if wish is not None else ()))
    scope, gate, course = configure(scope, gate, wish)
    how = {"children": children, "course": course, "watch": watch_log(), "debug": debug, "spell": display.spells, **scope._asdict()}
    if len(paths) == 1 and not children and not display.statistics and engine == "local" and not _holds_many(paths[0]):
        # One session, most likely: nothing of what follows would pay, nor its import.
        code = report(check_each(read_targets(paths), **how), display, gate, command="check", carried=carried)
    else:
        configured = course.settings.jobs if course is not None else None
        how |= {"engine": engine, "jobs": jobs if jobs is not None else configured or 0}
        code = _check_many(paths, how, cache, display, gate, carried)
    if course is not None:
        from doctor.cli.configuration import say_notes

        say_notes(course, scope.select, display)
    return code


def _check_many(
    paths: Sequence[str], how: dict[str, Any], cache: str | None, display: Display, gate: Gate, carried: tuple[str, ...]
) -> int:
    from doctor.api.caching import choose_cache
    from doctor.api.checking import check_each
    from doctor.cli.progress import show_progress
    from doctor.output.statistics import Tally

    tally = Tally()
    with show_progress() as progress:
        how |= {"cache": choose_cache(cache, os.environ), "progress": progress, "observe": tally.add}
        code = report(check_each(read_targets(paths), **how), display, gate, command="check", carried=carried)
    on_paper = any(format in ("human", "concise") and not path for format, path in display.formats)
    if display.statistics and not display.quiet and on_paper and tally.systems:
        from doctor.cli.streams import print_text

        print_text("\n".join(tally.list_lines()))
    return code


def _holds_many(path: str) -> bool:
    from doctor.sources.naming import is_archive
    from doctor.sources.siblings import TRANSCRIPT

    # A folder with a transcript of its own is a session's.
    return (os.path.isdir(path) and not os.path.isfile(os.path.join(path, TRANSCRIPT))) or is_archive(path)


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
        jobs: str = options.JOBS,
        engine: str = options.ENGINE,
        no_cache: bool = options.NO_CACHE,
        cache_dir: str = options.CACHE_DIR,
        debug: bool = options.DEBUG,
    ) -> object:
        cache = read_cache(no_cache, cache_dir)
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        display = Display(split_formats(format, output_file), not no_excerpt, color, statistics, quiet)
        paths = options.choose_session(paths, session)
        wish = options.make_wish(config, isolated, extend_select, baseline, no_baseline, force_exclude)
        gate, processes = options.make_gate(fail_on, exit_zero), read_jobs(jobs) if jobs else None
        return lambda: run_check(paths, scope, display, gate, debug, children, wish, processes, cache, engine)
