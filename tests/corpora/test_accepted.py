"""No recorded request that a provider accepted is called an error. Needs the recordings; skips without them."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.corpora import EXCEPTIONS, VARIABLE, check_folder

FOLDER = os.environ.get(VARIABLE, "")


@pytest.mark.skipif(not FOLDER or not Path(FOLDER).is_dir(), reason=f"{VARIABLE} names no folder of recorded requests")
def test_accepted_requests_have_no_error() -> None:
    results = list(check_folder(Path(FOLDER)))
    assert results, f"{FOLDER} holds no *.jsonl or *.jsonl.gz"
    wrong = [
        f"{result.file}:{result.line + 1}: {found.rule} {found.text[:200]}"
        for result in results
        for found in result.errors
        if not result.excuse
    ]
    assert not wrong, "\n".join(wrong[:20])


def test_a_folder_is_read_and_its_errors_are_found(tmp_path: Path) -> None:
    """The gate itself can fail: one bad recording, one excused, one good, one that was not accepted."""
    good = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
    bad = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": ""}]}
    (repo, path), _ = next(iter(EXCEPTIONS.items()))
    rows = [
        {"repo": "a/b", "path": "x", "host": "api.anthropic.com", "status": 200, "request": good},
        {"repo": "a/b", "path": "x", "host": "api.anthropic.com", "status": 200, "request": bad},
        {"repo": repo, "path": path, "host": "api.anthropic.com", "status": 200, "request": bad},
        {"repo": "a/b", "path": "x", "host": "api.anthropic.com", "status": 400, "request": bad},
    ]
    with gzip.open(tmp_path / "anthropic.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "mixed.jsonl").write_text(json.dumps(rows[1]) + "\n")
    results = list(check_folder(tmp_path))
    assert [(result.file, result.line, [found.rule for found in result.errors], bool(result.excuse)) for result in results] == [
        ("anthropic.jsonl.gz", 0, [], False),
        ("anthropic.jsonl.gz", 1, ["AN-12"], False),
        ("anthropic.jsonl.gz", 2, ["AN-12"], True),
        ("mixed.jsonl", 0, ["AN-12"], False),
    ]
