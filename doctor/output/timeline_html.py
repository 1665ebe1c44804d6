"""Writes a time line as one page: bars as SVG, the transcript beside it. Nothing is loaded from anywhere, and nothing a row says is code.

The page is complete without its script, which only follows clicks. Its content security policy allows this style and this script, by
their hashes, and no connection at all.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from doctor.findings import Diagnostic
from doctor.model import Message, Transcript
from doctor.output.text import count_of, join_counts
from doctor.output.timeline import Bar, Timeline
from doctor.output.timeline_groups import lay_out
from doctor.output.timeline_svg import draw_section, escape, rank_codes
from doctor.output.timeline_transcript import choose_rows, write_row_text
from doctor.output.timeline_words import count_bars, describe_lines, describe_state, describe_times

MOST_BARS = 1_500
MOST_FINDINGS = 200
SHORT_LIST = 3
SECTION_BARS = 40


def write_page(timeline: Timeline, transcript: Transcript, with_texts: bool = True) -> str:
    """The whole page. Without `with_texts` rows are named but their contents left out."""
    layout = lay_out(timeline, MOST_BARS, SECTION_BARS)
    charts = [
        draw_section(section, [_describe_bar(bar, timeline.findings) for bar in section.bars], timeline.findings)
        for section in layout.sections
    ]
    if layout.hidden:
        charts.append(_leave_out(f"{layout.hidden:,} more bars in between are not shown"))
    style, script = _read_part("timeline.css"), _read_part("timeline.js")
    name = timeline.session_id or timeline.path
    return _fill(
        _read_part("timeline.html"),
        {
            "style": style,
            "style_hash": _hash(style),
            "script": script,
            "script_hash": _hash(script),
            "title": escape(f"time line of {name}"),
            "heading": escape(f"Time line of session {name}"),
            "counts": escape(f"{count_bars(timeline)} · {count_of(timeline.rows, 'row')} · times in UTC"),
            "findings": "\n".join(_write_findings(timeline)),
            "sections": "\n".join(charts),
            "rows": "\n".join(_write_rows(timeline, transcript, [bar for part in layout.sections for bar in part.bars], with_texts)),
        },
    )


def escape_lines(text: str) -> str:
    """`escape` for a text of several lines."""
    return "\n".join("\t".join(escape(part) for part in line.split("\t")) for line in text.split("\n"))


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """One pass, so that a row that says `{{rows}}` stays what it is."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _read_part(name: str) -> str:
    return files("doctor.output").joinpath(name).read_text("utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _describe_bar(bar: Bar, findings: Sequence[Diagnostic]) -> str:
    """All about a bar, for its tooltip and its label: one fact a line."""
    lines = describe_lines(bar)
    where = f"before event {bar.first + 1}" if lines.startswith("<") else f"event {lines}" if lines.isdecimal() else f"events {lines}"
    rows = f"rows {', '.join(str(row + 1) for row in bar.rows[:20])}{', …' if len(bar.rows) > 20 else ''}" if bar.rows else ""
    codes = " ".join(dict.fromkeys(findings[number].code for number in bar.findings))
    facts = (bar.label, " · ".join(part for part in (where, describe_times(bar), describe_state(bar)) if part), bar.text, rows, codes)
    return "\n".join(escape(fact) for fact in facts if fact)


def _write_findings(timeline: Timeline) -> Iterator[str]:
    if not timeline.findings:
        yield "<p>No findings.</p>"
        return
    names = {"error": "error", "warning": "warning", "info": "note"}
    counts = [(sum(1 for found in timeline.findings if found.severity.value == severity), name) for severity, name in names.items()]
    is_open = " open" if len(timeline.findings) <= SHORT_LIST else ""
    yield f'<details id="findings"{is_open}><summary>Findings: {escape(join_counts(counts))}</summary><ul>'
    for number, found in enumerate(timeline.findings[:MOST_FINDINGS]):
        place = f"row {found.line}: " if found.line and found.path == timeline.path else ""
        yield (
            f'<li data-finding="{number}" tabindex="0" role="button"><span class="code severity-{found.severity.value}">'
            f"{escape(found.code)}</span> {escape(f'{found.severity.value}: {place}{found.message}')}</li>"
        )
    yield "</ul>"
    if len(timeline.findings) > MOST_FINDINGS:
        yield _leave_out(f"and {len(timeline.findings) - MOST_FINDINGS:,} more")
    yield "</details>"


def _write_rows(timeline: Timeline, transcript: Transcript, bars: Sequence[Bar], with_texts: bool) -> Iterator[str]:
    if not transcript.line_count:
        yield _leave_out("the transcript has no rows")
    marks = _find_marks(timeline)
    wanted = set(marks).union(*(bar.rows for bar in bars if bar.is_notable))
    numbers, longest = choose_rows(transcript, wanted)
    messages = {message.line: message for message in reversed(transcript.messages)}
    expected = 0
    for line in numbers:
        if line > expected:
            yield _leave_out(f"{count_of(line - expected, 'row')} left out")
        expected = line + 1
        message = messages.get(line)
        text = write_row_text(transcript, line, longest) if with_texts else ""
        yield _write_row(line, message, sorted(marks.get(line, ())), timeline.findings, text)
    if expected < transcript.line_count:
        yield _leave_out(f"{count_of(transcript.line_count - expected, 'row')} left out")


def _write_row(line: int, message: Message | None, marks: Sequence[int], findings: Sequence[Diagnostic], text: str) -> str:
    role = message.role if message is not None and message.role in ("user", "assistant", "tool", "system") else "other"
    note = _name_row(message)
    made_up = " made-up" if note in ("placeholder", "made up by a repair") else ""
    codes = rank_codes(findings[number] for number in marks)
    badges = "".join(f'<span class="code severity-{severity.value}">{escape(code)}</span>' for code, severity in codes)
    head = " · ".join(part for part in (f"row {line + 1}", role, note) if part)
    body = f'<pre dir="auto">{escape_lines(text)}</pre>' if text else ""
    return (
        f'<article class="{role}{made_up}" data-row="{line + 1}" data-findings="{" ".join(map(str, marks))}" tabindex="0" '
        f'aria-label="{escape(head)}"><h3>{escape(head)}{badges}</h3>{body}</article>'
    )


def _name_row(message: Message | None) -> str:
    if message is None:
        return "unreadable or empty"
    if message.kind == "invented":
        return "made up by a repair"
    if any(result.maker for result in message.results):
        return "placeholder"
    return {"reminder": "reminder", "hook": "hook", "odd": "no usable role"}.get(message.kind, "")


def _find_marks(timeline: Timeline) -> dict[int, set[int]]:
    """Which findings speak of which row (0-based)."""
    marks: dict[int, set[int]] = {}
    for number, found in enumerate(timeline.findings):
        if found.line and found.path == timeline.path:
            marks.setdefault(found.line - 1, set()).add(number)
        for row in found.related:
            if row.path == timeline.path:
                marks.setdefault(row.line - 1, set()).add(number)
    return marks


def _leave_out(text: str) -> str:
    return f'<p class="left-out">… {escape(text)}</p>'
