"""`amplifier-doctor explain CODE`: what a finding means. `explain --error TEXT [SESSION]`: what a provider's error text means."""

from __future__ import annotations

from doctor.errors import DoctorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer


def run_explain(code: str, format: str) -> int:
    from doctor.api.explaining import explain
    from doctor.cli.streams import measure_prose, print_text
    from doctor.output.explain import write_rule

    return print_text(write_rule(explain(code), format, measure_prose()))


def run_explain_error(text: str, session: str | None, format: str, wires: list[str], model: str) -> int:
    """`text` "-" stands for what standard input holds, a whole log if need be."""
    from doctor.api.explaining import explain_error
    from doctor.cli.settings import read_stdin
    from doctor.cli.streams import measure_prose, print_text
    from doctor.output.explain_error import write_errors

    if text == "-":
        text = read_stdin().decode("utf-8", "replace")
    return print_text(
        write_errors(explain_error(text, session, wires=wires, model=model), format, measure_prose() if format == "text" else None)
    )


def register(app: typer.Typer) -> None:
    from typer import Argument, Option

    from doctor.cli import manual, options

    @app.command("explain", **manual.describe("explain"))
    def explain(
        code: str = Argument(
            None,
            metavar="CODE|SESSION",
            autocompletion=options.completion.complete_rule_or_session,
            help="A code (AD301) or a name; with --error a session to look at.",
        ),
        error: str = Option(None, "--error", metavar="TEXT", help="A provider's error text, or - for a log on standard input."),
        format: str = options.TEXT_FORMAT,
        wires: list[str] = options.FOR,
        model: str = options.MODEL,
        debug: bool = options.DEBUG,
    ) -> object:
        if error is not None:
            return lambda: run_explain_error(error, code, format, wires, model)
        if code is None:
            raise DoctorError("usage", "name a code (AD301), or give an error text with --error")
        return lambda: run_explain(code, format)
