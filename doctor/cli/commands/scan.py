"""`amplifier-doctor scan [ROOT]`: all sessions of this machine, or those under a folder, one row each, the worst first. Reads only."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from datetime import datetime

from doctor.errors import DoctorError
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer

    from doctor.analysis.survey import SurveyRow
    from doctor.sources.stores import SessionPlace

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}


class Wanted(Record):
    """Which sessions, and how to show them. `since`: seconds since the epoch, 0 for all."""

    root: str | None = None
    since: float = 0.0
    broken: bool = False
    project: str = ""
    format: str = "human"
    color: bool | None = None
    exit_zero: bool = False
    jobs: int = 0


def run_scan(wanted: Wanted) -> int:
    from doctor.api.surveying import survey
    from doctor.cli.progress import show_progress

    now = time.time()
    roots, places = find_places(wanted)
    with show_progress() as progress:
        rows = survey(places, now=now, jobs=wanted.jobs, progress=progress)
    return _print(rows, [row for row in rows if row.is_broken] if wanted.broken else rows, roots, wanted, now)


def find_places(wanted: Wanted) -> tuple[list[str], list[SessionPlace]]:
    """The folders that were looked through, and the sessions in them that are wanted.

    Raises DoctorError: there is no such folder, no store on this machine, or no session in any.
    """
    from doctor.analysis.survey import measure_age
    from doctor.sources.stores import list_sessions, list_tree, locate_stores

    if wanted.root is not None:
        if not os.path.isdir(wanted.root):
            raise DoctorError("usage", f"can't scan {wanted.root}: it is no folder; leave it out to scan the stores of this machine")
        roots, places = [wanted.root], list_tree(wanted.root)
    else:
        stores = locate_stores(os.environ)
        roots = [store for store in stores if os.path.isdir(store)]
        if not roots:
            raise DoctorError("usage", f"there is no session store on this machine (looked for {', '.join(stores)}); name a folder to scan")
        places = list_sessions(roots)
    if not places:
        raise DoctorError("usage", f"there is no session in {', '.join(roots)}")
    if wanted.project:
        slug = write_slug(wanted.project) if os.path.isdir(wanted.project) else wanted.project
        places = [place for place in places if slug in place.project]
    return roots, [place for place in places if not wanted.since or measure_age(place) >= wanted.since]


def write_slug(folder: str) -> str:
    """The name that the client gives to the project of a folder."""
    return "-" + os.path.abspath(folder).replace("/", "-").replace("\\", "-").replace(":", "").lstrip("-")


def read_since(text: str, now: float) -> float:
    """Seconds since the epoch of `7d`, `12h`, or a date. Raises DoctorError for anything else."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if found:
        return now - int(found[1]) * UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise DoctorError("usage", f"--since takes an age such as 7d or 12h, or a date such as 2026-08-01, not {text!r}") from None


def _print(rows: Sequence[SurveyRow], shown: Sequence[SurveyRow], roots: Sequence[str], wanted: Wanted, now: float) -> int:
    from doctor.cli.streams import measure_width, require_stdout, say_failures, silence_stdout, wants_color
    from doctor.output import survey as output

    stdout = require_stdout()
    try:
        if wanted.format == "json":
            output.write_json(shown, stdout, roots=roots, now=now)
        elif wanted.format == "jsonl":
            output.write_jsonl(shown, stdout, now=now)
        else:
            width = measure_width(stdout, os.environ) if stdout.isatty() or os.environ.get("COLUMNS") else None
            output.write_table(rows, stdout, now=now, color=wants_color(stdout, wanted.color, os.environ), shown=shown, width=width)
        stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    failures = [failure for row in rows for failure in row.failures]
    say_failures(failures)
    if failures:
        return 2
    return 0 if wanted.exit_zero else int(any(row.errors or row.warnings for row in rows))


def register(app: typer.Typer) -> None:
    from typer import Argument, Option

    from doctor.cli import manual, options
    from doctor.cli.settings import read_jobs
    from doctor.output.survey import FORMATS

    @app.command("scan", **manual.describe("scan"))
    def scan(
        root: str = Argument(None, metavar="[ROOT]", help="A folder of sessions. Default: the session stores of this machine."),
        since: str = Option(None, "--since", metavar="AGE", help="Only sessions written since: 7d, 12h, or a date."),
        broken: bool = Option(False, "--broken", help="Show only sessions that can't be resumed as they are, or that lost something."),
        project: str = Option(
            "", "--project", metavar="NAME", help="Only projects whose name contains this, or the project of this folder."
        ),
        format: str = options.choice("human", "--format", FORMATS, "How to report. The exit code is the same for all."),
        exit_zero: bool = options.EXIT_ZERO,
        jobs: str = options.JOBS,
        color: bool = options.COLOR,
        debug: bool = options.DEBUG,
    ) -> object:
        wanted = Wanted(
            root,
            read_since(since, time.time()) if since else 0.0,
            broken,
            project,
            format,
            color,
            exit_zero,
            read_jobs(jobs) if jobs else 0,
        )
        return lambda: run_scan(wanted)
