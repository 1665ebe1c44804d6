"""`amplifier-doctor baseline PATH…`: accept the findings of today, so that a gate fails on new ones only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from doctor.cli.configuration import Wish, make_plan
from doctor.cli.settings import Gate, Scope, make_scope
from doctor.errors import DoctorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer

    from doctor.api.baselining import Accepted
    from doctor.settings.baselines import Entry


def run_baseline(
    paths: Sequence[str], scope: Scope, wish: Wish, gate: Gate, *, update: bool = False, prune: bool = False, debug: bool = False
) -> int:
    from doctor.api.baselining import accept
    from doctor.api.checking import check
    from doctor.cli.streams import print_text, say_error, say_failures
    from doctor.settings.baselines import DEFAULT_NAME

    if "-" in paths:
        raise DoctorError("usage", "a baseline is about files; save the transcript and name that file")
    if update and prune:
        raise DoctorError("usage", "--update and --prune exclude each other; leave one out")
    scope, gate, course = make_plan(scope, gate, wish._replace(baseline=""))
    path = wish.baseline or course.settings.baseline or DEFAULT_NAME
    report = check(paths, **scope._asdict(), course=course, debug=debug)
    if report.errors:
        say_failures(report.errors)
        say_error("nothing was accepted, since not all could be judged; mend, exclude or leave out what is named above")
        return 2
    accepted = accept(report.files, path, codes=scope.select, lowest=course.lowest, update=update, prune=prune)
    for line in course.list_idle():
        say_error(line)
    print_text("\n".join(_describe(accepted)))
    return 0 if accepted.written else int(bool(accepted.comparison.new or accepted.comparison.stale))


def _describe(accepted: Accepted) -> list[str]:
    """One line for each finding that is new or gone, and one for all of them."""
    from doctor.output.text import count_of, neutralise

    compared = accepted.comparison
    path = neutralise(os.path.relpath(accepted.path))
    held = f"{count_of(_count(accepted.entries), 'finding')} in {count_of(len({entry.path for entry in accepted.entries}), 'file')}"
    if accepted.created:
        return [f"{path}: {held} accepted"]
    lines = [
        _describe_entry(word, entry) for word, entries in (("new", compared.new), ("gone", compared.stale)) for entry in sorted(entries)
    ]
    counts = f"{_count(compared.new):,} new, {_count(compared.stale):,} gone"
    if accepted.written:
        return [*lines, f"{path}: {held} accepted; {counts}"]
    if not lines:
        return [f"{path}: up to date, {held} accepted"]
    return [*lines, f"{path}: {held} accepted; {counts}; --update takes this over, --prune only what is gone"]


def _describe_entry(word: str, entry: Entry) -> str:
    from doctor.output.text import neutralise

    times = f" ({entry.count} times)" if entry.count > 1 else ""
    return neutralise(f"{word:<4}  {entry.path}: {entry.code} {entry.message}{times}")


def _count(entries: Iterable[Entry]) -> int:
    return sum(entry.count for entry in entries)


def register(app: typer.Typer) -> None:
    from typer import Option

    from doctor.cli import manual, options

    @app.command("baseline", **manual.describe("baseline"))
    def baseline(
        paths: list[str] = options.FILES,
        file: str = Option(
            None, "--baseline", "-o", metavar="FILE", help="Default: the configured one, else amplifier-doctor-baseline.json here."
        ),
        update: bool = Option(False, "--update", help="Take new findings in and those that are gone out."),
        prune: bool = Option(False, "--prune", help="Take those that are gone out, and no new ones in."),
        select: list[str] = options.SELECT,
        extend_select: list[str] = options.EXTEND_SELECT,
        ignore: list[str] = options.IGNORE,
        events: str = options.EVENTS,
        no_events: bool = options.NO_EVENTS,
        as_request: bool = options.AS_REQUEST,
        wires: list[str] = options.FOR,
        model: str = options.MODEL,
        host: str = options.HOST,
        fail_on: str = options.choice(
            None, "--fail-on", options.SEVERITIES, "What the gate fails on; everything from there on is accepted, and warnings always."
        ),
        config: str = options.CONFIG,
        isolated: bool = options.ISOLATED,
        force_exclude: bool = options.FORCE_EXCLUDE,
        debug: bool = options.DEBUG,
    ) -> object:
        scope = make_scope(select, ignore, events, no_events, as_request, wires, model, host)
        wish = options.make_wish(config, isolated, extend_select, file, False, force_exclude) or Wish()
        return lambda: run_baseline(paths, scope, wish, options.make_gate(fail_on, False), update=update, prune=prune, debug=debug)
