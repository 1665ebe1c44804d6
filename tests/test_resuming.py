"""Can it be resumed? The verdict, its words, and what a delegate's result offers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor import examples
from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import load_rules
from doctor.findings import FileReport
from doctor.output.verdict import describe_verdict
from doctor.resuming import find_obstacle, is_sub_session
from doctor.sources.session import read_session
from tests.support.cases import NOW, write_example

ROOT = "3f1c2b7a-5d0e-4c9b-9a55-0f7e6b1d2c3a"
CHILD = "0000000000000000-5a1b2c3d4e5f6071_explorer"
CONFIG = {"parent_id": ROOT, "agent_name": "explorer", "config": {"tools": []}}
TRANSCRIPT = examples.user("look") + examples.reply("seen")
EVENTS = examples.event(0, "execution:start", prompt="look") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
FRESH = EVENTS.replace("2026-01-02T03:00", "2027-01-15T07:59")


def report(folder: Path, files: dict[str, str]) -> FileReport:
    session = read_session(str(write_example(files, folder)), now=NOW)
    return report_session(session, diagnose(session, load_rules()))


def describe(file: FileReport) -> dict[str, str]:
    return {found.code: found.message for found in file.diagnostics}


@pytest.mark.parametrize(
    ("session_id", "metadata", "expected"),
    [
        (ROOT, None, False),
        (CHILD, None, True),
        (f"{ROOT}_explorer", None, True),
        (f"{ROOT}-5a1b2c3d4e5f6071_explorer", None, True),
        ("", {"parent_id": "p", "agent_name": "explorer"}, True),
        (ROOT, {"parent_id": "p"}, False),
        (CHILD, {"parent_id": "p", "agent_name": "explorer", "forked_from_turn": 2}, False),
        ("my_notes", None, False),
        ("deadbeef_test", None, False),
    ],
)
def test_sub_sessions_are_told_from_roots_and_forks(session_id: str, metadata: Any, expected: bool) -> None:
    assert is_sub_session(session_id, metadata) is expected


@pytest.mark.parametrize(
    ("session_id", "metadata", "problem", "unsaved", "words"),
    [
        (ROOT, None, "", False, ""),
        (ROOT, None, "it is empty", False, ""),
        (ROOT, None, "", True, "before its first save"),
        (CHILD, CONFIG, "", False, ""),
        (CHILD, CONFIG | {"config": {"api_key": "[REDACTED]"}}, "", False, ""),
        (CHILD, CONFIG | {"status": "in_progress"}, "", False, ""),
        (CHILD, CONFIG | {"config": {}}, "", False, "no config"),
        (CHILD, CONFIG | {"config": "x"}, "", False, "no config"),
        (CHILD, {"last_turn": "complete"}, "", False, ""),
        (CHILD, None, "", False, "is missing"),
        (CHILD, None, "it is empty", False, "can't be read (it is empty)"),
    ],
)
def test_what_stands_in_the_way_of_a_resume(session_id: str, metadata: Any, problem: str, unsaved: bool, words: str) -> None:
    obstacle = find_obstacle(session_id, metadata, problem, unsaved)
    assert words in obstacle and bool(words) == bool(obstacle)


def test_a_child_with_events_only_says_re_delegate(tmp_path: Path) -> None:
    file = report(tmp_path / CHILD, {"events.jsonl": EVENTS})
    assert file.verdict == "not-resumable" and set(describe(file)) == {"AD602", "AD502"}
    assert "NOT resumable" in describe(file)["AD602"]
    assert describe_verdict(file).endswith(
        "it ended before its first save and has an event log but no transcript · re-delegate to start a fresh session instead of "
        "retrying the resume"
    )


def test_a_root_with_events_only_is_not_to_be_re_delegated(tmp_path: Path) -> None:
    file = report(tmp_path / ROOT, {"events.jsonl": EVENTS})
    assert file.verdict == "not-resumable" and "start a new session" in describe_verdict(file)


def test_a_child_cut_off_at_a_checkpoint_is_resumable(tmp_path: Path) -> None:
    metadata = json.dumps(CONFIG | {"status": "in_progress", "last_updated": "2026-01-02T03:00:00.500+00:00"})
    file = report(tmp_path / CHILD, {"transcript.jsonl": TRANSCRIPT, "metadata.json": metadata, "events.jsonl": EVENTS})
    assert file.verdict == "resumable"
    said = describe(file)["AD603"]
    assert "balanced" in said and "behind its events by 1 call (bash, not finished)" in said and "can be resumed" in said
    complete = json.dumps(CONFIG | {"status": "complete"})
    quiet = report(tmp_path / "other" / CHILD, {"transcript.jsonl": TRANSCRIPT, "metadata.json": complete})
    assert quiet.verdict == "resumable" and describe(quiet) == {}


@pytest.mark.parametrize(("files", "words"), [({}, "re-delegate"), ({"transcript.jsonl": TRANSCRIPT}, "can be resumed")])
def test_a_live_child_is_told_in_both_branches(tmp_path: Path, files: dict[str, str], words: str) -> None:
    metadata = {"metadata.json": json.dumps(CONFIG | {"status": "in_progress"})}
    file = report(tmp_path / CHILD, files | metadata | {"events.jsonl": FRESH})
    assert file.verdict == "live" and describe_verdict(file).startswith("live: an execution is open")
    assert words in describe(file)["AD605"] and not {"AD602", "AD603"} & set(describe(file))


def offer(output: Any, **more: Any) -> str:
    return json.dumps({"error": None, "output": output, "success": True} | more)


def report_parent(folder: Path, content: str, tool: str = "delegate") -> dict[str, str]:
    rows = examples.user("look") + examples.call("a", name=tool) + examples.result("a", content, tool) + examples.reply("seen")
    return describe(report(folder / "-home-a" / "sessions" / ROOT, {"transcript.jsonl": rows, "metadata.json": "{}"}))


@pytest.mark.parametrize(
    ("content", "tool", "is_reported"),
    [
        (offer({"session_id": CHILD, "status": "success"}), "delegate", True),
        (offer({"session_id": CHILD}), "task", True),
        (json.dumps({"response": "x", "session_id": CHILD}), "delegate", True),
        (offer({"session_id": CHILD, "status": "timed_out"}, success=False), "delegate", True),
        (offer({"session_id": "../../secret"}), "delegate", True),
        (offer({"session_id": CHILD}), "bash", False),
        (offer({"session_id": CHILD, "resumable": False}), "delegate", False),
        (offer({"session_id": CHILD}, resumable=False), "delegate", False),
        (offer({"session_id": None}), "delegate", False),
        (offer({"session_id": ROOT}), "delegate", False),
        (offer("timed out"), "delegate", False),
        (json.dumps([CHILD]), "delegate", False),
        ("no JSON", "delegate", False),
    ],
)
def test_only_an_offer_that_leads_nowhere_is_reported(tmp_path: Path, content: str, tool: str, is_reported: bool) -> None:
    found = report_parent(tmp_path, content, tool)
    assert ("AD604" in found) == is_reported
    assert not is_reported or ("NOT resumable" in found["AD604"] and "re-delegate" in found["AD604"])


def test_an_offer_that_leads_to_a_resumable_session_is_fine(tmp_path: Path) -> None:
    write_example({"transcript.jsonl": TRANSCRIPT, "metadata.json": json.dumps(CONFIG)}, tmp_path / "-home-a" / "sessions" / CHILD)
    assert "AD604" not in report_parent(tmp_path, offer({"session_id": CHILD}))


def test_one_session_offered_twice_is_one_finding_and_does_not_stop_the_parent(tmp_path: Path) -> None:
    rows = examples.user("look")
    for call_id in ("a", "b"):
        rows += examples.call(call_id, name="delegate") + examples.result(call_id, offer({"session_id": CHILD}), "delegate")
    file = report(tmp_path / "-home-a" / "sessions" / ROOT, {"transcript.jsonl": rows + examples.reply("x"), "metadata.json": "{}"})
    assert file.verdict == "resumable" and [found.code for found in file.diagnostics] == ["AD604"]
    assert file.diagnostics[0].ids == ("a", "b")


@pytest.mark.parametrize(
    ("metadata", "backup", "severity"),
    [
        ('{"a"', None, "error"),
        ("[]", None, "error"),
        ('{"a"', "{}", "warning"),
        ('{"session_id": "other"}', None, "info"),
        ("{}", None, None),
    ],
)
def test_damaged_metadata_is_as_bad_as_what_the_client_makes_of_it(tmp_path: Path, metadata: str, backup: Any, severity: Any) -> None:
    files = {"transcript.jsonl": TRANSCRIPT, "metadata.json": metadata} | ({"metadata.json.backup": backup} if backup else {})
    file = report(tmp_path / ROOT, files)
    assert file.verdict == "resumable"
    assert [found.severity for found in file.diagnostics] == ([severity] if severity else [])
