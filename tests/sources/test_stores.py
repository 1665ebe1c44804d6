"""From a path to transcripts, and from a transcript to what lies beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor.errors import DoctorError
from doctor.sources.formats import detect_format
from doctor.sources.metadata import read_metadata
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from doctor.sources.stores import list_sessions, list_tree, locate_stores
from doctor.sources.walking import find_transcripts

ROW = b'{"role": "user", "content": "x"}\n'


def test_a_tree_is_walked_and_a_file_is_taken_as_it_is(tmp_path: Path) -> None:
    for name in ("b", "a/inner"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "transcript.jsonl").write_bytes(ROW)
    (tmp_path / "a" / "other.jsonl").write_bytes(ROW)
    found = [str(Path(path).relative_to(tmp_path)) for path in find_transcripts(str(tmp_path))]
    assert found == ["a/inner/transcript.jsonl", "b/transcript.jsonl"]
    assert find_transcripts(str(tmp_path / "a" / "other.jsonl")) == [str(tmp_path / "a" / "other.jsonl")]


@pytest.mark.parametrize(
    ("prepare", "kind", "words"),
    [
        (lambda folder: None, "usage", "no transcript.jsonl under"),
        (lambda folder: folder.rmdir(), "unreadable", "no such file or folder"),
    ],
)
def test_what_can_not_be_found_is_said_in_one_line(tmp_path: Path, prepare, kind: str, words: str) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    prepare(folder)
    with pytest.raises(DoctorError) as caught:
        find_transcripts(str(folder))
    assert caught.value.kind == kind and words in caught.value.message and "\n" not in caught.value.message


@pytest.mark.parametrize(
    "row",
    [
        b'{"ts": "2026-01-02T03:04:05Z", "event": "tool:pre", "schema": {}}',
        b'{"type": "user", "message": {"role": "user", "content": "x"}}',
        b'{"type": "session_meta", "payload": {}}',
    ],
)
def test_files_that_are_no_transcript_are_named(row: bytes) -> None:
    with pytest.raises(DoctorError):
        detect_format(MemorySource(row + b"\n"), "x")


def test_a_session_is_named_after_its_folder_and_needs_none(tmp_path: Path) -> None:
    folder = tmp_path / "0b1c"
    folder.mkdir()
    path = folder / "transcript.jsonl"
    path.write_bytes(ROW)
    assert read_session(str(path), now=0.0).session_id == ""
    (folder / "metadata.json").write_text('{"session_id": "other"}')
    assert read_session(str(path), now=0.0).session_id == "0b1c"


def test_the_backup_is_read_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(ROW)
    session = read_session(str(path), now=0.0)
    assert session.backup is None
    (tmp_path / "transcript.jsonl.backup").write_bytes(ROW * 2)
    session = read_session(str(path), now=0.0)
    assert session.backup is not None and len(session.backup.transcript.messages) == 2


def test_a_rewound_session_is_known_by_its_backup(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(ROW)
    assert not read_session(str(path), now=0.0).rewound
    (tmp_path / "transcript.jsonl.bak-pre-rewind-20260102030405").write_bytes(ROW)
    assert read_session(str(path), now=0.0).rewound


def make_session(store: Path, project: str, name: str, *files: str) -> Path:
    """A session's folder in a store, with these files."""
    folder = store / project / "sessions" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in files or ("transcript.jsonl",):
        (folder / file).write_bytes(ROW)
    return folder


def test_stores_of_all_hosts_are_known_and_can_be_moved() -> None:
    known = ("/h/.amplifier/projects", "/h/.amplifier-agent/state/workspaces", "/h/.local/share/opencode")
    assert locate_stores({"HOME": "/h"}) == known
    moved = {"HOME": "/h", "AMPLIFIER_HOME": "/a", "AMPLIFIER_AGENT_HOME": "/g", "XDG_DATA_HOME": "/d", "OPENCODE_DB": "mine.db"}
    assert locate_stores(moved) == ("/a/projects", "/h/.amplifier/projects", "/g/state/workspaces", "/d/opencode", "/d/opencode/mine.db")
    assert locate_stores({"OPENCODE_DB": "/x/my.db"}) == ("/x/my.db",)
    assert locate_stores({}) == ()


def test_an_id_or_its_beginning_is_found_in_every_project_of_every_store(tmp_path: Path) -> None:
    first, second = tmp_path / "projects", tmp_path / "workspaces"
    one = make_session(first, "-home-a", "7a2c5a9f-one")
    two = make_session(second, "ws", "7b00ffff-two")
    stores = (str(first), str(second), str(tmp_path / "absent"))
    assert find_transcripts("7a2c", stores) == [str(one / "transcript.jsonl")]
    assert find_transcripts("7b00ffff-two", stores) == [str(two / "transcript.jsonl")]


def test_an_ambiguous_beginning_lists_the_candidates(tmp_path: Path) -> None:
    make_session(tmp_path, "-home-a", "7a2c5a9f-one")
    make_session(tmp_path, "-home-b", "7a2c5a9f-two")
    with pytest.raises(DoctorError) as caught:
        find_transcripts("7a2c", (str(tmp_path),))
    assert caught.value.kind == "usage" and "\n" not in caught.value.message
    assert "7a2c5a9f-one (-home-a), 7a2c5a9f-two (-home-b)" in caught.value.message


