"""Work spread over processes: chunks go out in order, results come back in order, and only a few chunks are on their way at a time.

Processes, since no JSON parser lets go of the interpreter's lock: two threads take 1.65 times as long as one. Chunks are cut in the order
of the corpus, not the largest first: a report whose order depends on sizes could not be compared with yesterday's, and the window that
keeps the memory bounded would have to hold everything behind a large one back all the same.

Python's own executor does the scheduling. What is added here: a bounded window, workers that a Ctrl+C or the death of their parent leaves
no trace of, and the search for the one target of which a worker died.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from typing import Any

MOST_IN_CHUNK = 16
MOST_BYTES_IN_CHUNK = 4_000_000
"""A chunk takes some milliseconds: long against what it costs to send it, short against the run."""
CHUNKS_PER_WORKER = 4
"""How far the fastest worker may run ahead of the slowest."""
MOST_BYTES_SENT = 64_000_000
"""Sessions out of an archive are sent as bytes, so chunks that are on their way take memory."""
WORTHWHILE = 25_000_000
"""Bytes from which on starting processes pays: break-even was measured at about 150 sessions of 140 KB."""
BYTES_PER_TARGET = 40_000
"""What a target costs beside its bytes, as so many bytes more."""
MOST_LOOKS = 2_500
MOST_LOOKS_FOR_THREADS = 100
"""How often to look whether workers that were ended are gone, at 2 ms each, and whether the thread that waited for them is."""


class Work(Record):
    """What workers do. All of it can be pickled: where processes can't be forked it is sent to them.

    `prepare` (a function of a module) is called once in each worker with `order`, and makes the function that takes a chunk and returns
    one result for each target. `give_up` makes the result of a target that killed its worker. `modules` are loaded before the workers
    start, where they would otherwise be loaded in each of them.
    """

    prepare: Callable[[Any], Callable[[Sequence[Any]], Sequence[Any]]]
    order: Any
    give_up: Callable[[Any], Any]
    modules: tuple[str, ...] = ()


def run_work(work: Work, targets: Iterable[Any], jobs: int, measure: Callable[[Any], int]) -> Iterator[Any]:
    """The results of all targets in their order. `jobs`: how many processes, 1 for this one, 0 for what the machine has if it pays.

    `measure` says how many bytes a target has, about.
    """
    waiting = iter(targets)
    if jobs == 0:
        jobs, waiting = _choose_jobs(waiting, measure)
    if jobs > 1:
        for module in work.modules:
            import_module(module)
        from doctor.sources.machine import count_threads

        threads = count_threads()
        pool = _start_pool(work, jobs)
        if pool is not None:
            yield from _Pool(work, jobs, pool, threads).run(_cut_chunks(waiting, measure))
            return
    run = work.prepare(work.order)
    for target in waiting:
        yield from run((target,))


def _choose_jobs(targets: Iterator[Any], measure: Callable[[Any], int]) -> tuple[int, Iterator[Any]]:
    """All processors when there is work enough for them; looks only as far ahead as it must."""
    from itertools import chain

    from doctor.sources.machine import count_processors

    ahead: list[Any] = []
    weight = 0
    for target in targets:
        ahead.append(target)
        weight += measure(target) + BYTES_PER_TARGET
        if weight >= WORTHWHILE and len(ahead) > 1:
            return count_processors(), chain(ahead, targets)
    return 1, iter(ahead)


def _cut_chunks(targets: Iterable[Any], measure: Callable[[Any], int]) -> Iterator[tuple[tuple[Any, ...], int]]:
    """(targets, their bytes) of each chunk."""
    chunk: list[Any] = []
    size = 0
    for target in targets:
        chunk.append(target)
        size += measure(target)
        if len(chunk) >= MOST_IN_CHUNK or size >= MOST_BYTES_IN_CHUNK:
            yield tuple(chunk), size
            chunk, size = [], 0
    if chunk:
        yield tuple(chunk), size


class _Pool:
    """The chunks that are on their way, and the executor that they are with. `threads`: how many this process had before."""

    def __init__(self, work: Work, jobs: int, pool: ProcessPoolExecutor, threads: int) -> None:
        self.work = work
        self.jobs = jobs
        self.threads = threads
        self.pool: ProcessPoolExecutor | None = pool
        self.lone: ProcessPoolExecutor | None = None
        self.sent: deque[tuple[tuple[Any, ...], Future[Sequence[Any]] | None]] = deque()
        self.sizes: deque[int] = deque()

    def run(self, chunks: Iterator[tuple[tuple[Any, ...], int]]) -> Iterator[Any]:
        try:
            for chunk, size in chunks:
                self.sent.append((chunk, self._send(chunk)))
                self.sizes.append(size)
                while self._is_full():
                    self.sizes.popleft()
                    yield from self._collect()
            while self.sent:
                yield from self._collect()
        finally:
            # Also when the caller stops asking, or a Ctrl+C came: nobody waits for what is still being worked on.
            for pool in (self.pool, self.lone):
                if pool is not None:
                    _end_pool(pool, self.threads)

    def _is_full(self) -> bool:
        count = len(self.sent)
        return count >= self.jobs * CHUNKS_PER_WORKER or (count > self.jobs and sum(self.sizes) >= MOST_BYTES_SENT)

    def _send(self, chunk: tuple[Any, ...]) -> Future[Sequence[Any]] | None:
        self.pool = self.pool or _start_pool(self.work, self.jobs)
        return _submit(self.pool, chunk)

    def _collect(self) -> Iterator[Any]:
        """The results of the oldest chunk. One that was lost with a worker is run again, each of its targets alone."""
        from concurrent.futures import CancelledError
        from concurrent.futures.process import BrokenProcessPool

        chunk, future = self.sent.popleft()
        if future is not None:
            try:
                results = future.result()
            except (BrokenProcessPool, CancelledError):
                pass
            else:
                yield from results
                return
        if self.pool is not None:
            _end_pool(self.pool, self.threads)
            self.pool = None
        for target in chunk:
            yield from self._run_alone(target)

    def _run_alone(self, target: Any) -> Sequence[Any]:
        from concurrent.futures.process import BrokenProcessPool

        self.lone = self.lone or _start_pool(self.work, 1)
        future = _submit(self.lone, (target,))
        if future is None and self.lone is not None:
            # It ended while it had nothing to do: this target has no part in that.
            _end_pool(self.lone, self.threads)
            self.lone = _start_pool(self.work, 1)
            future = _submit(self.lone, (target,))
        if future is None or self.lone is None:
            return self.work.prepare(self.work.order)((target,))
        try:
            return future.result()
        except BrokenProcessPool:
            _end_pool(self.lone, self.threads)
            self.lone = None
            return (self.work.give_up(target),)


def _submit(pool: ProcessPoolExecutor | None, chunk: tuple[Any, ...]) -> Future[Sequence[Any]] | None:
    """None where there is no pool, or it is of no use any more."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        return pool.submit(_run_chunk, chunk) if pool is not None else None
    except (BrokenProcessPool, OSError, EOFError):
        # Where workers are not forked each call may start one, which fails while another one's death is being cleared up.
        return None


