"""What this process is given by its machine, and what it has of it."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path

import pytest

from doctor.sources.machine import TASKS, count_processors, count_threads


@pytest.mark.parametrize(
    ("quota", "most"), [("100000 100000", 1), ("150000 100000", 2), ("max 100000", 10**6), ("", 10**6), ("1 0", 10**6)]
)
def test_a_container_gets_what_its_quota_pays_for(quota: str, most: int, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    assert 1 <= count_processors(str(tmp_path / "cpu.max")) <= most
    assert count_processors(str(tmp_path / "cpu.max")) <= count_processors(str(tmp_path / "nowhere"))


@pytest.mark.skipif(not Path(TASKS).is_dir(), reason="only Linux tells")
def test_threads_that_python_does_not_count_are_counted() -> None:
    before, known = count_threads(), threading.active_count()
    started, done = _thread.allocate_lock(), _thread.allocate_lock()
    started.acquire()
    done.acquire()

    def wait() -> None:
        started.release()
        done.acquire()

    _thread.start_new_thread(wait, ())
    started.acquire()
    assert threading.active_count() == known
    # Others may have ended meanwhile.
    assert 1 < count_threads() <= before + 1
    done.release()


def test_where_the_system_tells_nothing_python_is_asked(tmp_path: Path) -> None:
    assert count_threads(str(tmp_path / "nowhere")) == threading.active_count()
