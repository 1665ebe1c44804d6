from __future__ import annotations

import io

import pytest

from doctor.output.progress import Bar, draw_progress, make_progress


@pytest.mark.parametrize(("done", "total", "drawn"), [(1, 2, "[##  ] 1/2"), (0, 0, "[####] 0/0"), (3, 1_000, "[    ] 3/1,000")])
def test_the_bar(done: int, total: int, drawn: str) -> None:
    assert draw_progress(done, total, 4) == drawn


def test_it_is_drawn_seldom_and_wiped_before_other_writing() -> None:
    stream, times = io.StringIO(), iter([0.0, 0.05, 0.2, 0.25, 0.5])
    bar = Bar(stream, lambda: next(times))
    bar.wipe()
    assert stream.getvalue() == ""
    for done in (0, 1, 2, 3):
        bar.show(done, 3)
    assert stream.getvalue().count("\r") == 2
    bar.wipe()
    bar.wipe()
    assert stream.getvalue().count("\r") == 3 and stream.getvalue().endswith("\r\x1b[K")


def test_a_single_count_is_wiped_at_its_end() -> None:
    stream, times = io.StringIO(), iter([0.0, 0.0, 0.05, 0.2, 0.2])
    show = make_progress(stream, lambda: next(times))
    for done in (0, 1, 2, 3):
        show(done, 3)
    assert stream.getvalue().count("\r") == 3 and stream.getvalue().endswith("\r\x1b[K")
