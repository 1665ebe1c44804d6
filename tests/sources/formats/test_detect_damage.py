"""Damage never makes a transcript of what is none."""

from __future__ import annotations

import pytest

from doctor.errors import DoctorError
from doctor.sources.formats import detect_format
from doctor.sources.source import MemorySource

ROW = b'{"role": "user", "content": "hi"}'


@pytest.mark.parametrize("name", ["README.md", "metadata.json", "pyproject.toml", "notes", "a.jsonl/notes.txt"])
@pytest.mark.parametrize("data", [b"# Title\n\nwords\n", b'{\n  "session_id": "a"\n}\n', b"", b"\0" * 100])
def test_a_file_without_a_row_and_of_another_name_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(DoctorError, match="holds no row of a transcript"):
        detect_format(MemorySource(data), f"folder/{name}")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("transcript.jsonl", b""),
        ("transcript.jsonl", b"\0" * 100),
        ("transcript.jsonl.backup", b"words\n"),
        ("rows.jsonl", b"words\n"),
        ("-", b"words\n"),
        ("saved.txt", ROW + ROW + b"\n"),
        ("saved.txt", ROW[:20]),
    ],
)
def test_damaged_rows_are_read_as_a_transcript(name: str, data: bytes) -> None:
    assert detect_format(MemorySource(data), name).NAME == "amplifier"
