"""Draws a time line in the terminal: one line for each bar, all on one axis for each section. Imported only when there is something to
draw, hence rich at the top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from doctor.findings import Diagnostic
from doctor.output.text import cut, make_plain, neutralise, shorten_path
from doctor.output.timeline import Bar, Span, Timeline
from doctor.output.timeline_axis import Axis, clock_of, date_of, list_ticks, write_duration
from doctor.output.timeline_groups import Section, lay_out
from doctor.output.timeline_words import count_bars, describe_lines, describe_state
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

MOST_BARS = 60
NARROWEST = 40
NARROW = 80
"""Below this many columns the clock times and the codes go, and the names get less room."""
MOST_FINDINGS = 12
STYLES = {
    "execution": "cyan",
    "request": "blue",
    "tool": "magenta",
    "error": "bold red",
    "repair": "yellow",
    "moment": "dim",
    "group": "dim",
}
ENDS = {"execution": ("├", "─", "┤"), "request": ("▕", "▄", "▏"), "tool": ("▕", "█", "▏"), "group": ("├", "╌", "┤")}
POINTS = {"error": "✗", "repair": "◆", "moment": "·"}
OVERLAP, FOLD = {"confirmed": "▒", "possible": "░"}, "┊"
PLAIN = "├─┤▕▄▏█╌✗◆·▒░┊═│╷–…⋯"
_ASCII = str.maketrans(PLAIN, "|-||o|#>x*-%%:=||--.")
"""What the drawing characters become on a stream that can't say them: one for one, or the columns would move."""
INDENTED = ("request", "tool", "error")


class _Frame(Record):
    """Widths in cells. `clock` and `codes` are 0 where there is no room for them."""

    lines: int
    clock: int
    name: int
    canvas: int
    codes: int


