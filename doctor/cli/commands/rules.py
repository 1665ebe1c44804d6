"""`amplifier-doctor rules`: all rules; as Markdown it is the catalogue `rules/README.md`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer


def run_rules(format: str) -> int:
    from doctor.analysis.registry import load_rules
    from doctor.cli.streams import measure_prose, print_text
    from doctor.output.explain import write_rules

    return print_text(write_rules(load_rules(), format, measure_prose()))


def register(app: typer.Typer) -> None:
    from doctor.cli import manual, options

    @app.command("rules", **manual.describe("rules"))
    def rules(
        format: str = options.TEXT_FORMAT,
        debug: bool = options.DEBUG,
    ) -> object:
        return lambda: run_rules(format)