def _start_pool(work: Work, jobs: int) -> ProcessPoolExecutor | None:
    """None where the system has no processes or semaphores to give, or workers do not get to work: then this process does it."""
    import signal

    # A Ctrl+C while workers are born would find them without the handler that keeps them silent: it waits until they have it.
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask(signal.SIG_BLOCK, (signal.SIGINT,)) if mask is not None else None
    try:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        method = _choose_start()
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context(method), _begin, (work.prepare, work.order))
        first = pool.submit(_run_nothing)
    except (ImportError, NotImplementedError, OSError, EOFError):
        # EOFError: a server that forks workers loads the main program first on newer Pythons, and dies as such a worker would.
        return None
    finally:
        if mask is not None:
            mask(signal.SIG_SETMASK, before)
    return pool if method == "fork" or _is_done(first) else None


def _is_done(first: Future[None]) -> bool:
    """Whether a worker got as far as its first task. One that is not forked loads the main program anew, and dies of one that can't be
    found (it came through a pipe) or that starts to check before it asks whether it is the main program."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        first.result()
    except BrokenProcessPool:
        return False
    return True


def _choose_start() -> str:
    """A fork has all modules loaded; but a lock that another thread holds at that moment would stay locked in it for ever."""
    import multiprocessing
    import sys

    from doctor.sources.machine import count_threads

    methods = multiprocessing.get_all_start_methods()
    # macOS offers it, but its own libraries start threads.
    if "fork" in methods and sys.platform != "darwin" and count_threads() == 1:
        return "fork"
    return "forkserver" if "forkserver" in methods else "spawn"


def _end_pool(pool: ProcessPoolExecutor, threads: int) -> None:
    """Ends the workers in the middle of their work and waits until they are gone: they only read. `threads`: those of this process before
    there was a pool."""
    from time import sleep

    from doctor.sources.machine import count_threads

    workers = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    # Not join(): the executor's own thread waits for them too, and whoever comes second is told nothing. That thread has to end as well:
    # while it runs, the next pool can't be forked.
    for look in range(MOST_LOOKS):
        is_idle = count_threads() <= threads or look >= MOST_LOOKS_FOR_THREADS
        if is_idle and not any(worker.is_alive() for worker in workers):
            return
        sleep(0.002)


_work: Callable[[Sequence[Any]], Sequence[Any]] | None = None
"""What this process does, where it is a worker."""


def _begin(prepare: Callable[[Any], Callable[[Sequence[Any]], Sequence[Any]]], order: Any) -> None:
    """Makes a process a worker. Ctrl+C reaches the whole group: the parent alone answers it."""
    import gc
    import signal
    import threading

    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.disable()
    _work = prepare(order)


def _end_with_parent() -> None:
    """A parent that is killed can't end its workers, and they would wait for work for ever."""
    import multiprocessing
    import os
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _run_chunk(chunk: Sequence[Any]) -> Sequence[Any]:
    assert _work is not None
    return _work(chunk)


def _run_nothing() -> None:
    """Starts the workers: a fork happens at the first task, before the executor has a thread of its own."""
