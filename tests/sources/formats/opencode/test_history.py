"""What proves that two executions ran at once, and what does not, over small made-up timelines; the reported ones are fixtures."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from doctor.eventlog import EventLog
from doctor.examples import answer, export, prompt, tool
from doctor.placeholders import MARK
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.support.cases import NOW

USERS = (prompt("msg_1", "slow", created=10), prompt("msg_2", "quick", created=200))


def read(*messages: dict[str, Any], **info: Any) -> EventLog:
    ordered = sorted(messages, key=lambda message: message["info"]["time"]["created"])
    session = read_session("export.json", source=MemorySource(export(*ordered, **info).encode()), now=NOW)
    assert session.events is not None
    return session.events


def older(end: int = 900, **more: Any) -> dict[str, Any]:
    return answer("msg_a", "msg_1", tool("toolu_slow", start=110, end=end), created=100, completed=end + 1, finish="tool-calls", **more)


def newer(created: int = 300, **more: Any) -> dict[str, Any]:
    return answer("msg_b", "msg_2", {"type": "text", "text": "Yes."}, created=created, completed=created + 50, finish="stop", **more)


def test_a_tool_that_outlives_the_next_message_proves_an_overlap() -> None:
    log = read(*USERS, older(), newer())
    assert [(found.confidence, found.older.prompt, found.newer.prompt) for found in log.overlaps] == [("confirmed", "slow", "quick")]
    assert "toolu_slow" in log.overlaps[0].proof and "msg_b had begun" in log.overlaps[0].proof
    request = next(request for request in log.requests if request.open_calls)
    assert request.open_calls == ("toolu_slow",) and request.repaired_line >= 0


@pytest.mark.parametrize("created", [901, 902, 5_000])
def test_a_message_behind_the_end_of_the_older_one_proves_nothing(created: int) -> None:
    assert read(*USERS, older(), newer(created)).overlaps == ()


def test_equal_times_prove_nothing() -> None:
    assert read(*USERS, older(end=300), newer(301)).overlaps == ()
    assert read(*USERS, older(end=300), newer(300)).overlaps != ()


def test_what_others_do_to_a_message_is_no_sign_of_life() -> None:
    swept = older()
    state = swept["parts"][0]["state"]
    swept["parts"][0]["state"] = {"status": "error", "input": {}, "error": "Tool execution aborted", "time": state["time"]}
    del swept["info"]["finish"]
    assert read(*USERS, swept, newer()).overlaps == ()
    aborted = older(error={"name": "MessageAbortedError", "data": {}})
    aborted["parts"] = []
    assert read(*USERS, aborted, newer()).overlaps == ()


def test_a_fork_and_another_folder_make_times_worthless() -> None:
    assert read(*USERS, older(), newer(), time={"created": 90_000, "updated": 90_000}).overlaps == ()
    path, other = ({"cwd": root, "root": root} for root in ("/home/a", "/Users/b"))
    assert read(*USERS, older(path=path), newer(path=other)).overlaps == ()


def test_an_open_call_is_a_doubt() -> None:
    crashed = answer("msg_a", "msg_1", tool("toolu_slow", "running", start=110), created=100)
    log = read(*USERS, crashed, newer())
    assert [found.confidence for found in log.overlaps] == ["possible"]
    assert not any(request.open_calls for request in log.requests)
    assert log.abandoned == ()


def test_steps_of_one_turn_are_one_execution_and_turns_are_others() -> None:
    steps = [
        answer(f"msg_s{n}", "msg_1", tool(f"t{n}", start=n, end=n + 5), created=n, completed=n + 6, finish="tool-calls")
        for n in (20, 30, 40)
    ]
    log = read(*USERS, *steps, newer())
    assert [(one.prompt, one.status) for one in log.executions] == [("slow", "incomplete"), ("quick", "success")]
    assert len(log.requests) == 4 and log.open_execution is None


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_three_at_once_are_three_executions(order: tuple[int, ...]) -> None:
    starts = (100, 150, 160)
    replies = [
        answer(f"msg_{name}", "msg_1", tool(f"t_{name}", start=start + 1, end=900 + order[n]), created=start, completed=950, finish="stop")
        for n, (name, start) in enumerate(zip("abc", starts, strict=True))
    ]
    log = read(USERS[0], *replies)
    assert len(log.executions) == 3 and len(log.overlaps) == 3
    json.dumps([found.proof for found in log.overlaps])


def test_what_the_doctor_put_in_place_of_a_result_is_no_sign_of_life() -> None:
    """Neither when it stands, nor as an answer that a refused request did not know."""
    mark = {MARK: {"code": "AD301", "from": "placeholder", "was": {}}}
    ended = older()
    state = ended["parts"][0]["state"]
    ended["parts"][0]["state"] = {"status": "error", "input": {}, "error": "Ended.", "metadata": mark, "time": state["time"]}
    del ended["info"]["finish"]
    refused = newer(error={"name": "APIError", "data": {"message": "no output for toolu_slow"}})
    for later in (newer(), refused):
        log = read(*USERS, ended, later)
        assert log.overlaps == () and all(request.open_calls == () for request in log.requests)


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([{"type": "step-start"}, {"type": "text", "text": "Yes."}], "success"),
        ([tool("toolu_a", start=3, end=4)], "success"),
        ([{"type": "step-start"}, tool("toolu_a", start=3, end=4)], "incomplete"),
        ([{"type": "step-start"}, tool("toolu_a", "running")], ""),
    ],
)
def test_messages_of_versions_without_a_finish_have_an_end(parts: list[dict[str, Any]], status: str) -> None:
    log = read(USERS[0], answer("msg_a", "msg_1", *parts, created=100, completed=150))
    assert [(execution.status, execution.end_line >= 0) for execution in log.executions] == [(status, bool(status))]


@pytest.mark.parametrize(("said", "named"), [("No tool output found for function call call_one.", True), ("call_one is not unique", False)])
def test_a_request_refused_for_want_of_a_stored_result_was_made_of_an_older_state(said: str, named: bool) -> None:
    """Also where nothing else tells of a second execution."""
    state = {"status": "completed", "input": {}, "content": [{"type": "text", "text": "ok"}]}
    call = {"type": "tool", "id": "call_one", "name": "shell", "time": {"created": 3, "ran": 4, "completed": 8}, "state": state}
    first = {"id": "msg_2", "type": "assistant", "content": [call], "finish": "tool-calls", "time": {"created": 2, "completed": 9}}
    error = {"type": "provider", "message": said, "status": 400}
    second = {
        "id": "msg_3",
        "type": "assistant",
        "content": [],
        "finish": "error",
        "error": error,
        "time": {"created": 20, "completed": 21},
    }
    messages = [{"id": "msg_1", "type": "user", "text": "go", "time": {"created": 1}}, first, second]
    text = json.dumps({"info": {"id": "ses_1", "location": {"directory": "/p"}, "time": {"created": 1}}, "messages": messages})
    log = read_session("export.json", source=MemorySource(text.encode()), now=NOW).events
    assert log is not None and log.overlaps == ()
    assert [(request.open_calls, request.was_stale) for request in log.requests if request.error] == [(("call_one",) * named, named)]
