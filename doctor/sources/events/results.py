"""Rebuilds the content of a recorded tool result as the client would have stored it."""

from __future__ import annotations

import json
import os

from doctor.eventlog import EventLog, RecordedResult, ToolRun
from doctor.jsontext import read_json
from doctor.model import Transcript
from doctor.placeholders import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_COMPARED = 4
"""Other results of the session that are compared to learn how its client writes them."""


def read_result(log: EventLog, run: ToolRun, transcript: Transcript | None = None) -> RecordedResult:
    """The content of a run's result, or the reason why it can't be had.

    `transcript` tells by its other results how this client writes them: with amplifier-core in Rust (since February 2026) the whole
    result object, before that its `output` alone. Without one, the whole object is taken: it loses nothing.

    A tool:post hook that changed the result makes the stored content differ from the event. The log does not show that, so such a
    content is recovered as the tool gave it.
    """
    source = f"{os.path.basename(log.path)}:{run.end_line + 1}"

    def refuse(reason: str) -> RecordedResult:
        return RecordedResult("", source, reason)

    if run.end_line < 0:
        return refuse("the call has no end in the event log")
    if run.offset < 0:
        return refuse("the event log holds several runs with this id")
    raw = log.source.read(run.offset, run.length)
    if run.redacted or b"[REDACTED" in raw:
        return refuse("the recorded result is redacted")
    row = _parse_row(raw, run)
    if row is None:
        return refuse(f"event {run.end_line + 1} can't be read")
    is_bare = transcript is not None and row.get("event") == "tool:post" and not _is_of_rust(row) and _writes_bare_output(log, transcript)
    content = _write_content(row, run, is_bare)
    if content is None:
        return refuse(f"event {run.end_line + 1} holds no result")
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        return refuse("the recorded result holds half a character (a lone surrogate), which the client itself can't save")
    return RecordedResult(content, source, "")


def _parse_row(raw: bytes, run: ToolRun) -> dict[str, Any] | None:
    # Not orjson: it turns integers beyond 64 bits into floats.
    try:
        row = read_json(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and row.get("event") == run.end_event else None


def _write_content(row: dict[str, Any], run: ToolRun, is_bare: bool) -> str | None:
    data = row.get("data")
    data = data if isinstance(data, dict) else {}
    if run.end_event == "tool:error":
        return _write_error(row.get("error", data.get("error")), run)
    result = data.get("result")
    if result is None:
        return None
    if is_bare and isinstance(result, dict):
        return _write_bare(result)
    return json.dumps(result) if isinstance(result, (dict, list)) else str(result)


def _write_error(error: Any, run: ToolRun) -> str | None:
    """What the loop stores when a tool is unknown or a hook fails. An exception inside a tool is a tool:post without success."""
    if not isinstance(error, dict) or not isinstance(error.get("msg"), str):
        return None
    if error.get("type") == "CancelledError":
        # Cancelled calls get the client's own placeholder: this is no result.
        return None
    message = error["msg"]
    return message if message == f"Error: Tool '{run.name}' not found" else f"Internal error executing tool: {message}"


def _write_bare(result: dict[str, Any]) -> str:
    output = result.get("output")
    if output is not None:
        return json.dumps(output) if isinstance(output, (dict, list)) else str(output)
    if result.get("success", True):
        return "Success"
    error = result.get("error")
    return f"Error: {error.get('message', 'Unknown error')}" if isinstance(error, dict) and error else "Error: Failed"


def _is_of_rust(row: dict[str, Any]) -> bool:
    """Whether the core in Rust emitted an event: only it stamps nanoseconds. Its loop stores whole objects, but for what a hook changed."""
    fraction = str(row.get("ts") or "").partition(".")[2]
    return len(fraction) - len(fraction.lstrip("0123456789")) > 6


def _writes_bare_output(log: EventLog, transcript: Transcript) -> bool:
    """Whether the results that are in both files were all stored as their output alone. Looked up once for a log."""
    if log.is_bare is None:
        log.is_bare = _compare_results(log, transcript)
    return log.is_bare


def _compare_results(log: EventLog, transcript: Transcript) -> bool:
    compared = 0
    for message in transcript.messages:
        if len(message.results) != 1 or message.results[0].maker:
            continue
        other = log.runs.get(message.results[0].call_id)
        if other is None or other.end_event != "tool:post" or other.offset < 0 or other.redacted:
            continue
        row = _parse_row(log.source.read(other.offset, other.length), other)
        stored = transcript.read_row(message.line)
        if not isinstance(stored, dict) or MARK in (stored.get("metadata") or ()):
            continue
        if row is None or stored.get("content") != _write_content(row, other, True):
            return False
        compared += 1
        if compared == MOST_COMPARED:
            break
    return compared > 0
