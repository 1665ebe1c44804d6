"""Prose that fits a terminal: paragraphs filled anew, words, ids and examples never cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

WIDEST = 100
"""Longer lines are hard to read, however wide the terminal is."""
NARROWEST = 30
"""Columns below which prose is not squeezed beside a margin."""


def fold(line: str, width: int | None, indent: int = 0) -> list[str]:
    """One line as several of at most `width` columns, all but the first indented; as it is where no width is known."""
    if width is None or len(line) <= width:
        return [line]
    from textwrap import wrap

    margin = line[: len(line) - len(line.lstrip())]
    indent = indent if width - indent >= NARROWEST else len(margin) + 2
    return wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False) or [
        line
    ]


def refill(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """A text in which the ends of lines mean nothing within a paragraph, filled to `width`. Headings, lists and what is indented stay
    lines of their own; so does everything where no width is known."""
    if width is None:
        yield from lines
        return
    paragraph: list[str] = []
    for line in lines:
        starts_anew = not line.strip() or line.startswith((" ", "## ", "* ", "- ", "|", "```"))
        if starts_anew and paragraph:
            yield from _fill(paragraph, width)
            paragraph = []
        if not starts_anew or line.startswith(("* ", "- ")):
            paragraph.append(line)
        else:
            yield line
    yield from _fill(paragraph, width)


def _fill(paragraph: list[str], width: int) -> list[str]:
    if not paragraph:
        return []
    return fold(" ".join(line.strip() for line in paragraph), width, 2 if paragraph[0].startswith(("* ", "- ")) else 0)
