"""Recorded results come back byte for byte as the client stored them, or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from doctor.eventlog import RecordedResult
from doctor.sources.events import read_result
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource
from tests.sources.events.logs import LogWriter


def record(folder: Path, result: Any, **promoted: Any) -> RecordedResult:
    log = LogWriter()
    log.start("hi")
    log.call("a")
    log.add("tool:post", {"parallel_group_id": "g", "result": result, "tool_call_id": "a", "tool_name": "bash"}, **promoted)
    read = log.read(folder)
    return read_result(read, read.runs["a"])


@pytest.mark.parametrize(
    "result",
    [
        {"error": None, "output": {"returncode": 0, "stdout": "größer \u2028 \x00 🚀"}, "success": True},
        {"big": 2**70, "float": 1e22, "small": 1.5e-7},
        [1, {"b": 2, "a": 1}],
        [],
    ],
)
def test_objects_are_written_as_the_client_writes_them(tmp_path: Path, result: Any) -> None:
    recorded = record(tmp_path, result)
    assert recorded == RecordedResult(json.dumps(result), "events.jsonl:4", "")


def test_text_stays_text(tmp_path: Path) -> None:
    assert record(tmp_path, "plain größer").content == "plain größer"


def test_failed_tool_is_a_result(tmp_path: Path) -> None:
    result = {"error": {"message": "exit 3"}, "output": None, "success": False}
    assert record(tmp_path, result).content == json.dumps(result)


@pytest.mark.parametrize(
    ("result", "promoted", "reason"),
    [
        ({"output": "x"}, {"redaction": {"applied": True, "rules": ["secrets"]}}, "redacted"),
        ({"output": "key [REDACTED:SECRET]"}, {}, "redacted"),
        (None, {}, "no result"),
    ],
)
def test_refusals(tmp_path: Path, result: Any, promoted: dict[str, Any], reason: str) -> None:
    recorded = record(tmp_path, result, **promoted)
    assert recorded.content == "" and reason in recorded.refusal


def test_half_a_character_is_refused_where_it_would_reach_the_file(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    for name, result in (("text", "@"), ("object", {"output": "@"})):
        log.call(name)
        log.finish(name, result)
        log.lines[-1] = log.lines[-1].replace(b"@", b"\\ud800")
    read = log.read(tmp_path)
    assert "surrogate" in read_result(read, read.runs["text"]).refusal
    assert read_result(read, read.runs["object"]).content == '{"output": "\\ud800"}'


def test_line_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.call("a")
    log.finish("a", "@")
    log.lines[-1] = log.lines[-1].replace(b"@", b"\xff")
    read = log.read(tmp_path)
    assert read.runs["a"].end_line == 3
    assert "can't be read" in read_result(read, read.runs["a"]).refusal
    assert [problem.kind for problem in read.problems] == ["invalid"]


def test_shared_id_is_refused(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    for _ in (1, 2):
        log.call("a")
        log.finish("a")
    read = log.read(tmp_path)
    assert "several runs" in read_result(read, read.runs["a"]).refusal


@pytest.mark.parametrize("is_promoted", [True, False])
@pytest.mark.parametrize(
    ("error", "content"),
    [
        ({"type": "RuntimeError", "msg": "Error: Tool 'bash' not found"}, "Error: Tool 'bash' not found"),
        ({"type": "ValueError", "msg": "a hook failed"}, "Internal error executing tool: a hook failed"),
        ({"type": "CancelledError", "msg": ""}, None),
        ("text", None),
    ],
)
def test_tool_errors_become_what_the_loop_stores(tmp_path: Path, error: Any, content: str | None, is_promoted: bool) -> None:
    log = LogWriter()
    log.start("hi")
    log.call("a")
    data = {"tool_name": "bash", "tool_call_id": "a"}
    if is_promoted:
        log.add("tool:error", data, error=error)
    else:
        log.add("tool:error", data | {"error": error})
    read = log.read(tmp_path)
    recorded = read_result(read, read.runs["a"])
    assert (recorded.content, bool(recorded.refusal)) == (content or "", content is None)


def test_glued_record_is_read_from_its_own_bytes(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("größer")
    log.call("a")
    log.finish("a", {"output": "größer"})
    glued = log.lines.pop()
    log.lines[-1] = log.lines[-1][:-9] + glued
    read = log.read(tmp_path)
    assert read_result(read, read.runs["a"]).content == json.dumps({"output": "größer"})


@pytest.mark.parametrize("is_bare", [True, False])
def test_the_other_results_show_how_this_client_writes(tmp_path: Path, is_bare: bool) -> None:
    log = LogWriter()
    log.start("hi")
    rows = []
    for number in range(3):
        result = {"success": True, "output": {"number": number}, "error": None}
        log.call(f"c{number}")
        log.finish(f"c{number}", result)
        content = json.dumps(result["output"] if is_bare else result)
        rows.append(json.dumps({"role": "tool", "name": "bash", "tool_call_id": f"c{number}", "content": content}))
    if is_bare:
        # Clients that store the output alone are older than stamps of nanoseconds.
        log.lines = [re.sub(rb"(\.\d{3})\d{6}\+", rb"\1+", line) for line in log.lines]
    read = log.read(tmp_path)
    transcript = read_transcript(MemorySource("\n".join(rows[:2]).encode()), "transcript.jsonl")
    recorded = read_result(read, read.runs["c2"], transcript)
    assert recorded.content == json.loads(rows[2])["content"]
