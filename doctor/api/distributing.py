"""`--engine dask`: the same function over the machines of a Dask cluster, or over worker processes that Dask starts here.

Dask and not Ray: its wheels are pure Python and take 2.5 MB where Ray's takes 79 MB and is built for some platforms and interpreters
only. It is found on most clusters (Kubernetes, Slurm, clouds), and finds them by its own configuration (`DASK_SCHEDULER_ADDRESS`). It
schedules, moves work off workers that die, and retries; what is left to do here is to keep only a window of batches on their way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import islice

from doctor import __version__
from doctor.errors import DoctorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BATCH = 64
"""Targets a task: some tens of milliseconds, against about one that the scheduler takes for it."""
BATCHES_PER_THREAD = 4


def run_distributed(
    prepare: Callable[[Any], Callable[[Sequence[Any]], Sequence[Any]]],
    order: Any,
    give_up: Callable[[Any], Any],
    targets: Iterable[Any],
    jobs: int,
) -> Iterator[Any]:
    """The results of all targets in their order. `jobs`: how many workers to start, 0 for as many as there are processors; where the
    configuration names a scheduler, its workers are used.

    Raises DoctorError: Dask is not installed, the scheduler can't be reached, or a worker can't do the work.
    """
    try:
        import distributed
    except ImportError as error:
        raise DoctorError("usage", "--engine dask needs Dask; run: pip install 'amplifier-doctor[distributed]'") from error
    client, cluster = _connect(distributed, jobs)
    try:
        yield from _run(client, distributed, prepare, order, give_up, iter(targets))
    finally:
        client.close(timeout=5)
        if cluster is not None:
            cluster.close(timeout=5)


def _connect(distributed: Any, jobs: int) -> tuple[Any, Any]:
    import logging

    import dask

    from doctor.sources.machine import count_processors

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    address = dask.config.get("scheduler-address", None)
    if address is None:
        cluster = distributed.LocalCluster(
            n_workers=jobs or count_processors(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
        return distributed.Client(cluster), cluster
    try:
        return distributed.Client(address, timeout=10), None
    except (OSError, ValueError) as error:
        raise DoctorError("usage", f"can't reach the Dask scheduler at {address}: {' '.join(str(error).split())}") from error


def _run(
    client: Any,
    distributed: Any,
    prepare: Callable[[Any], Callable[[Sequence[Any]], Sequence[Any]]],
    order: Any,
    give_up: Callable[[Any], Any],
    targets: Iterator[Any],
) -> Iterator[Any]:
    window = max(2, sum(client.nthreads().values()) * BATCHES_PER_THREAD)
    sent: deque[tuple[tuple[Any, ...], Any]] = deque()

    def send(batch: tuple[Any, ...]) -> Any:
        return client.submit(run_batch, prepare, order, batch, __version__, pure=False)

    def collect() -> Iterator[Any]:
        batch, future = sent.popleft()
        try:
            yield from future.result()
        except (distributed.KilledWorker, CancelledError):
            # Dask tried several workers, and all of them died. The others of the batch are not to blame.
            for target in batch if len(batch) > 1 else ():
                yield from _run_alone(send, distributed, give_up, target)
            if len(batch) == 1:
                yield give_up(batch[0])
        except ModuleNotFoundError as error:
            said = f"a Dask worker lacks {error.name}; install amplifier-doctor {__version__} on all workers"
            raise DoctorError("usage", said) from error

    while batch := tuple(islice(targets, BATCH)):
        sent.append((batch, send(batch)))
        if len(sent) >= window:
            yield from collect()
    while sent:
        yield from collect()


def _run_alone(send: Callable[[tuple[Any, ...]], Any], distributed: Any, give_up: Callable[[Any], Any], target: Any) -> Sequence[Any]:
    try:
        return send((target,)).result()  # type: ignore[no-any-return]
    except (distributed.KilledWorker, CancelledError):
        return (give_up(target),)


def run_batch(
    prepare: Callable[[Any], Callable[[Sequence[Any]], Sequence[Any]]], order: Any, batch: Sequence[Any], version: str
) -> Sequence[Any]:
    """What a worker does with one task. Raises DoctorError: it has another version of the doctor, and might judge differently."""
    if version != __version__:
        raise DoctorError("usage", f"a Dask worker has amplifier-doctor {__version__}, this is {version}; install the same on all of them")
    return prepare(order)(batch)
