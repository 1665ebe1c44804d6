"""`amplifier-doctor config show|schema`: which settings are in force and where they come from, and what a configuration may hold."""

from __future__ import annotations

import os

from doctor.cli.configuration import Wish, find_wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer


def run_show(wish: Wish, format: str) -> int:
    from doctor.analysis.registry import load_rules
    from doctor.api.configuring import settle_settings
    from doctor.cli.streams import print_text, say_error
    from doctor.output.settings import write_settings

    settings = settle_settings(find_wanted(wish))
    text = write_settings(settings, load_rules(), format)
    for key in settings.idle:
        say_error(f"{settings.name_key(key)}: no rule that is in force")
    if settings.baseline and not os.path.exists(settings.baseline):
        say_error(f"{settings.name_key('baseline')}: there is no such file yet; amplifier-doctor baseline PATH writes it")
    return print_text(text)


def run_schema() -> int:
    import json

    from doctor.analysis.registry import load_rules
    from doctor.cli.streams import print_text
    from doctor.settings.schema import build_schema

    return print_text(json.dumps(build_schema(load_rules()), indent=2))


def register(app: typer.Typer) -> None:
    from typer import Typer

    from doctor.cli import manual, options
    from doctor.output.settings import FORMATS

    group = Typer(rich_markup_mode=None)
    app.add_typer(group, name="config", **manual.describe("config"))

    @group.command("show", help="All settings that are in force, and where each comes from.")
    def show(
        format: str = options.choice("text", "--format", FORMATS, "How to write it."),
        config: str = options.CONFIG,
        isolated: bool = options.ISOLATED,
        debug: bool = options.DEBUG,
    ) -> object:
        return lambda: run_show(Wish(config, isolated), format)

    @group.command("schema", help="The JSON Schema of a configuration, for editors.")
    def schema(debug: bool = options.DEBUG) -> object:
        return run_schema
