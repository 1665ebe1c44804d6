from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from doctor.output.timeline_text import draw_timeline, write_drawing
from tests.output.timelines import SEED, Story, build, tell_nine_hours, tell_turn


def draw(folder: Path, width: int = 100) -> list[str]:
    return [line.plain for line in draw_timeline(build(folder), width)]


def line_of(lines: list[str], start: str) -> str:
    return next(line for line in lines if line.lstrip().startswith(start))


def test_the_seed_session_shows_the_overlap() -> None:
    lines = draw(SEED)
    older, newer, band = line_of(lines, "17-48"), line_of(lines, "32-53"), line_of(lines, "overlap, confirmed")
    assert re.search(r"Do the slow work.* ├─+═+┤ +AD402 AD501$", older)
    assert re.search(r"Are you there\?.* ├═+─+┤ +AD507 AD501$", newer)
    begin, end = band.index("▒"), band.rindex("▒")
    assert begin == newer.index("├") and abs(end - older.index("┤")) <= 1
    assert "refused" in line_of(lines, "44-46") and "✗" in line_of(lines, "47 ") and "◆" in line_of(lines, "<32")
    assert "2026-11-29 UTC" in "\n".join(lines)
    assert sum("2026-11-29" in line for line in lines) == 1
    assert any(line.startswith("overlap 17 / 32  confirmed: delegate finished at event 43") for line in lines)


@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int, tmp_path: Path) -> None:
    for folder in (SEED, tell_nine_hours().write(tmp_path)):
        assert [line for line in draw(folder, width) if cell_len(line) > width] == []


def test_nine_hours_take_one_cell(tmp_path: Path) -> None:
    lines = draw(tell_nine_hours().write(tmp_path))
    assert len(lines) < 30
    assert "┊ folded: 9 h 17 min without an event between 5 and 6" in "\n".join(lines)
    assert "┊" in line_of(lines, "2-4")


def test_long_sessions_stay_short(tmp_path: Path) -> None:
    story = Story()
    for number in range(2_000):
        tell_turn(story, 30 * number, f"turn {number}", number)
    lines = draw(story.write(tmp_path))
    assert len(lines) < 100
    assert any("executions, " in line and "requests" in line for line in lines)


def test_hostile_names_are_harmless(tmp_path: Path) -> None:
    story = Story()
    tell_turn(story, 0, "\x1b[31m \u202eb\u2028 [bold]漢字漢字漢字", 1)
    text = "\n".join(draw(story.write(tmp_path)))
    assert "\\x1b[31m \\u202eb [bold]漢" in text
    assert text.replace("\n", "").isprintable()


def test_a_stream_without_unicode_gets_ascii(tmp_path: Path) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "ascii", errors="backslashreplace")
    write_drawing(build(SEED), stream, 100)
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert re.search(r"17-48.* \|-+=+\|", text) and "%%%" in text and "\\u" not in text


def test_colors_only_when_wanted() -> None:
    for color in (False, True):
        stream = io.StringIO()
        write_drawing(build(SEED), stream, 100, color)
        assert ("\x1b[" in stream.getvalue()) is color


def test_a_log_without_executions_says_so(tmp_path: Path) -> None:
    story = Story()
    story.row(role="user", content="hello")
    story.event(0, "session:start")
    lines = draw(story.write(tmp_path))
    assert "no execution · 1 event" in lines[0]
