from __future__ import annotations

import pytest

from doctor.findings import FileReport
from doctor.output.statistics import MOST_SLOW, Tally, write_seconds


def make_file(path: str, format: str = "amplifier", rows: int = 3) -> FileReport:
    return FileReport(path, format, "", "resumable", rows, ())


def test_systems_and_the_slowest_files() -> None:
    tally = Tally()
    for number in range(1_200):
        tally.add(make_file(f"s{number}"), number / 1_000)
    tally.add(make_file("c", "claude_code", 1), 0.0)
    tally.add(make_file("odd\x1b[2J", ""), 7.25)
    assert tally.list_lines() == [
        "systems",
        "  1,200  amplifier       3,600 rows",
        "      1  claude_code     1 row",
        "      1  unknown format  3 rows",
        "slowest",
        "   7.2 s  odd\\x1b[2J",
        "   1.2 s  s1199",
        "   1.2 s  s1198",
        "   1.2 s  s1197",
        "   1.2 s  s1196",
    ]
    assert len(tally.slowest) == MOST_SLOW


def test_one_file_is_not_the_slowest_of_anything() -> None:
    tally = Tally()
    assert tally.list_lines() == []
    tally.add(make_file("a"), 1.0)
    assert tally.list_lines() == ["systems", "  1  amplifier  3 rows"]


@pytest.mark.parametrize(("seconds", "text"), [(0.0004, "0.4 ms"), (0.0731, "73 ms"), (0.9996, "1.0 s"), (61.23, "61.2 s")])
def test_times(seconds: float, text: str) -> None:
    assert write_seconds(seconds) == text
