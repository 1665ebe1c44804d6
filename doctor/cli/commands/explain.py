"""`amplifier-doctor explain CODE`: what a finding means, why it matters, and what its fix does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer


def run_explain(code: str, format: str) -> int:
    from doctor.api import explain
    from doctor.cli.streams import print_text
    from doctor.output.explain import write_rule

    return print_text(write_rule(explain(code), format))


def register(app: typer.Typer) -> None:
    from typer import Argument

    from doctor.cli import options

    @app.command("explain", help="Say what a finding means and what its fix does.")
    def explain(
        code: str = Argument(..., metavar="CODE", help="A code (AD301) or a name (missing-tool-result)."),
        format: str = options.TEXT_FORMAT,
        debug: bool = options.DEBUG,
    ) -> Any:
        return lambda: run_explain(code, format)
