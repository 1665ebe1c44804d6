"""From a path to transcripts, and from a transcript to what lies beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.errors import DoctorError
from doctor.sources.formats import detect_format
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from doctor.sources.stores import find_transcripts

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
        (lambda folder: (folder / "events.jsonl").write_bytes(b"{}\n"), "unreadable", "ended before its first save"),
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
