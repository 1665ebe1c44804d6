from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.cells import cell_len

from doctor.findings import Confidence, Excerpt, Interval, Report, Safety, Severity
from doctor.output.options import Options
from doctor.output.reporters import write_report
from tests.output.samples import EVENTS, FIX, PATH, clean_file, failure, file_report, fix_report, overlapping, seed_report, shadowed


def write(report: Report, **options: Any) -> str:
    stream = io.StringIO()
    write_report("human", report, stream, Options(**options))
    return stream.getvalue()


def squeeze(text: str) -> str:
    return " ".join(text.split())


def test_the_picture_of_an_overlap() -> None:
    text = write(seed_report())
    lines = text.splitlines()
    assert lines[0] == "7a2c5a9f…/transcript.jsonl   amplifier · 13 rows · events.jsonl 61 lines"
    assert "error[AD305] placeholder-shadows-result: the real result of todo (toolu_015c…c976) stands six rows too late" in squeeze(text)
    rows = [line for line in lines if "│" in line]
    assert [re.sub(r"\s+", " ", row)[:18].strip() for row in rows[:5]] == [
        "4 │ assistant cal", "> 5 │ tool ↳ todo", "9 │ assistant cal", "10 │ tool ↳ bash", "11 │ tool ↳ todo",
    ]  # fmt: skip
    assert lines[lines.index(rows[1]) + 1].strip() == "⋮"
    assert rows[1].endswith("placeholder") and rows[2].endswith("foreign turn") and rows[4].endswith("the real result")
    assert len(rows[1]) == len(rows[2]) == len(rows[4]) == 100
    assert "  fix    safe: row 11 takes the place of row 5; row 5 is kept in the quarantine" in lines
    assert "error[AD501] overlapping-executions, confirmed: two executions ran on this session at the same time" in lines
    assert any(re.match(r'  events 17 ├─+ "Do the slow work with a delegate\." ─+┤ 48$', line) for line in lines)
    assert any(re.match(r'  events 32 +├─+ "Are you there\? Run something quick\." ─+┤ 53$', line) for line in lines)
    assert any(line.strip() == "12:18:01.238 – 12:18:07.842  ended in error" for line in lines)
    assert "  proof  line 43: delegate finished, whose call (27) is older than the second start (32)" in lines
    assert lines[-2] == "not resumable as it is · resumable after fix (2 safe fixes)"
    assert lines[-1] == f"next: amplifier-doctor fix --dry-run {PATH}"


def test_bars_stand_where_their_lines_are() -> None:
    bars = [line for line in write(seed_report()).splitlines() if line.startswith("  events")]
    begin, end = (bar.index("├") for bar in bars), [bar.index("┤") for bar in bars]
    first, second = begin
    assert first < second < end[0] < end[1]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_lines_fit_the_width(width: int) -> None:
    """All but the commands and paths at the end, which must stay whole to be pasted."""
    for report in (seed_report(), fix_report()):
        for line in write(report, width=width).splitlines():
            if PATH not in line:
                assert cell_len(line) <= width, line


def test_wide_characters_count_double() -> None:
    rows = (Excerpt(PATH, 1, "user", "你好" * 40, "the prompt", True),)
    for line in write(Report((file_report(shadowed(related=rows)),)), width=80).splitlines()[:-1]:
        assert cell_len(line) <= 80


def test_narrow_terminals_get_labels_below() -> None:
    assert any(line.strip() == "│            ↑ the real result" for line in write(seed_report(), width=60).splitlines())


def test_no_excerpt_shows_no_contents() -> None:
    text = write(seed_report(), excerpt=False)
    for secret in ("unknown_error", "returncode", "slow work", "Are you there", "calls todo"):
        assert secret not in text
    assert "placeholder" in text and "foreign turn" in text and "events 17 ├" in text


def test_contents_can_not_act_on_the_terminal() -> None:
    evil = "\x1b[2J\x9b31m\u202egnp\u2066\n\r"
    rows = (Excerpt(PATH, 1, f"us{evil}", evil * 3, evil, True),)
    found = shadowed(related=rows, message=evil, why=evil, fix=FIX._replace(title=evil))
    bar = overlapping(intervals=(Interval(evil, 0, 9, evil, evil, evil),), why=evil, path=f"{EVENTS}{evil}")
    text = write(Report((file_report(found, bar, path=f"/srv/{evil}/transcript.jsonl"),)))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_many_of_one_code_are_summed_up() -> None:
    many = [shadowed(line=number, message=f"finding {number}") for number in range(1, 43)]
    text = write(Report((file_report(*many),)))
    assert text.count("error[AD305]") == 5
    assert "… 37 more AD305 (rows 6, 7, 8, 9, 10, 11, …)" in text


def test_errors_come_before_warnings() -> None:
    text = write(Report((file_report(shadowed(severity=Severity.WARNING, code="AD108"), shadowed()),)))
    assert text.index("error[AD305]") < text.index("warning[AD108]")


def test_doubt_is_said() -> None:
    found = shadowed(confidence=Confidence.POSSIBLE, severity=Severity.WARNING)
    assert "warning[AD305] placeholder-shadows-result, possible: " in write(Report((file_report(found, verdict="resumable"),)))


