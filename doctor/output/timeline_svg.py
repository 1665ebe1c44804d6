"""Draws one section of a time line as SVG. Places are percentages, so that the drawing fits any width without its texts being stretched."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

from doctor.findings import Diagnostic, Severity
from doctor.output.text import cut, neutralise
from doctor.output.timeline import TROUBLED, Bar
from doctor.output.timeline_axis import clock_of, date_of, duration_between, list_ticks, write_duration
from doctor.output.timeline_groups import Section
from doctor.output.timeline_words import describe_lines, describe_state

ROW, LABEL, BAR, THICK = 34, 12, 18, 10
"""Pixels: height of a row, its text's base line, the top of its bar, and how thick the bar is."""
INDENT = 14
LINE = 15
LONGEST_LABEL = 90
MOST_TICKS = 5
TEXT_WIDTH = 23
"""Percent that a clock time takes on a narrow screen, where texts on one line have to keep apart too."""
INDENTED = ("request", "tool", "error")
POINTS = {
    "error": '<path class="shape" d="M-5 -5 5 5M-5 5 5 -5"/>',
    "repair": '<path class="shape" d="M0 -6 6 0 0 6 -6 0Z"/>',
    "moment": '<circle class="shape" r="3"/>',
}


def draw_section(section: Section, descriptions: Sequence[str], findings: Sequence[Diagnostic]) -> str:
    """`descriptions` are the tooltips of the section's bars, already escaped."""
    top = LINE * (1 + bool(section.axis.folds) + min(3, len(section.spans))) + 6
    height = top + ROW * len(section.bars)
    date = next((found for bar in section.bars if (found := date_of(bar.start_time))), "")
    first, last = section.bars[0].first + 1, max(bar.last for bar in section.bars) + 1
    title = f"{date} UTC · events {first} to {last}" if date else f"events {first} to {last}"
    parts = [
        f'<h2>{escape(title)}</h2><svg class="chart" height="{height}" role="group" aria-label="{escape(title)}">',
        *_draw_axis(section, height),
        *_draw_spans(section, top, height),
    ]
    for index, (bar, description) in enumerate(zip(section.bars, descriptions, strict=True)):
        parts += _draw_bar(bar, section, top + ROW * index, description, date, findings)
    return "\n".join([*parts, "</svg>"])


def _draw_axis(section: Section, height: int) -> Iterator[str]:
    taken = [(piece.left + piece.right) / 2 for piece in section.axis.folds]
    before = -TEXT_WIDTH
    for piece in section.axis.folds:
        left, right = _percent(piece.left), _percent(piece.right)
        length = escape(write_duration(piece.end - piece.begin))
        yield f'<rect class="fold" x="{left:.2f}%" y="{LINE}" width="{right - left:.2f}%" height="{height - LINE}"/>'
        for edge in (left, right):
            yield f'<line class="foldedge" x1="{edge:.2f}%" x2="{edge:.2f}%" y1="{LINE}" y2="{height}"/>'
        middle = min(93.0, max(7.0, (left + right) / 2))
        if middle - before >= TEXT_WIDTH:
            yield (
                f'<text class="foldtext" x="{middle:.2f}%" y="{2 * LINE - 3}"><title>{length} without an event, folded</title>'
                f"⋯ {length}</text>"
            )
            before = middle
    free = 0.0
    for tick in list_ticks(section.axis, MOST_TICKS):
        place = _percent(tick.place)
        if all(abs(tick.place - other) > 0.01 for other in taken):
            yield f'<line class="tick" x1="{place:.2f}%" x2="{place:.2f}%" y1="{LINE}" y2="{height}"/>'
        start, anchor = (place, "start") if place + TEXT_WIDTH <= 100 else (place - TEXT_WIDTH, "end")
        if start >= free:
            yield f'<text class="clock" x="{place:.2f}%" y="{LINE - 4}" text-anchor="{anchor}">{escape(tick.label)}</text>'
            free = start + TEXT_WIDTH


