"""Options that all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

# A red run has to mean that a change did it: the test run draws the same examples every time, `python -m tests.properties` draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the expected files of fixtures/ and rules/README.md anew; read the diff")


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands under test neither trust nor fill the cache of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMPLIFIER_DOCTOR_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))
