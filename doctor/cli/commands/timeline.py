"""`amplifier-doctor timeline SESSION`: what ran when, as a drawing in the terminal, as JSON, or as a page. Reads only, but for `--html`."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.cli.settings import Scope, make_scope
from doctor.errors import DoctorError
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer

    from doctor.findings import Failure
    from doctor.output.timeline import Timeline
    from doctor.session import Session

FORMATS = ("text", "json")


class Page(Record):
    """Where the page goes: a file, `-` for standard output, None for no page. `force` overwrites the file."""

    path: str | None = None
    force: bool = False


def run_timeline(path: str, scope: Scope, format: str, page: Page, excerpt: bool, color: bool | None) -> int:
    from doctor.cli.streams import print_text, say_failures

    session = _read_session(path, scope)
    timeline, failures = _build_timeline(session, scope, excerpt)
    if page.path is not None:
        _write_page(session, timeline, page, excerpt)
    elif format == "json":
        from doctor.output.timeline_json import write_timeline

        print_text(write_timeline(timeline))
    else:
        _draw(timeline, color)
    say_failures(failures)
    return 2 if failures else 0


def _read_session(path: str, scope: Scope) -> Session:
    import os

    from doctor.api.reading import how_to_read, read_target
    from doctor.sources.stores import locate_stores
    from doctor.sources.walking import find_transcripts

    found = find_transcripts(path, locate_stores(os.environ))
    if len(found) > 1:
        raise DoctorError("usage", f"{path} holds {len(found)} sessions, and timeline draws one; name its folder, such as {found[0]}")
    session = read_target(found[0], how_to_read(scope.events, False, None, os.environ))
    if session.events is None:
        raise DoctorError("unreadable", f"{found[0]} has no event log beside it, so nothing says what ran when; name one with --events")
    return session


def _build_timeline(session: Session, scope: Scope, excerpt: bool) -> tuple[Timeline, Sequence[Failure]]:
    from doctor.analysis.engine import diagnose, report_session
    from doctor.analysis.registry import load_rules, select_rules
    from doctor.output.privacy import hide_contents
    from doctor.output.timeline import build_timeline

    assert session.events is not None
    diagnosis = diagnose(session, select_rules(load_rules(), scope.select, scope.ignore))
    file = report_session(session, diagnosis)
    findings = (file if excerpt else hide_contents(file)).diagnostics
    return build_timeline(session, session.events, findings, with_texts=excerpt), diagnosis.failures


def _draw(timeline: Timeline, color: bool | None) -> None:
    import os

    from doctor.cli.streams import measure_width, require_stdout, silence_stdout, wants_color
    from doctor.output.timeline_text import write_drawing

    stdout = require_stdout()
    try:
        write_drawing(timeline, stdout, measure_width(stdout, os.environ), wants_color(stdout, color, os.environ))
        stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def _write_page(session: Session, timeline: Timeline, page: Page, excerpt: bool) -> None:
    from doctor.cli.streams import print_text
    from doctor.output.timeline_html import write_page

    assert page.path is not None
    text = write_page(timeline, session.transcript, with_texts=excerpt)
    if page.path == "-":
        print_text(text)
        return
    from doctor.repair.storage.creating import create_whole

    create_whole(page.path, text.encode("utf-8"), force=page.force, spared=_list_own_files(session, timeline))
    print_text(f"wrote {page.path}")


def _list_own_files(session: Session, timeline: Timeline) -> list[str]:
    """What a page must never replace: everything in the session's folder but pages."""
    import os

    own = [timeline.path, timeline.events_path]
    if session.folder and os.path.isdir(session.folder):
        own += [os.path.join(session.folder, name) for name in os.listdir(session.folder) if not name.endswith((".html", ".htm"))]
    return own


def register(app: typer.Typer) -> None:
    from typer import Argument, Option

    from doctor.cli import manual, options

    @app.command("timeline", **manual.describe("timeline"))
    def timeline(
        session: str = Argument(
            ...,
            metavar="SESSION",
            autocompletion=options.completion.complete_session,
            help="A transcript, a session folder, or the id of a session.",
        ),
        html: str = Option(None, "--html", metavar="FILE", help="Write a page with the drawing and the transcript; - for standard output."),
        force: bool = Option(False, "--force", help="Overwrite the file of --html."),
        format: str = options.choice("text", "--format", FORMATS, "How to write it."),
        select: list[str] = options.SELECT,
        ignore: list[str] = options.IGNORE,
        events: str = options.EVENTS,
        no_excerpt: bool = options.NO_EXCERPT,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> object:
        scope = make_scope(select, ignore, events, False, False)
        return lambda: run_timeline(session, scope, format, Page(html, force), not no_excerpt, color)
