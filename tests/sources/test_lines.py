"""Why a line is not one JSON value, and what can still be read on it."""

from __future__ import annotations

import pytest

from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource

ROW = b'{"role": "user", "content": "x"}'
OTHER = b'{"role": "assistant", "content": "y"}'


@pytest.mark.parametrize(
    ("raw", "kind", "column", "rows"),
    [
        (ROW + OTHER, "glued", len(ROW), 2),
        (ROW + b" " + OTHER, "glued", len(ROW), 2),
        (ROW[:-2] + OTHER, "glued", len(ROW) - 2, 1),
        (ROW + OTHER[:9], "glued", len(ROW), 1),
        (b"\xef\xbb\xbf" + ROW, "bom", 0, 1),
        (b"\0\0" + ROW + b"\0", "nul", 0, 1),
        (b"\0" * 9, "nul", 0, 0),
        (ROW[:9] + b"\0" + ROW[9:], "nul", 9, 0),
        (b'{"role": "user", "content": "caf\xe9"}', "utf8", 32, 1),
        (b'{"role": "user", "content": "\\ud800"}', "surrogate", 29, 1),
        (b'{"role": "user", "content": "\\udc00"}', "surrogate", 29, 1),
        (b'{"role": "user", "content": "x", "n": NaN}', "constant", 38, 1),
        (b'{"role": "user", "content": "x", "n": 1e999}', "constant", 38, 1),
        (b'{"role": "user", "role": "user", "content": "x"}', "duplicate-key", 17, 1),
        (ROW[:-1], "torn", len(ROW) - 1, 0),
        (b'{"role": "user", "content": "\\u12', "torn", 33, 0),
        (b'{"role": "user", "content": nul', "torn", 31, 0),
        (b"{", "torn", 1, 0),
        (b"garbage", "invalid", 0, 0),
        (b'{"role": "user", content}', "invalid", 17, 0),
        (b'{"role": "user", "content": "x",}', "invalid", 31, 0),
        (b"[" * 100_000, "deep", 0, 0),
        (b'{"role": "user", "n": ' + b"1" * 5_000 + b"}", "deep", 0, 0),
    ],
)
def test_problem_of_the_last_line(raw: bytes, kind: str, column: int, rows: int) -> None:
    transcript = read_transcript(MemorySource(ROW + b"\n" + raw), "x")
    (problem,) = transcript.line_problems
    assert (problem.line, problem.kind) == (1, kind)
    assert abs(problem.column - column) <= 1
    assert len(transcript.messages) == 1 + rows


@pytest.mark.parametrize(
    "raw",
    [
        b'{"role": "user", "content": "\\\\ud800 \\ud83d\\ude00"}',
        '{"role": "user", "content": "a\u2028b\u0085c"}'.encode(),
        b'{"role": "user", "content": "\\u0000"}',
        b'{"role": "user", "content": "x", "n": 123456789012345678901234567890}',
        ROW + b"\r",
        b"",
        b"   ",
    ],
)
def test_what_is_no_problem(raw: bytes) -> None:
    transcript = read_transcript(MemorySource(raw + b"\n" + ROW + b"\n"), "x")
    assert transcript.line_problems == []


def test_a_cut_line_in_the_middle_is_invalid_not_torn() -> None:
    transcript = read_transcript(MemorySource(ROW[:-3] + b"\n" + ROW + b"\n"), "x")
    assert [(problem.line, problem.kind) for problem in transcript.line_problems] == [(0, "invalid")]


def test_nested_objects_of_a_cut_record_are_no_records() -> None:
    raw = b'{"role": "tool", "content": [{"type": "text", "text": "cut {"type": "text", "text": "x"}'
    transcript = read_transcript(MemorySource(raw), "x")
    assert transcript.messages == []


def test_lines_and_bytes_are_kept() -> None:
    data = b"\n" + ROW + b"\r\n\n" + OTHER
    transcript = read_transcript(MemorySource(data), "x")
    assert list(transcript.starts) == [0, 1, len(ROW) + 3, len(ROW) + 4, len(data)]
    assert transcript.read_line(1) == ROW and transcript.read_line(3) == OTHER
    assert transcript.blank_lines == [0, 2]
    assert not transcript.ends_with_eol


def test_a_line_of_five_megabytes() -> None:
    big = b'{"role": "tool", "name": "bash", "tool_call_id": "a", "content": "' + b"x" * 5_000_000 + b'"}\n'
    call = b'{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "tool": "bash", "arguments": {}}]}\n'
    transcript = read_transcript(MemorySource(call + ROW + b"\n" + big), "x")
    assert [message.kind for message in transcript.messages] == ["call", "prompt", "result"]
    assert transcript.line_problems == []


def test_a_value_of_a_cut_record_is_no_record_of_its_own() -> None:
    head = b'{"role":"assistant","content":[{"type":"tool_call","id":"a","name":"w","input":'
    for raw in (head + b'{"role":"user","content":"NESTED"}', head + b'[{"role":"user","content":"NESTED"}'):
        transcript = read_transcript(MemorySource(ROW + b"\n" + raw), "x")
        (problem,) = transcript.line_problems
        assert (problem.kind, problem.parts) == ("glued", ())
        assert len(transcript.messages) == 1
    raw = head + b'{"role":"user","content":"x","metadata":{"timestamp":"2026-01-02T03:04:05.678+00:00"}}'
    assert len(read_transcript(MemorySource(raw), "x").messages) == 1


def test_records_between_runs_of_nul_are_read() -> None:
    transcript = read_transcript(MemorySource(ROW + b"\0\0" + OTHER + b"\0" + ROW[:9]), "x")
    assert [message.role for message in transcript.messages] == ["user", "assistant"]
