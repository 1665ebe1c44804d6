"""Draws one finding: its headline, its rows, how it came about, what providers answer, and what the fix would do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from doctor.findings import Diagnostic, Safety, Severity
from doctor.output.excerpt import draw_excerpt
from doctor.output.headline import LONGEST_PROSE, SAFETY_WORDS, compose_headline
from doctor.output.intervals import draw_intervals
from doctor.output.options import Options
from doctor.output.text import cut, list_numbers, neutralise
from doctor.refusals import WIRES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_OF_ONE_CODE = 5
_NO_CONSOLE: Any = None
"""Rich asks a console only to spread a text over the full width; importing one takes as long as drawing thirty files."""


def draw_findings(found: Iterable[Diagnostic], path: str, options: Options, targets: Sequence[str] = WIRES) -> list[Text]:
    """All findings of a file, the worst first, those of one code together and at most the first five of each. Of the providers' answers
    only those of `targets` are shown: the file's last lines name the others."""
    groups: dict[tuple[str, Severity], list[Diagnostic]] = {}
    for diagnostic in sorted(found, key=lambda item: -item.severity.rank):
        groups.setdefault((diagnostic.code, diagnostic.severity), []).append(diagnostic)
    lines: list[Text] = []
    drawn: Severity | None = None
    for (code, _), members in groups.items():
        why = ""
        for diagnostic in members[:MOST_OF_ONE_CODE]:
            shown = diagnostic._replace(why="as above") if diagnostic.why and diagnostic.why == why else diagnostic
            shown = shown._replace(wires=tuple((wire, text) for wire, text in shown.wires if wire in targets))
            gap = [] if drawn is Severity.INFO is shown.severity else [Text("")]
            lines += [*gap, *draw_finding(shown, path, options)]
            why, drawn = diagnostic.why, shown.severity
        rest = members[MOST_OF_ONE_CODE:]
        if rest:
            rows = [diagnostic.line for diagnostic in rest if diagnostic.line]
            where = f" (rows {list_numbers(rows)})" if rows else ""
            lines += [Text(""), Text(f"… {len(rest):,} more {code}{where}; --format concise lists them all", "dim")]
    return lines


def draw_finding(found: Diagnostic, path: str, options: Options) -> list[Text]:
    """One finding as lines that fit the width."""
    lines = hang(Text.assemble(*compose_headline(found, path)), 2, options.width)
    if found.severity is Severity.INFO:
        return lines
    # Bars show the event lines already.
    rows = [row for row in found.related if row.path == path] if found.intervals else found.related
    lines += draw_excerpt(rows, path, options.width, options.excerpt)
    if found.intervals:
        # A transcript may tell of its turns itself.
        lines += draw_intervals(found.intervals, options.width, options.excerpt, "rows" if found.path == path else "events")
    if found.why:
        lines += _draw_note("proof" if found.intervals else "why", found.why, options.width)
    lines += draw_answers(found.wires, options.width)
    lines += _draw_fix(found, options.width)
    return lines


def draw_answers(wires: Iterable[tuple[str, str]], width: int) -> list[Text]:
    """`anthropic answers 400: …`, wires with the same words on one line."""
    by_answer: dict[str, list[str]] = {}
    for wire, answer in wires:
        by_answer.setdefault(answer, []).append(wire)
    lines: list[Text] = []
    for answer, names in by_answer.items():
        verb = "answers" if len(names) == 1 else "answer"
        text = Text.assemble((f"  {', '.join(sorted(names))} {verb} 400:", "bold"), f" {neutralise(cut(answer, LONGEST_PROSE))}")
        lines += hang(text, 9, width)
    return lines


def _draw_fix(found: Diagnostic, width: int) -> list[Text]:
    if found.fix is None:
        # What the event log knows is history that explains other findings: they carry the fixes.
        if found.severity is Severity.INFO or found.intervals or found.fix_pass >= 5:
            return []
        return _draw_note("fix", f"none; amplifier-doctor explain {found.code} says what can be done", width)
    kind = SAFETY_WORDS[found.fix.safety]
    style = {Safety.SAFE: "green", Safety.UNSAFE: "yellow", Safety.MANUAL: "dim"}[found.fix.safety]
    return _draw_note("fix", found.fix.title, width, Text(f"{kind}: ", style))


def _draw_note(label: str, prose: str, width: int, lead: Text | None = None) -> list[Text]:
    line = Text.assemble((f"  {label:<6} ", "bold"))
    if lead is not None:
        line.append_text(lead)
    line.append(neutralise(cut(prose, LONGEST_PROSE)))
    return hang(line, 9, width)


def hang(line: Text, indent: int, width: int) -> list[Text]:
    """A text wrapped at `width`, every line but the first indented."""
    if cell_len(line.plain) <= width and not any(sign in line.plain for sign in "\n\t"):
        # Most lines fit. To have them wrapped all the same took a seventh of the drawing.
        return [line]
    wrapped = line.wrap(_NO_CONSOLE, width)
    if len(wrapped) < 2:
        return [line]
    first = wrapped[0]
    first.rstrip()
    rest = line[len(first) :]
    rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
    lines = [first]
    for part in rest.wrap(_NO_CONSOLE, max(10, width - indent)):
        part.rstrip()
        lines.append(Text(" " * indent).append_text(part))
    return lines
