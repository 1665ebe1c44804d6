"""`--engine dask` on a local cluster of two workers, and URLs: the same outcomes as the plain run, in the same order."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from doctor.api import checking
from doctor.api.checking import check
from doctor.errors import DoctorError
from tests.cli.sessions import DISPLACED, MISSING, SOUND, write_session

LATE = 1_900_000_000.0
ROWS = (SOUND, MISSING, DISPLACED)


def prepare(_: object) -> Callable[[Sequence[Any]], list[Any]]:
    """Numbers as they are; a negative one kills its worker."""

    def work(batch: Sequence[int]) -> list[int]:
        if min(batch) < 0:
            os._exit(9)
        return list(batch)

    return work


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster of two workers, which the configuration names as it would name one of many machines."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "10s"}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as cluster,
        dask.config.set({"scheduler-address": cluster.scheduler_address}),
    ):
        yield cluster.scheduler_address


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(150):
        write_session(tmp_path / "tree", ROWS[number % 3], f"{number:03}")
    (tmp_path / "tree" / "004" / "transcript.jsonl").write_bytes(b'{"type": "session_meta", "payload": {}}\n')
    with tarfile.open(tmp_path / "tree" / "r.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "tree" / "001", "inside")
    return tmp_path / "tree"


def test_a_cluster_says_what_this_machine_says(tree: Path, scheduler: str) -> None:
    plain = check(tree, now=LATE, environment={})
    assert len(plain.files) == 150 and len(plain.errors) == 1
    assert check(tree, now=LATE, environment={}, engine="dask") == plain
    assert check(tree / "r.tar.gz", now=LATE, environment={}, engine="dask").files == plain.files[:1]


def test_a_target_that_kills_its_workers_costs_only_itself(scheduler: str) -> None:
    from doctor.api.distributing import run_distributed

    targets = [*range(70), -1, *range(70, 140)]
    results = list(run_distributed(prepare, None, lambda target: ("gave up", target), targets, 2))
    assert results == [*range(70), ("gave up", -1), *range(70, 140)]


def test_a_worker_of_another_version_is_refused(scheduler: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.api.distributing.__version__", "99")
    with pytest.raises(DoctorError, match=r"a Dask worker has amplifier-doctor .*, this is 99; install the same"):
        check(tree, now=LATE, environment={}, engine="dask")


def test_a_scheduler_that_is_not_there() -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    from doctor.api.distributing import run_distributed

    settings = {"scheduler-address": "tcp://127.0.0.1:9", "distributed.comm.timeouts.connect": "1s"}
    with dask.config.set(settings), pytest.raises(DoctorError, match="reach the Dask scheduler at tcp"):
        list(run_distributed(prepare, None, str, [1], 0))


def test_without_the_extra_it_says_what_to_install(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(DoctorError, match=r"pip install 'amplifier-doctor\[distributed\]'"):
        check(tree, engine="dask")
    (failure,) = check(f"file://{tree}").errors
    assert failure.message.endswith("URLs need fsspec; run: pip install 'amplifier-doctor[distributed]'")
    with pytest.raises(DoctorError, match="there is no engine 'ray'"):
        check(tree, engine="ray")


def test_urls_are_paths(tree: Path) -> None:
    pytest.importorskip("fsspec")
    plain = check(tree, now=LATE, environment={})
    found = check(f"file://{tree}", now=LATE, environment={})
    assert len(found.files) == 150 and len(found.errors) == 1
    assert repr(sorted(found.files)).replace("file://", "") == repr(sorted(plain.files))
    assert check(found.files[3].path, now=LATE, environment={}).files == found.files[3:4]


def test_urls_of_any_protocol() -> None:
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for name, data in (("a/transcript.jsonl", b""), ("a/events.jsonl", b""), ("b/other.txt", b"")):
        system.pipe_file(f"/recordings/{name}", data)
    assert [file.path for file in check("memory://recordings", now=LATE, environment={}).files] == [
        "memory:///recordings/a/transcript.jsonl"
    ]
    for url, words in (
        ("memory://recordings/b", "no transcript.jsonl under"),
        ("memory://nowhere", "there is nothing under this URL"),
        ("nonsense://x", "can't read nonsense://x: ValueError"),
    ):
        (failure,) = check(url, environment={}).errors
        assert words in failure.message and "\n" not in failure.message


def test_the_pure_function_travels() -> None:
    import pickle

    assert pickle.loads(pickle.dumps(checking.make_expander)) is checking.make_expander
    error = pickle.loads(pickle.dumps(DoctorError("usage", "said", "path")))
    assert (error.kind, error.message, error.path) == ("usage", "said", "path")
