"""The options that commands share, declared once so that they read alike everywhere. Imported only with typer."""

from __future__ import annotations

from typing import Any

from typer import Argument, BadParameter, Option

from doctor.cli.settings import Gate
from doctor.findings import Severity
from doctor.output.explain import FORMATS as TEXT_FORMATS
from doctor.output.reporters import FORMATS
from doctor.refusals import WIRES

SEVERITIES = tuple(severity.value for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO))


def _one_of(choices: tuple[str, ...]) -> Any:
    def check_choice(value: str) -> str:
        if value not in choices:
            raise BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check_choice


def choice(default: str, name: str, choices: tuple[str, ...], help: str) -> Any:
    """An option that takes one of a few words."""
    return Option(default, name, metavar="|".join(choices), callback=_one_of(choices), help=help)


PLACES = "Transcripts, session folders, trees of them, patterns, ids of sessions or their beginnings"
TARGETS: Any = Argument(..., metavar="PATH", help=f"{PLACES}, or - for standard input.")
FILES: Any = Argument(..., metavar="PATH", help=f"{PLACES}.")
SESSION: Any = Option(
    "", "--session", metavar="ID", help="Only this session of a database that holds many; the beginning of its id will do."
)
FORMAT: Any = choice("human", "--format", FORMATS, "How to report. The exit code is the same for all.")
TEXT_FORMAT: Any = choice("text", "--format", TEXT_FORMATS, "How to write it.")
SELECT: Any = Option([], "--select", metavar="RULES", help="Only these rules: codes, prefixes (AD3), names or ALL; commas or repeated.")
IGNORE: Any = Option([], "--ignore", metavar="RULES", help="Leave these rules out; the longer selector wins.")
EVENTS: Any = Option(None, "--events", metavar="FILE", help="The session's event log, if it lies elsewhere than beside the transcript.")
NO_EVENTS: Any = Option(False, "--no-events", help="Judge by the transcript alone.")
AS_REQUEST: Any = Option(False, "--as-request", help="Judge the transcript as a request that is sent as it is, not as a session at rest.")
FOR: Any = Option(
    [], "--for", metavar="WIRE", help=f"Whom the next request goes to: {', '.join(WIRES)}. Repeatable. Default: what the session recorded."
)
MODEL: Any = Option("", "--model", metavar="NAME", help="The model of the next request, for what only some models refuse.")
HOST: Any = Option("", "--host", metavar="NAME", help="The server's name, such as api.mistral.ai: some accept more than OpenAI does.")
FAIL_ON: Any = choice("warning", "--fail-on", SEVERITIES, "The lowest severity that makes the exit code 1.")
EXIT_ZERO: Any = Option(False, "--exit-zero", help="Exit with 0 in spite of findings. A job that could not be done stays 2.")
STATISTICS: Any = Option(False, "--statistics", help="Add a table of how often each code was found.")
NO_EXCERPT: Any = Option(False, "--no-excerpt", help="Print nothing that a row or a prompt says: for logs that others read.")
QUIET: Any = Option(False, "--quiet", "-q", help="Print no results; the exit code says it.")
COLOR: Any = Option(None, "--color/--no-color", help="Color or not. Default: on a terminal, unless NO_COLOR is set.")
DEBUG: Any = Option(False, "--debug", help="Show the traceback of an internal error.")


def choose_session(paths: list[str], session: str) -> list[str]:
    """The paths, each narrowed to one session of the store that it names."""
    return [f"{path}#{session}" for path in paths] if session else paths


def make_gate(fail_on: str, exit_zero: bool) -> Gate:
    return Gate(Severity(fail_on), exit_zero)