def _draw_spans(section: Section, top: int, height: int) -> Iterator[str]:
    """Bands over all rows where two executions ran, each with its name above."""
    above = LINE * (1 + bool(section.axis.folds))
    for number, span in enumerate(section.spans):
        left, right = _percent(section.axis.place(span.first)), _percent(section.axis.place(span.last))
        text = escape(f"overlap, {span.confidence}")
        width = max(0.3, right - left)
        yield (
            f'<rect class="band {escape(span.confidence)}" x="{left:.2f}%" y="{top - 4}" width="{width:.2f}%" height="{height - top + 4}"/>'
        )
        for edge in (left, right):
            yield f'<line class="bandedge" x1="{edge:.2f}%" x2="{edge:.2f}%" y1="{top - 4}" y2="{height}"/>'
        if number < 3:
            place, anchor = (left, "start") if left < 60 else (right, "end")
            y = above + LINE * (number + 1) - 3
            title = escape(f"executions {span.older + 1} and {span.newer + 1}: {span.proof}")
            yield f'<text class="bandtext" x="{place:.2f}%" y="{y}" text-anchor="{anchor}"><title>{title}</title>{text}</text>'


def _draw_bar(bar: Bar, section: Section, y: int, description: str, date: str, findings: Sequence[Diagnostic]) -> list[str]:
    classes = [bar.kind, *(["troubled"] if bar.state in TROUBLED else []), *(["open"] if bar.state in ("open", "abandoned") else [])]
    rows = " ".join(str(row + 1) for row in bar.rows)
    parts = [
        f'<g class="bar {" ".join(classes)}" tabindex="0" role="button" data-rows="{rows}" '
        f'data-findings="{" ".join(map(str, bar.findings))}" aria-label="{description}">',
        f'<title>{description}</title><rect class="back" x="0" y="{y}" width="100%" height="{ROW - 2}" rx="4"/>',
        _write_label(bar, y + LABEL, date, findings),
        *_draw_shape(bar, section, y + BAR),
        "</g>",
    ]
    return parts


def _write_label(bar: Bar, y: int, date: str, findings: Sequence[Diagnostic]) -> str:
    """`17-48 Do the slow work.  12:18:01.238, 6.6 s, ended in error  AD501`"""
    indent = INDENT if bar.kind in INDENTED or (bar.kind == "group" and bar.execution >= 0) else 2
    today = date_of(bar.start_time)
    day = today[5:] + " " if today and today != date else ""
    length = duration_between(bar.start_time, bar.end_time) if bar.start_line != bar.end_line else ""
    facts = ", ".join(part for part in (day + clock_of(bar.start_time), length, describe_state(bar)) if part)
    codes = [(f"codes severity-{severity.value}", code) for code, severity in rank_codes(findings[number] for number in bar.findings)]
    spans = [("lines", describe_lines(bar)), ("label", cut(bar.label, LONGEST_LABEL)), *codes, ("clock", facts)]
    texts = "  ".join(f'<tspan class="{name}">{escape(text)}</tspan>' for name, text in spans if text)
    return f'<text x="{indent}" y="{y}">{texts}</text>'


def _draw_shape(bar: Bar, section: Section, y: int) -> Iterator[str]:
    axis = section.axis
    left, right = _percent(axis.place(bar.first)), _percent(axis.place(bar.last))
    if bar.kind in POINTS:
        yield f'<svg class="point" x="{left:.2f}%" y="{y + THICK // 2}" width="1" height="1">{POINTS[bar.kind]}</svg>'
        return
    yield f'<rect class="shape" x="{left:.2f}%" y="{y}" width="{max(0.1, right - left):.2f}%" height="{THICK}" rx="2"/>'
    if bar.kind != "execution":
        return
    for span in section.spans:
        if bar.start_line in (span.older, span.newer):
            first, last = _percent(axis.place(span.first)), _percent(axis.place(span.last))
            yield f'<rect class="shared" x="{first:.2f}%" y="{y + 3}" width="{max(0.1, last - first):.2f}%" height="{THICK - 6}"/>'


def _percent(place: float) -> float:
    """A place on the axis as a percentage of the drawing, with room for a mark at either edge."""
    return 1 + 98 * place


def rank_codes(findings: Iterable[Diagnostic]) -> list[tuple[str, Severity]]:
    """Each code once, with the worst severity that it was found with."""
    worst: dict[str, Severity] = {}
    for found in findings:
        worst[found.code] = max(found.severity, worst.get(found.code, found.severity), key=lambda severity: severity.rank)
    return list(worst.items())


def escape(text: str) -> str:
    """Text for any place in the page: as an attribute, between tags. What could hide or reorder text is shown as an escape."""
    return html.escape(neutralise(text), quote=True)
