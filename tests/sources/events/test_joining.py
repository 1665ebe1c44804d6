"""Logs from before 2026 give no call ids: their results are joined to calls by tool, arguments and order, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import doctor
from doctor.sources.session import read_session
from tests.sources.events.logs import SESSION_ID, LogWriter

NOW = 1_800_000_000.0


def write_call(call_id: str, command: str, tool: str = "bash") -> dict[str, Any]:
    arguments = {"command": command}
    return {
        "role": "assistant",
        "content": [{"type": "tool_call", "id": call_id, "name": tool, "input": arguments}],
        "tool_calls": [{"id": call_id, "tool": tool, "arguments": arguments}],
    }


class OldSession:
    """A session folder whose log has the payloads of 2025."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / SESSION_ID
        self.folder.mkdir()
        self.log = LogWriter()
        self.log.start("go")
        self.rows: list[dict[str, Any]] = [{"role": "user", "content": "go"}]

    def begin(self, command: str, group: str = "", tool: str = "bash") -> None:
        self.log.add("tool:pre", {"tool": tool, "arguments": {"command": command}, "parallel_group_id": group})

    def finish(self, result: str, group: str = "", tool: str = "bash") -> None:
        self.log.add("tool:post", {"tool": tool, "result": result, "parallel_group_id": group})

    def store(self, call_id: str, command: str, result: str | None) -> None:
        self.rows.append(write_call(call_id, command))
        if result is not None:
            self.rows.append({"role": "tool", "name": "bash", "tool_call_id": call_id, "content": result})

    def join(self) -> dict[str, int]:
        """The call ids that the log has results for, with the lines of those results."""
        self.log.write(self.folder)
        (self.folder / "transcript.jsonl").write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        session = read_session(str(self.folder / "transcript.jsonl"), now=NOW)
        assert session.events is not None
        return {run.call_id: run.end_line for run in session.events.runs.values()}


def test_a_lost_result_comes_back_from_an_old_log(tmp_path: Path) -> None:
    session = OldSession(tmp_path)
    session.begin("ls")
    session.finish("a.txt")
    session.begin("make")
    session.finish("done at last")
    session.store("c1", "ls", "a.txt")
    session.store("c2", "make", None)
    session.log.end()
    assert session.join() == {"c1": 3, "c2": 5}
    path = session.folder / "transcript.jsonl"
    report = doctor.fix(path, dry_run=False, now=NOW, environment={})
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert report.files[0].verdict == "resumable"
    assert rows[-1]["tool_call_id"] == "c2" and rows[-1]["content"] == "done at last"


def test_alike_calls_are_joined_in_their_order_where_the_numbers_agree(tmp_path: Path) -> None:
    session = OldSession(tmp_path)
    for result in ("1", "2"):
        session.begin("date")
        session.finish(result)
    session.store("c1", "date", "1")
    session.store("c2", "date", None)
    assert session.join() == {"c1": 3, "c2": 5}


def test_where_the_numbers_differ_nothing_is_joined(tmp_path: Path) -> None:
    session = OldSession(tmp_path)
    session.begin("date")
    session.finish("1")
    session.store("c1", "date", "0")
    session.store("c2", "date", None)
    assert session.join() == {}


def test_runs_of_one_tool_at_the_same_time_can_not_be_told_apart(tmp_path: Path) -> None:
    session = OldSession(tmp_path)
    session.begin("slow", "g")
    session.begin("quick", "g")
    session.finish("q", "g")
    session.finish("s", "g")
    session.store("c1", "slow", None)
    session.store("c2", "quick", None)
    assert session.join() == {}


def test_the_result_of_a_later_call_is_not_given_to_one_that_died(tmp_path: Path) -> None:
    session = OldSession(tmp_path)
    session.begin("dies")
    session.begin("lives")
    session.finish("of the second")
    session.store("c1", "dies", None)
    session.store("c2", "lives", None)
    assert session.join() == {}


def test_other_tools_and_other_arguments_are_other_calls(tmp_path: Path) -> None:
    session = OldSession(tmp_path)
    session.begin("x", tool="read")
    session.finish("r", tool="read")
    session.begin("y")
    session.finish("b")
    session.store("c1", "x", None)
    assert session.join() == {}
