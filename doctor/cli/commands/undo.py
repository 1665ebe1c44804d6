"""`amplifier-doctor undo PATH`: the transcript as it was before its last fix."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typer


def run_undo(path: str, force: bool) -> int:
    from doctor.api.undoing import undo
    from doctor.cli.streams import print_text
    from doctor.output.text import neutralise

    undone = undo(path, force=force)
    # In a database only the rows of one fix go back: its backup holds all sessions, and those of others may have been fixed since.
    how = "the rows of its last fix are back" if undone.kept.endswith(".json") else f"restored from {undone.backup}"
    return print_text(neutralise(f"{path if '#' in path else undone.path}: {how}; what it held until now is kept in {undone.kept}"))


def register(app: typer.Typer) -> None:
    from typer import Argument, Option

    from doctor.cli import manual, options

    @app.command("undo", **manual.describe("undo"))
    def undo(
        path: str = Argument(
            ..., metavar="PATH", autocompletion=options.completion.complete_session, help="A transcript or a session folder."
        ),
        force: bool = Option(False, "--force", help="Restore although the transcript was changed since the fix."),
        debug: bool = options.DEBUG,
    ) -> object:
        return lambda: run_undo(path, force)
