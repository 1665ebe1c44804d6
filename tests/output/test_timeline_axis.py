from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from doctor.output.timeline_axis import build_axis, clock_of, date_of, list_ticks, write_duration


def stamp(second: float) -> str:
    return f"2026-01-02T03:{int(second) // 60:02}:{second % 60:06.3f}+00:00"


def test_places_follow_the_times() -> None:
    axis = build_axis([(0, stamp(0)), (4, stamp(5)), (9, stamp(10))])
    assert [axis.place(line) for line in (0, 4, 9)] == pytest.approx([0, 0.5, 1])
    assert axis.place(7) == axis.place(4) and axis.place(99) == 1 and not axis.folds


def test_a_gap_that_fills_the_axis_is_folded() -> None:
    axis = build_axis([(0, stamp(0)), (1, stamp(1)), (2, stamp(601)), (3, stamp(602))])
    (fold,) = axis.folds
    assert (fold.first_line, fold.last_line, fold.end - fold.begin) == (1, 2, 600)
    assert axis.place(1) == pytest.approx(0.475) and axis.place(2) == pytest.approx(0.525)


def test_a_lone_bar_is_not_folded_away() -> None:
    assert not build_axis([(0, stamp(0)), (1, stamp(3000))]).folds


def test_small_steps_back_take_no_room_and_a_wrong_clock_is_folded() -> None:
    jitter = build_axis([(0, stamp(0)), (1, stamp(2)), (2, stamp(1.9)), (3, stamp(4))])
    assert [jitter.place(line) for line in range(4)] == pytest.approx([0, 0.5, 0.5, 1])
    wrong = build_axis([(0, stamp(0)), (1, stamp(1)), (2, "2099-01-01T00:00:00+00:00"), (3, stamp(2)), (4, stamp(3))])
    assert [fold.last_line for fold in wrong.folds] == [2]
    assert wrong.place(4) - wrong.place(3) > 0.3


def test_without_times_lines_are_spread_evenly() -> None:
    axis = build_axis([(3, ""), (7, "yesterday"), (8, "")])
    assert [axis.place(line) for line in (3, 7, 8)] == [0, 0.5, 1]
    assert list_ticks(axis, 5) == []


def test_an_empty_and_a_single_axis_hold() -> None:
    assert build_axis([]).place(3) == 0
    assert build_axis([(5, stamp(1))]).place(5) == 0


@given(some.lists(some.tuples(some.integers(0, 30), some.one_of(some.just(""), some.floats(0, 3599).map(stamp))), max_size=30))
def test_places_never_go_back(stamps: list[tuple[int, str]]) -> None:
    axis = build_axis(stamps)
    assert list(axis.places) == sorted(axis.places)
    assert all(0 <= place <= 1 for place in axis.places)
    ticks = list_ticks(axis, 6)
    assert len(ticks) <= 6 and [tick.place for tick in ticks] == sorted(tick.place for tick in ticks)


def test_ticks_stand_at_round_times() -> None:
    axis = build_axis([(0, stamp(0.5)), (1, stamp(10.5))])
    found = [(tick.label, round(tick.place, 2)) for tick in list_ticks(axis, 5)]
    assert found == [("03:00:02", 0.15), ("03:00:04", 0.35), ("03:00:06", 0.55), ("03:00:08", 0.75), ("03:00:10", 0.95)]


@pytest.mark.parametrize(
    ("text", "clock", "date"),
    [
        ("2026-11-29T12:18:01.238223361+00:00", "12:18:01.238", "2026-11-29"),
        ("2026-11-29T23:30:00-02:00", "01:30:00.000", "2026-11-30"),
        ("2026-11-29T12:18:01Z", "12:18:01.000", "2026-11-29"),
        ("2026-11-29T12:18:01.5", "12:18:01.500", "2026-11-29"),
        ("noon", "", ""),
        ("", "", ""),
        ("0001-01-01T00:00:00+23:00", "", ""),
    ],
)
def test_times_are_told_in_utc(text: str, clock: str, date: str) -> None:
    assert (clock_of(text), date_of(text)) == (clock, date)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.132, "132 ms"), (7.09, "7.1 s"), (59.99, "1 min"), (245, "4 min 5 s"), (33_480, "9 h 18 min"), (266_400, "3 d 2 h"), (0, "0 ms")],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert write_duration(seconds) == text
