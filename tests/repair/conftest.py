"""A damaged session in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repair.sessions import DAMAGED


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    folder = tmp_path / "session"
    folder.mkdir()
    path = folder / "transcript.jsonl"
    path.write_bytes(DAMAGED)
    return path