@pytest.mark.parametrize(
    ("safety", "words"),
    [
        (Safety.SAFE, "fix    safe: do it"),
        (Safety.UNSAFE, "fix    unsafe (--unsafe): do it"),
        (Safety.MANUAL, "fix    shown only: do it"),
    ],
)
def test_each_kind_of_fix_says_how_to_get_it(safety: Safety, words: str) -> None:
    assert words in write(Report((file_report(shadowed(fix=FIX._replace(safety=safety, title="do it"))),)))


def test_rows_of_other_files_carry_their_name() -> None:
    rows = (Excerpt(EVENTS, 43, "event", "", "the delegate ends", False), Excerpt(PATH, 5, "tool", "x", "", True))
    lines = [line for line in write(Report((file_report(shadowed(related=rows)),))).splitlines() if "│" in line]
    assert lines[0].strip().startswith(">") and lines[1].strip().startswith("events 43 │ event")


def test_an_execution_without_an_end_is_drawn_open() -> None:
    bars = (Interval("a", 0, -1, "2026-01-01T00:00:00Z", ""), Interval("b", 5, 9, "", ""))
    line = next(line for line in write(Report((file_report(overlapping(intervals=bars)),))).splitlines() if "events  1" in line)
    assert line.endswith("╌")


def test_a_clean_file_is_one_line() -> None:
    assert write(Report((clean_file(),))) == "/srv/sessions/a/transcript.jsonl: clean · 10 rows · resumable\n"


def test_of_many_files_only_those_with_findings_are_shown() -> None:
    info = file_report(shadowed(severity=Severity.INFO, fix=None), path="/srv/sessions/i/transcript.jsonl", verdict="resumable")
    text = write(Report((clean_file(), *seed_report().files, info)))
    assert "/srv/sessions/a" not in text and "/srv/sessions/i" not in text
    assert text.splitlines()[-1] == "3 sessions: 2 clean, 1 with findings · 3 errors, 1 note · 2 safe fixes"


def test_paths_that_could_not_be_judged_are_in_the_sum() -> None:
    text = write(Report((clean_file(), clean_file("/srv/sessions/c/transcript.jsonl")), (failure(),)))
    assert text == "2 sessions: 2 clean, 0 with findings · 1 path could not be judged\n"


def test_what_a_fix_did() -> None:
    lines = write(fix_report(), command="fix").splitlines()
    assert "applied 2 fixes" in lines
    assert "  AD305  row 11 takes the place of row 5; row 5 is kept in the quarantine" in lines
    assert any("from events.jsonl:39" in line for line in lines)
    for label in ("backup", "receipt", "quarantine"):
        assert any(line.strip().startswith(label) for line in lines)
    assert any(line.startswith("held back: 1 fix") and f"fix --dry-run --unsafe {PATH}" in line for line in lines)
    assert lines[-2:] == ["now resumable", f"undo: amplifier-doctor undo {PATH}"]


def test_what_a_dry_run_would_do() -> None:
    text = write(fix_report(written="", backup="", receipt="", quarantine=""), command="fix", dry_run=True, carried=("--unsafe",))
    assert "would apply 2 fixes; nothing written" in text
    assert text.splitlines()[-2:] == ["would then be resumable", f"next: amplifier-doctor fix --unsafe {PATH}"]
    assert "undo:" not in text


def test_a_diff_is_cut_and_harmless() -> None:
    text = write(fix_report(diff=f"--- a\n+++ b\n-{'x' * 5000}\n+\x1b[2J\n"), command="fix", show_diff=True)
    assert "… (5,001 characters)" in text and "\x1b" not in text and "+\\x1b[2J" in text


def test_color_is_there_only_when_asked_for() -> None:
    assert "\x1b[" in write(seed_report(), color=True)
    assert "\x1b[" not in write(seed_report())


def test_a_stream_without_unicode_gets_plain_drawings() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="backslashreplace")
    write_report("human", seed_report(), stream, Options())
    write_report("human", Report((clean_file(),)), stream, Options())
    stream.flush()
    assert b"\\u" not in raw.getvalue()


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("live", "live: its lock is held · fix does not touch it"),
        ("not-resumable", "not resumable"),
        ("unknown", "unknown: too little could be read"),
    ],
)
def test_every_verdict_is_said(verdict: str, words: str) -> None:
    assert words in write(Report((file_report(shadowed(fix=None), verdict=verdict, liveness="its lock is held"),)))


@pytest.mark.parametrize(
    ("safeties", "verdict", "command"),
    [
        ([Safety.SAFE], "resumable after fix (1 safe fix)", "fix --dry-run"),
        ([Safety.UNSAFE], "resumable after fix --unsafe (1 unsafe fix)", "fix --dry-run --unsafe"),
        ([Safety.SAFE, Safety.UNSAFE], "resumable after fix --unsafe (1 safe fix, 1 unsafe fix)", "fix --dry-run --unsafe"),
    ],
)
def test_the_next_command_does_what_the_verdict_says(safeties: list[Safety], verdict: str, command: str) -> None:
    found = [shadowed(fix=FIX._replace(safety=safety)) for safety in safeties]
    lines = write(Report((file_report(*found),))).splitlines()
    assert lines[-2].endswith(verdict)
    assert lines[-1] == f"next: amplifier-doctor {command} {PATH}"
