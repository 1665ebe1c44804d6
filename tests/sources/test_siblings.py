"""Other sessions of a store: whether one can be resumed, and the sub-sessions of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor.sources.siblings import find_sibling, follow_children

ROOT = "3f1c2b7a-5d0e-4c9b-9a55-0f7e6b1d2c3a"
CHILD = "0000000000000000-5a1b2c3d4e5f6071_explorer"
GRANDCHILD = "5a1b2c3d4e5f6071-aaaaaaaaaaaaaaaa_self"
ROW = b'{"role": "user", "content": "x"}\n'


def make(store: Path, name: str, metadata: dict[str, Any] | None = None, saved: bool = True, events: str = "") -> Path:
    folder = store / name
    folder.mkdir(parents=True)
    if saved:
        (folder / "transcript.jsonl").write_bytes(ROW)
    if metadata is not None:
        (folder / "metadata.json").write_text(json.dumps(metadata))
    if events:
        (folder / "events.jsonl").write_text(events)
    return folder


@pytest.mark.parametrize(
    ("metadata", "saved", "events", "obstacle"),
    [
        ({"config": {"tools": []}}, True, "", ""),
        ({"config": {"tools": []}, "status": "in_progress"}, True, "", ""),
        ({"config": {}}, True, "", "no config"),
        (None, True, "", "metadata.json is missing"),
        (None, False, "{}\n", "before its first save"),
        ({"config": {"tools": []}}, False, "", "neither a transcript nor events"),
    ],
)
def test_a_sibling_is_resumable_or_says_why_not(tmp_path: Path, metadata: Any, saved: bool, events: str, obstacle: str) -> None:
    parent = make(tmp_path / "-home-a" / "sessions", ROOT)
    make(tmp_path / "-home-a" / "sessions", CHILD, metadata, saved, events)
    found = find_sibling(str(parent), CHILD)
    assert found.is_certain and obstacle in found.obstacle and bool(obstacle) == bool(found.obstacle)


@pytest.mark.parametrize("name", [CHILD, "../secret", "/etc", "a" * 300, ""])
def test_what_is_not_on_disk_is_certain_only_in_a_store(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").mkdir()
    inside = make(tmp_path / "-home-a" / "sessions", ROOT)
    assert find_sibling(str(inside), name).obstacle and find_sibling(str(inside), name).is_certain
    copied = make(tmp_path / "recordings", ROOT)
    assert find_sibling(str(copied), name).obstacle and not find_sibling(str(copied), name).is_certain


def test_a_sibling_may_lie_in_another_project(tmp_path: Path) -> None:
    parent = make(tmp_path / "-home-a" / "sessions", ROOT)
    child = make(tmp_path / "-home-b" / "sessions", CHILD, {"config": {"tools": []}})
    assert find_sibling(str(parent), CHILD).folder == str(child)


def test_children_are_followed_by_metadata_events_and_spans(tmp_path: Path) -> None:
    root = make(tmp_path, ROOT)
    fork = "aaaaaaaa-5d0e-4c9b-9a55-0f7e6b1d2c3a"
    make(tmp_path, fork, {"parent_id": ROOT, "forked_from_turn": 1})
    named = make(tmp_path, CHILD, {"parent_id": ROOT})
    spanned = make(tmp_path, GRANDCHILD)
    unsaved = make(tmp_path, "0000000000000000-bbbbbbbbbbbbbbbb_self", None, False, json.dumps({"data": {"parent_id": ROOT}}) + "\n")
    old = make(tmp_path, f"{ROOT}_old")
    make(tmp_path, "0000000000000000-cccccccccccccccc_self", {"parent_id": "other"})
    found = list(follow_children(str(root), ROOT))
    assert found == [str(folder) for folder in (named, spanned, unsaved, old)]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    first = make(tmp_path, CHILD, {"parent_id": GRANDCHILD})
    second = make(tmp_path, GRANDCHILD, {"parent_id": CHILD})
    assert list(follow_children(str(first), CHILD)) == [str(second)]


def test_children_in_another_project_are_followed_too(tmp_path: Path) -> None:
    root, child = (tmp_path / "projects" / project / "sessions" / name for project, name in (("-a", ROOT), ("-b", f"{ROOT}_child")))
    for folder in (root, child):
        folder.mkdir(parents=True)
    assert list(follow_children(str(root), ROOT)) == [str(child)]
