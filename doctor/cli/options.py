"""The options that commands share, declared once so that they read alike everywhere. Imported only with typer."""

from __future__ import annotations

from collections.abc import Sequence

from typer import Argument, BadParameter, Option

from doctor.api.checking import ENGINES
from doctor.cli import completion
from doctor.cli.configuration import Wish
from doctor.cli.settings import Gate, split_selectors
from doctor.findings import Severity
from doctor.output.explain import FORMATS as TEXT_FORMATS
from doctor.output.reporters import FORMATS as NAMES
from doctor.refusals import WIRES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEVERITIES = tuple(severity.value for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO))


def _one_of(choices: tuple[str, ...]) -> Any:
    def check_choice(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check_choice


def choice(default: str | None, name: str, choices: tuple[str, ...], help: str) -> Any:
    """An option that takes one of a few words."""
    return Option(
        default, name, metavar="|".join(choices), callback=_one_of(choices), autocompletion=completion.complete_word(choices), help=help
    )


PLACES = "Transcripts, session folders, trees of them, archives, URLs, patterns, ids of sessions or their beginnings"
TARGETS: Any = Argument(..., metavar="PATH", autocompletion=completion.complete_session, help=f"{PLACES}, or - for standard input.")
FILES: Any = Argument(..., metavar="PATH", autocompletion=completion.complete_session, help=f"{PLACES}.")
FORMATS: Any = Option(
    [],
    "--format",
    metavar="FORMAT[:FILE]",
    autocompletion=completion.complete_word(NAMES),
    help=f"How to report: {', '.join(NAMES)}. Repeatable; with a file it goes there. Default: human.",
)
OUTPUT_FILE: Any = Option(None, "--output-file", metavar="FILE", help="Write the report there, and not to standard output.")
SESSION: Any = Option(
    "", "--session", metavar="ID", help="Only this session of a database that holds many; the beginning of its id will do."
)
TEXT_FORMAT: Any = choice("text", "--format", TEXT_FORMATS, "How to write it.")
SELECT: Any = Option(
    [],
    "--select",
    metavar="RULES",
    autocompletion=completion.complete_selector,
    help="Only these rules: codes, prefixes (AD3), names or ALL; commas or repeated.",
)
IGNORE: Any = Option(
    [], "--ignore", metavar="RULES", autocompletion=completion.complete_selector, help="Leave these rules out; the longer selector wins."
)
EXTEND_SELECT: Any = Option(
    [],
    "--extend-select",
    metavar="RULES",
    autocompletion=completion.complete_selector,
    help="These rules too, beside those that are selected anyway.",
)
CONFIG: Any = Option(
    None, "--config", metavar="FILE", help="The configuration. Default: the nearest amplifier-doctor.toml or pyproject.toml that has one."
)
ISOLATED: Any = Option(False, "--isolated", help="Leave all configuration out of account.")
BASELINE: Any = Option(None, "--baseline", metavar="FILE", help="Findings that are accepted: counted apart, and no reason to fail.")
NO_BASELINE: Any = Option(False, "--no-baseline", help="Leave the configured baseline out of account.")
FORCE_EXCLUDE: Any = Option(False, "--force-exclude", help="Leave out what the configuration excludes also where it is named.")
EVENTS: Any = Option(None, "--events", metavar="FILE", help="The session's event log, if it lies elsewhere than beside the transcript.")
NO_EVENTS: Any = Option(False, "--no-events", help="Judge by the transcript alone.")
AS_REQUEST: Any = Option(False, "--as-request", help="Judge the transcript as a request that is sent as it is, not as a session at rest.")
FOR: Any = Option(
    [],
    "--for",
    metavar="WIRE",
    autocompletion=completion.complete_word(WIRES),
    help=f"Whom the next request goes to: {', '.join(WIRES)}. Repeatable. Default: what the session recorded.",
)
MODEL: Any = Option("", "--model", metavar="NAME", help="The model of the next request, for what only some models refuse.")
HOST: Any = Option("", "--host", metavar="NAME", help="The server's name, such as api.mistral.ai: some accept more than OpenAI does.")
FAIL_ON: Any = choice(None, "--fail-on", SEVERITIES, "The lowest severity that makes the exit code 1. Default: warning.")
EXIT_ZERO: Any = Option(False, "--exit-zero", help="Exit with 0 in spite of findings. A job that could not be done stays 2.")
STATISTICS: Any = Option(False, "--statistics", help="Add how often each code was found, by system, and what took longest.")
NO_EXCERPT: Any = Option(False, "--no-excerpt", help="Print nothing that a row or a prompt says: for logs that others read.")
QUIET: Any = Option(False, "--quiet", "-q", help="Print no results; the exit code says it.")
COLOR: Any = Option(None, "--color/--no-color", help="Color or not. Default: on a terminal, unless NO_COLOR is set.")
JOBS: Any = Option("", "--jobs", "-j", metavar="N|auto", help="Processes that share the work. Default: auto, all processors where it pays.")
ENGINE: Any = choice("local", "--engine", ENGINES, "Where to do the work: processes of this machine, or a Dask cluster.")
NO_CACHE: Any = Option(False, "--no-cache", help="Check everything anew, also what did not change since the last run.")
CACHE_DIR: Any = Option("", "--cache-dir", metavar="DIR", help="Where verdicts are remembered (else $AMPLIFIER_DOCTOR_CACHE or ~/.cache).")
DEBUG: Any = Option(False, "--debug", help="Show the traceback of an internal error.")


def make_gate(fail_on: str | None, exit_zero: bool) -> Gate:
    return Gate(Severity(fail_on) if fail_on is not None else None, exit_zero)


def make_wish(
    file: str | None,
    isolated: bool,
    extend_select: Sequence[str],
    baseline: str | None = None,
    no_baseline: bool = False,
    force_exclude: bool = False,
) -> Wish | None:
    """None where the command line says nothing about it. Raises BadParameter: --baseline and --no-baseline together."""
    if baseline is not None and no_baseline:
        raise BadParameter("--baseline and --no-baseline exclude each other; leave one out")
    wish = Wish(file, isolated, "" if no_baseline else baseline, force_exclude, split_selectors(extend_select))
    return wish if wish != Wish() else None


def choose_session(paths: list[str], session: str) -> list[str]:
    """The paths, each narrowed to one session of the store that it names."""
    return [f"{path}#{session}" for path in paths] if session else paths
