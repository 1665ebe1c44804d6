"""The typer application. Its commands only collect options and return a job: it runs in `main`, where errors become exit codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import typer

from doctor import __version__
from doctor.cli import manual
from doctor.cli.commands import baseline, check, config, explain, fix, rules, scan, timeline, undo
from doctor.errors import DoctorError


def build_app() -> typer.Typer:
    page = manual.describe("")
    app = typer.Typer(
        name="amplifier-doctor",
        help=page["help"],
        epilog=page["epilog"],
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def common(
        context: typer.Context,
        version: bool = typer.Option(False, "--version", help="Print the version, and the date of what is known about the providers."),
    ) -> object:
        if version:
            from doctor.analysis.wires import CONTRACTS_DATE

            typer.echo(f"amplifier-doctor {__version__} (what providers accept: as of {CONTRACTS_DATE})")
            raise typer.Exit
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())
            raise typer.Exit(2)
        return None

    for command in (check, fix, undo, explain, rules, timeline, scan, baseline, config):
        command.register(app)
    return app


def parse(words: Sequence[str]) -> Callable[[], int] | int:
    """The job that the command line asks for, or the exit code when the parser answered itself.

    Raises DoctorError: the words are no valid command line. KeyboardInterrupt: interrupted while parsing.
    """
    try:
        job = build_app()(args=list(words), prog_name="amplifier-doctor", standalone_mode=False)
    except SystemExit as done:
        # Completion ends the process itself.
        return done.code if isinstance(done.code, int) else 0
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except Exception as error:
        # The parser's usage errors all can say where they come from; click itself is not imported, since typer may vendor it.
        say = getattr(error, "format_message", None)
        if say is None:
            raise
        raise DoctorError("usage", _describe_usage_error(error, say())) from error
    return job if callable(job) else int(job or 0)


def _describe_usage_error(error: Exception, message: str) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "amplifier-doctor"
    return f"{message.rstrip('.')}; see {command} --help"
