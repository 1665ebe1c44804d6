"""Draws the rows of a finding as a small conversation. Imported only when there is something to draw, hence rich at the top."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from doctor.findings import Excerpt
from doctor.output.text import neutralise

LEAST_TEXT = 24
"""Cells that a row's text keeps; with less the labels move below their rows."""

ROLE_STYLES = {"user": "green", "assistant": "blue", "tool": "magenta", "system": "dim"}


def draw_excerpt(rows: Sequence[Excerpt], own_path: str, width: int, with_text: bool = True) -> list[Text]:
    """Rows in the order of their files: mark, number, role, text, label. `⋮` stands for rows left out, and rows of another file carry
    its name before the number.
    """
    if not rows:
        return []
    ordered = sorted(rows, key=lambda row: (row.path != own_path, row.path, row.line))
    numbers = [_name_row(row, own_path) for row in ordered]
    number_width = max(3, *(len(number) for number in numbers))
    role_width = max(cell_len(neutralise(row.role)) for row in ordered)
    room = width - number_width - 6 - role_width - 2
    texts = [neutralise(row.text) if with_text else "" for row in ordered]
    column = min(max(cell_len(text) for text in texts), room)

    lines: list[Text] = []
    previous: Excerpt | None = None
    for row, number, text in zip(ordered, numbers, texts, strict=True):
        if previous is not None and previous.path == row.path and row.line > previous.line + 1:
            lines.append(Text("⋮".rjust(number_width + 3), "dim"))
        lines += _draw_row(row, number.rjust(number_width), neutralise(row.role).ljust(role_width), text, column, room)
        previous = row
    return lines


def _name_row(row: Excerpt, own_path: str) -> str:
    if row.path == own_path:
        return str(row.line)
    return f"{name_file(row.path)} {row.line}"


def name_file(path: str) -> str:
    """A short name for a file beside the transcript: `events` (also for the event table of a database), `backup`, else its own."""
    name = neutralise(path.replace("\\", "/").rsplit("/", 1)[-1])
    if name.endswith(".jsonl.backup"):
        return "backup"
    if name.endswith(":events"):
        return "events"
    return name.removesuffix(".jsonl")


def _draw_row(row: Excerpt, number: str, role: str, text: str, column: int, room: int) -> list[Text]:
    """One row in `room` cells for text and label. Labels stand at one column; a long one moves left, and its text is cut for it."""
    label = neutralise(row.label)
    behind = bool(label) and (not column or room - cell_len(label) - 2 >= LEAST_TEXT)
    if behind and column:
        column = min(column, room - cell_len(label) - 2)
    gutter = f" {'>' if row.primary else ' '} {number} │ "
    line = Text.assemble((gutter, "bold" if row.primary else "dim"), (f"{role}  ", ROLE_STYLES.get(row.role.strip(), "")))
    body = Text(text, "bold" if row.primary else "")
    body.truncate(max(column, 1), overflow="ellipsis", pad=behind and column > 0)
    line.append_text(body)
    style = "bold yellow" if row.primary else "dim"
    if behind:
        line.append(f"  {label}" if column else label, style)
    line.rstrip()
    if behind or not label:
        return [line]
    below = Text.assemble((" " * (len(gutter) - 2) + "│ ", "dim"), (" " * (len(role) + 2) + "↑ " + label, style))
    return [line, below]
