"""The table of sessions: its words, its numbers, and what it must not let through."""

from __future__ import annotations

import io
import json

import pytest

from doctor.analysis.survey import SurveyRow
from doctor.findings import Failure
from doctor.output.survey import shorten_ids, write_age, write_json, write_jsonl, write_size, write_table

NOW = 1_800_000_000.0
SOUND = SurveyRow("7a2c5a9f-c6d9", "-home-dev", "/s/7a/transcript.jsonl", NOW - 7200, 4_200, 3, "resumable", "", "", 0, 0, 1, ())
BROKEN = SOUND._replace(session_id="7a2c5a9f-ffff", verdict="after-fix", errors=2, warnings=1, codes=("AD305", "AD507"))
CHILD = SOUND._replace(session_id="0000000000000000-5a1b_explorer", verdict="not-resumable", move="re-delegate", errors=1, codes=("AD602",))
LIVE = SOUND._replace(session_id="live", verdict="live", liveness="its lock is held by app-cli (process 12 on host)")
UNREAD = SOUND._replace(session_id="bad\x1b[31m", verdict="unreadable", failures=(Failure("p", "unreadable", "can't read p"),))
ROWS = [CHILD, UNREAD, BROKEN, LIVE, SOUND]


def table(**more) -> list[str]:
    stream = io.StringIO()
    write_table(ROWS, stream, now=NOW, **more)
    return stream.getvalue().splitlines()


def test_each_session_is_one_line_with_an_answer() -> None:
    lines = table()
    assert lines[0].split() == ["session", "project", "age", "size", "turns", "live", "findings", "resumable"]
    assert lines[1].endswith("1 error AD602  no: re-delegate") or "no: re-delegate" in lines[1]
    assert lines[1].startswith("00000000 (explorer)")
    assert "\x1b" not in "".join(lines)
    assert "2 errors, 1 warning AD305 AD507" in lines[3] and lines[3].endswith("after fix") and "2h" in lines[3] and "4.2 KB" in lines[3]
    assert " live " in lines[4] and lines[5].endswith("yes")
    assert lines[-1] == "5 sessions: 1 resumable, 1 after fix, 1 not resumable, 1 live, 1 could not be judged"


def test_what_was_never_looked_at_has_no_age() -> None:
    lost = UNREAD._replace(modified=0.0)
    stream, document = io.StringIO(), io.StringIO()
    write_table([lost, SOUND], stream, now=NOW)
    cells = stream.getvalue().splitlines()[1].split()
    assert cells[2] == "-" and stream.getvalue().splitlines()[2].split()[2] == "2h"
    write_json([lost], document, roots=["/s"], now=NOW)
    (row,) = json.loads(document.getvalue())["sessions"]
    assert row["modified"] is None and row["age_seconds"] is None


def test_ids_are_cut_to_what_tells_them_apart() -> None:
    short = shorten_ids([row.session_id for row in ROWS])
    assert short["7a2c5a9f-c6d9"] == "7a2c5a9f-c" and short["7a2c5a9f-ffff"] == "7a2c5a9f-f" and short["live"] == "live"
    assert shorten_ids(["abcdefgh", "abcdefghij"]) == {"abcdefgh": "abcdefgh", "abcdefghij": "abcdefghi"}


def test_only_the_shown_rows_are_lines_and_all_are_counted() -> None:
    assert len(table(shown=[BROKEN])) == 4
    assert table(shown=[]) == ["5 sessions: 1 resumable, 1 after fix, 1 not resumable, 1 live, 1 could not be judged"]
    assert all(line.startswith("\x1b[") for line in table(color=True)[1:6])


def test_json_holds_whole_ids_and_the_reasons() -> None:
    stream = io.StringIO()
    write_json(ROWS, stream, roots=["/s"], now=NOW)
    report = json.loads(stream.getvalue())
    assert report["summary"] == {
        "sessions": 5,
        "broken": 3,
        "verdicts": {"not-resumable": 1, "unreadable": 1, "after-fix": 1, "live": 1, "resumable": 1},
    }
    assert report["sessions"][3]["live"].startswith("its lock is held by app-cli") and report["sessions"][4]["age_seconds"] == 7200
    assert report["errors"] == [{"path": "p", "kind": "unreadable", "message": "can't read p"}]
    lines = io.StringIO()
    write_jsonl(ROWS, lines, now=NOW)
    assert [json.loads(line) for line in lines.getvalue().splitlines()] == report["sessions"]


@pytest.mark.parametrize(("seconds", "text"), [(-5, "now"), (0, "now"), (40, "40s"), (3_599, "59m"), (7_200, "2h"), (9 * 86_400, "9d")])
def test_ages(seconds: float, text: str) -> None:
    assert write_age(seconds) == text


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (999, "999 B"), (4_200, "4.2 KB"), (99_999, "100 KB"), (1_300_000_000, "1.3 GB")])
def test_sizes(size: int, text: str) -> None:
    assert write_size(size) == text
