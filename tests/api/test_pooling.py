"""The pool itself, with work that can be anything: order, a bounded window, workers that die, and no traces."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from doctor.api import pooling
from doctor.api.pooling import Work, run_work


def prepare(order: int) -> Callable[[Sequence[Any]], list[Any]]:
    """Doubles numbers and adds `order`. A negative number kills its worker, a text is how long to sleep, None is an error."""

    def work(chunk: Sequence[Any]) -> list[Any]:
        results: list[Any] = []
        for target in chunk:
            if isinstance(target, int) and target < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            if isinstance(target, str):
                time.sleep(float(target))
            if target is None:
                raise ValueError("nothing to do")
            results.append((target * 2 + order) if isinstance(target, int) else (target, os.getpid()))
        return results

    return work


WORK = Work(prepare, 1, lambda target: ("gave up", target))


def measure(_: object) -> int:
    return 1


def assert_no_workers() -> None:
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [0, 1, 2, 3])
def test_results_come_in_the_order_of_the_targets(jobs: int) -> None:
    assert list(run_work(WORK, range(500), jobs, measure)) == [2 * number + 1 for number in range(500)]
    assert_no_workers()


def test_chunks_are_cut_by_number_and_by_size() -> None:
    sizes = [len(chunk) for chunk, _ in pooling._cut_chunks(range(40), measure)]
    assert sizes == [16, 16, 8]
    assert [len(chunk) for chunk, _ in pooling._cut_chunks(range(3), lambda _: pooling.MOST_BYTES_IN_CHUNK)] == [1, 1, 1]
    assert list(pooling._cut_chunks((), measure)) == []


def test_only_a_few_chunks_are_on_their_way() -> None:
    taken = 0

    def count() -> Iterator[int]:
        nonlocal taken
        for number in range(10_000):
            taken = number
            yield number

    results = run_work(WORK, count(), 2, measure)
    next(results)
    assert taken <= 2 * pooling.CHUNKS_PER_WORKER * pooling.MOST_IN_CHUNK
    results.close()  # type: ignore[attr-defined]
    assert_no_workers()


def test_little_work_is_done_here_and_much_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.sources.machine.count_processors", lambda: 3)
    assert pooling._choose_jobs(iter(range(10)), lambda _: 100_000)[0] == 1
    assert pooling._choose_jobs(iter(range(1)), lambda _: 10**9)[0] == 1
    jobs, targets = pooling._choose_jobs(iter(range(400)), lambda _: 100_000)
    assert (jobs, list(targets)) == (3, list(range(400)))


@pytest.mark.parametrize("place", [0, 7, 150, 299])
def test_a_worker_that_is_killed_costs_only_its_target(place: int) -> None:
    targets = list(range(300))
    targets[place] = -1
    results = list(run_work(WORK, targets, 2, measure))
    expected: list[Any] = [2 * number + 1 for number in range(300)]
    expected[place] = ("gave up", -1)
    assert results == expected
    assert_no_workers()


def test_several_may_be_killed() -> None:
    targets = [-number if number % 40 == 1 else number for number in range(120)]
    results = list(run_work(WORK, targets, 2, measure))
    assert [result[1] for result in results if isinstance(result, tuple)] == [-1, -41, -81]
    assert len(results) == 120


@pytest.mark.parametrize("error", [OSError(9, "Bad file descriptor"), EOFError()], ids=["descriptor", "server"])
@pytest.mark.parametrize("failing", [{2}, {3, 4, 5}, {2, 3, 4, 5, 6, 7}], ids=["once", "some", "many"])
def test_a_worker_that_can_not_be_started_costs_no_target(error: Exception, failing: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen while the death of another worker was being cleared up: its descriptors were closed already."""
    from concurrent.futures import ProcessPoolExecutor

    submit, calls = ProcessPoolExecutor.submit, count()

    def fail(pool: ProcessPoolExecutor, *task: object) -> object:
        if next(calls) in failing:
            raise error
        return submit(pool, *task)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", fail)
    targets = list(range(1, 200))
    assert list(run_work(WORK, targets, 2, measure)) == list(run_work(WORK, targets, 1, measure))
    assert_no_workers()


def test_an_error_comes_out_and_leaves_nobody_behind() -> None:
    with pytest.raises(ValueError, match="nothing to do"):
        list(run_work(WORK, [1, None, *range(200)], 2, measure))
    assert_no_workers()


def test_who_stops_asking_is_not_waited_for() -> None:
    results = run_work(WORK, [1] * 16 + ["60"] * 8, 2, lambda target: pooling.MOST_BYTES_IN_CHUNK if target == "60" else 1)
    start = time.monotonic()
    assert next(results) == 3
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - start < 30
    assert_no_workers()


def test_where_no_process_can_be_had_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refuse)
    results = list(run_work(WORK, ["0", "0"], 2, measure))
    assert results == [("0", os.getpid())] * 2


BESIDE_A_THREAD = """
import sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
from tests.api.test_pooling import WORK, measure
from doctor.api.pooling import run_work
print(*run_work(WORK, range(100), 2, measure))
"""


@pytest.mark.parametrize("is_piped", [True, False])
def test_workers_that_do_not_get_to_work_leave_it_to_this_process(is_piped: bool, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(BESIDE_A_THREAD)
    command = [sys.executable, "-" if is_piped else str(tmp_path / "program.py")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(
        command, input=BESIDE_A_THREAD if is_piped else "", cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == [str(2 * number + 1) for number in range(100)], done.stderr


def test_much_that_is_large_is_not_sent_ahead() -> None:
    taken = 0

    def count() -> Iterator[int]:
        nonlocal taken
        for number in range(100):
            taken = number
            yield number

    results = run_work(WORK, count(), 2, lambda _: pooling.MOST_BYTES_SENT)
    next(results)
    assert taken == 3 - 1
    results.close()  # type: ignore[attr-defined]