def write_drawing(timeline: Timeline, stream: TextIO, width: int, color: bool = False) -> None:
    """The drawing, on a stream of any encoding."""
    from rich.console import Console

    width = max(NARROWEST, width)
    console = Console(
        file=stream, width=width, force_terminal=color, color_system="standard" if color else None, no_color=not color, highlight=False,
        markup=False, emoji=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    speaks_unicode = _speaks(stream, PLAIN)
    for line in draw_timeline(timeline, width):
        if not speaks_unicode:
            line.plain = make_plain(line.plain.translate(_ASCII))
        console.print(line, soft_wrap=True)


def _speaks(stream: TextIO, characters: str) -> bool:
    try:
        characters.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def draw_timeline(timeline: Timeline, width: int) -> list[Text]:
    """The whole drawing. Long sessions are grouped to at most MOST_BARS bars."""
    layout = lay_out(timeline, MOST_BARS)
    lines = [*_draw_title(timeline, width), Text("")]
    frame = _measure(timeline, [bar for section in layout.sections for bar in section.bars], width)
    date = ""
    for section in layout.sections:
        for line in _draw_section(section, timeline.findings, frame, date):
            lines.append(line)
        date = _last_date(section, date)
        lines.append(Text(""))
    if layout.hidden:
        lines += [Text(f"… {layout.hidden:,} more in between are not shown; --html and --format json show more", "dim"), Text("")]
    lines += _draw_notes(timeline, width)
    while lines and not lines[-1].plain:
        lines.pop()
    for line in lines:
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
    return lines


def _draw_title(timeline: Timeline, width: int) -> list[Text]:
    counts = count_bars(timeline)
    name = shorten_path(timeline.events_path, max(24, width - cell_len(counts) - 3))
    if cell_len(name) + cell_len(counts) + 3 <= width:
        return [Text(f"{name}   {counts}", "bold")]
    return [Text(name, "bold"), *_wrap("", counts, width)]


def _measure(timeline: Timeline, bars: Sequence[Bar], width: int) -> _Frame:
    wide = width >= NARROW
    lines = max((len(describe_lines(bar)) for bar in bars), default=3)
    lines = max(lines, len("events"))
    clock = len("12:18:01.238") if wide and any(clock_of(bar.start_time) for bar in bars) else 0
    codes = max((cell_len(_name_codes(bar, timeline.findings)) for bar in bars), default=0) if wide else 0
    longest = max((cell_len(_name_bar(bar)) for bar in bars), default=10)
    name = min(longest, 30 if wide else 20)
    taken = lines + 1 + (clock + 1 if clock else 0) + name + 1 + (codes + 1 if codes else 0)
    return _Frame(lines, clock, name, max(12, width - taken), codes)


def _draw_section(section: Section, findings: Sequence[Diagnostic], frame: _Frame, date: str) -> Iterator[Text]:
    yield _draw_axis(section, frame)
    for bar in section.bars:
        today = date_of(bar.start_time)
        if today and today != date:
            yield Text(" " * (frame.lines + 1) + f"{today} UTC", "dim")
            date = today
        yield _draw_bar(bar, section, findings, frame)
        for span in section.spans:
            if span.newer == bar.start_line and bar.kind == "execution":
                yield _draw_span(span, section.axis, frame)
    for piece in section.axis.folds:
        begin, end = piece.first_line + 1, piece.last_line + 1
        text = f"{FOLD} folded: {write_duration(piece.end - piece.begin)} without an event between {begin} and {end}"
        yield Text(" " * (frame.lines + 1) + text, "dim")


def _last_date(section: Section, date: str) -> str:
    return next((found for bar in reversed(section.bars) if (found := date_of(bar.start_time))), date)


def _draw_axis(section: Section, frame: _Frame) -> Text:
    """Clock times over the place where they are, as many as fit; then what each column is."""
    canvas = [" "] * frame.canvas
    free, minute = 0, ""
    for tick in list_ticks(section.axis, max(2, frame.canvas // 10)):
        cell = _to_cell(tick.place, frame.canvas)
        label = tick.label[5:] if tick.label[:5] == minute and len(tick.label) > 5 else tick.label
        text, start = "╷" + label, cell
        if cell + len(text) > frame.canvas:
            text, start = label + "╷", cell - len(label)
        if start >= free:
            canvas[start : start + len(text)] = text
            free, minute = start + len(text) + 1, tick.label[:5]
    head = "events".rjust(frame.lines) + " " + ("time".ljust(frame.clock + 1) if frame.clock else "") + " " * (frame.name + 1)
    return Text(head + "".join(canvas), "dim")


def _draw_bar(bar: Bar, section: Section, findings: Sequence[Diagnostic], frame: _Frame) -> Text:
    line = Text(describe_lines(bar).rjust(frame.lines) + " ", "dim")
    if frame.clock:
        line.append((clock_of(bar.start_time) or "").ljust(frame.clock + 1), "dim")
    line.append(_fit(_name_bar(bar), frame.name) + " ", STYLES[bar.kind] if bar.kind in ("execution", "error") else "")
    canvas = _paint(bar, section, frame.canvas)
    line.append("".join(canvas), STYLES[bar.kind])
    if frame.codes:
        line.append(" " + _name_codes(bar, findings), "bold yellow")
    return line


def _paint(bar: Bar, section: Section, width: int) -> list[str]:
    """The cells of one bar: folds behind it, the bar itself, and in an execution the part in which another one ran too."""
    axis = section.axis
    canvas = [" "] * width
    for piece in axis.folds:
        canvas[_to_cell((piece.left + piece.right) / 2, width)] = FOLD
    begin, end = _to_cell(axis.place(bar.first), width), _to_cell(axis.place(bar.last), width)
    if bar.kind in POINTS:
        canvas[begin] = POINTS[bar.kind]
        return canvas
    left, body, right = ENDS[bar.kind]
    if bar.state in ("open", "abandoned"):
        right = "╌"
    if bar.kind in ("request", "tool"):
        canvas[begin : end + 1] = body * (end - begin + 1)
        if right == "╌" and end + 1 < width:
            canvas[end + 1] = right
    elif begin == end:
        canvas[begin] = "│"
    else:
        canvas[begin : end + 1] = left + body * (end - begin - 1) + right
        for span in section.spans:
            if bar.kind == "execution" and bar.start_line in (span.older, span.newer):
                first, last = max(begin + 1, _to_cell(axis.place(span.first), width)), min(end - 1, _to_cell(axis.place(span.last), width))
                canvas[first : last + 1] = "═" * max(0, last - first + 1)
    state = describe_state(bar) if bar.kind in ("execution", "request", "tool") else ""
    if state:
        _write_beside(canvas, state, begin, end + (right == "╌"))
    return canvas


def _write_beside(canvas: list[str], text: str, begin: int, end: int) -> None:
    """Puts a text to the right of a bar, else to its left, else nowhere."""
    start = end + 2 if end + 2 + len(text) <= len(canvas) else begin - 1 - len(text)
    if start >= 0:
        canvas[start : start + len(text)] = text


def _draw_span(span: Span, axis: Axis, frame: _Frame) -> Text:
    begin, end = _to_cell(axis.place(span.first), frame.canvas), _to_cell(axis.place(span.last), frame.canvas)
    margin = frame.lines + 1 + (frame.clock + 1 if frame.clock else 0)
    name = _fit(f"overlap, {span.confidence}", frame.name)
    bar = " " * begin + OVERLAP.get(span.confidence, "░") * (end - begin + 1)
    return Text(" " * margin + name + " " + bar, "bold red")


def _draw_notes(timeline: Timeline, width: int) -> list[Text]:
    """What does not fit into the drawing: proofs of overlaps, error texts, the findings behind the codes."""
    lines: list[Text] = []
    for span in timeline.spans[:MOST_FINDINGS]:
        lines += _wrap(f"overlap {span.older + 1} / {span.newer + 1}  ", f"{span.confidence}: {span.proof}", width)
    errors = [bar for bar in timeline.bars if bar.kind == "error" and bar.text]
    for bar in errors[:MOST_FINDINGS]:
        lines += _wrap(f"error {bar.start_line + 1}  ", cut(bar.text, 3 * width), width)
    for found in timeline.findings[:MOST_FINDINGS]:
        place = f"row {found.line}  " if found.line and found.path == timeline.path else ""
        line = Text.assemble((found.code, "bold"), "  " + neutralise(f"{place}{found.severity}: {found.message}"))
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    left = max(0, len(timeline.spans) - MOST_FINDINGS) + max(0, len(errors) - MOST_FINDINGS)
    left += max(0, len(timeline.findings) - MOST_FINDINGS)
    if left:
        lines.append(Text(f"… and {left:,} more", "dim"))
    return lines


def _wrap(head: str, text: str, width: int) -> list[Text]:
    import textwrap

    room = max(20, width - 2)
    parts = textwrap.wrap(neutralise(head + " ".join(text.split())), room, subsequent_indent="  ", break_on_hyphens=False) or [head]
    first = Text(parts[0])
    first.stylize("bold", 0, len(head.rstrip()))
    return [first, *(Text(part) for part in parts[1:])]


def _name_bar(bar: Bar) -> str:
    name = neutralise(bar.label)
    return "  " + name if bar.kind in INDENTED or (bar.kind == "group" and bar.execution >= 0) else name


def _name_codes(bar: Bar, findings: Sequence[Diagnostic]) -> str:
    codes = list(dict.fromkeys(findings[number].code for number in bar.findings))
    return " ".join(codes[:2]) + (f" +{len(codes) - 2}" if len(codes) > 2 else "")


def _fit(text: str, width: int) -> str:
    return set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)


def _to_cell(place: float, width: int) -> int:
    return min(width - 1, max(0, round(place * (width - 1))))