def test_a_whole_id_wins_over_longer_ones_and_the_same_id_twice_is_ambiguous(tmp_path: Path) -> None:
    whole = make_session(tmp_path, "-home-a", "7a2c5a9f")
    make_session(tmp_path, "-home-a", "7a2c5a9f_explorer")
    assert find_transcripts("7a2c5a9f", (str(tmp_path),)) == [str(whole / "transcript.jsonl")]
    make_session(tmp_path, "-home-b", "7a2c5a9f")
    with pytest.raises(DoctorError, match="name the folder"):
        find_transcripts("7a2c5a9f", (str(tmp_path),))


@pytest.mark.parametrize("name", ["7a2c", "../7a2c", "no/such/path"])
def test_an_id_that_nobody_knows_is_one_clear_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(DoctorError) as caught:
        find_transcripts(name, (str(tmp_path),))
    assert caught.value.kind == "unreadable" and name in caught.value.message


def test_a_pattern_takes_what_it_matches(tmp_path: Path) -> None:
    one = make_session(tmp_path, "-home-a", "one")
    two = make_session(tmp_path, "-home-b", "two")
    make_session(tmp_path, "-home-b", "never-saved", "events.jsonl")
    pattern = str(tmp_path / "*" / "sessions" / "[ot]*")
    assert find_transcripts(pattern) == [str(one / "transcript.jsonl"), str(two / "transcript.jsonl")]
    with pytest.raises(DoctorError, match="nothing matches"):
        find_transcripts(str(tmp_path / "x*"))


def test_a_session_never_saved_is_a_session_when_it_is_named(tmp_path: Path) -> None:
    folder = make_session(tmp_path, "-home-a", "0000000000000000-5a1b2c3d4e5f6071_explorer", "events.jsonl")
    (path,) = find_transcripts(str(folder))
    session = read_session(path, now=0.0)
    assert session.unsaved and session.events is not None and not session.transcript.messages
    assert find_transcripts(folder.name, (str(tmp_path),)) == [path]
    make_session(tmp_path, "-home-a", "saved")
    assert find_transcripts(str(tmp_path)) == [str(tmp_path / "-home-a/sessions/saved/transcript.jsonl")]


def test_events_and_transcript_in_two_projects_are_one_session(tmp_path: Path) -> None:
    events = make_session(tmp_path, "-home-a", "one", "events.jsonl") / "events.jsonl"
    saved = make_session(tmp_path, "-home-b", "one") / "transcript.jsonl"
    assert find_transcripts("one", (str(tmp_path),)) == [str(saved)]
    assert find_transcripts(str(events.parent)) == [str(saved)]
    session = read_session(str(saved), now=0.0)
    assert session.events is not None and session.events.path == str(events) and session.session_id == "one"
    for places in (list_sessions((str(tmp_path),)), list_tree(str(tmp_path))):
        assert [(place.session_id, place.events, place.is_saved) for place in places] == [("one", str(events), True)]


def test_a_tree_lists_what_lies_in_it_however_deep(tmp_path: Path) -> None:
    for name in ("a/one", "a/two", "b/c/sessions/three"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a/one/transcript.jsonl").write_bytes(ROW)
    (tmp_path / "a/two/context-intelligence").mkdir()
    (tmp_path / "a/two/context-intelligence/events.jsonl").write_bytes(b"{}\n")
    (tmp_path / "b/c/sessions/three/transcript.jsonl").write_bytes(ROW)
    places = [(place.project, place.session_id, place.is_saved) for place in list_tree(str(tmp_path))]
    assert places == [("a", "one", True), ("a", "two", False), ("c", "three", True)]


@pytest.mark.parametrize(
    ("data", "value", "words"),
    [
        (b'{"a": 1}', {"a": 1}, ""),
        (b'{"a": NaN}', True, ""),
        (b"[]", None, "a list"),
        (b"", None, "empty"),
        (b'{"a"', None, "not JSON (line 1, column 5)"),
        (b'{"a": "\xff"}', None, "not UTF-8"),
        (None, None, ""),
    ],
)
def test_metadata_is_read_as_the_client_reads_it(tmp_path: Path, data: bytes | None, value: object, words: str) -> None:
    if data is not None:
        (tmp_path / "metadata.json").write_bytes(data)
    found = read_metadata(str(tmp_path))
    assert (found.value is not None) if value is True else (found.value == value)
    assert words in found.problem and bool(words) == bool(found.problem)
    (tmp_path / "metadata.json.backup").write_bytes(b'{"b": 2}')
    if words:
        assert read_metadata(str(tmp_path)).value == {"b": 2}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may list anything")
def test_a_folder_that_can_not_be_entered_is_listed_all_the_same(tmp_path: Path) -> None:
    folder = make_session(tmp_path, "-home-a", "closed")
    folder.chmod(0)
    try:
        for places in (list_sessions((str(tmp_path),)), list_tree(str(tmp_path))):
            assert [place.session_id for place in places] == ["closed"]
    finally:
        folder.chmod(0o700)


def test_a_store_known_by_two_names_holds_each_session_once(tmp_path: Path) -> None:
    make_session(tmp_path / "store", "-home-a", "one")
    (tmp_path / "link").symlink_to(tmp_path / "store")
    assert len(list_sessions((str(tmp_path / "store"), str(tmp_path / "link")))) == 1
