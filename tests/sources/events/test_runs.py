"""Tool runs and requests: pairing, old logs without ids, what was open when a request left."""

from __future__ import annotations

from pathlib import Path

from tests.sources.events.logs import LogWriter


def test_parallel_calls_that_finish_in_another_order(tmp_path: Path) -> None:
    log = LogWriter()
    start = log.start("hi")
    a, b = log.call("a"), log.call("b")
    b_end, a_end = log.finish("b"), log.finish("a")
    runs = log.read(tmp_path).runs
    assert [(runs[name].pre_line, runs[name].end_line, runs[name].execution) for name in ("a", "b")] == [
        (a, a_end, start),
        (b, b_end, start),
    ]
    assert runs["a"].group == "g"


def test_error_behind_the_post_is_what_the_client_stored(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.call("a")
    log.finish("a")
    error = log.add("tool:error", {"tool_name": "bash", "tool_call_id": "a"}, error={"type": "ValueError", "msg": "hook"})
    run = log.read(tmp_path).runs["a"]
    assert (run.end_line, run.end_event) == (error, "tool:error")


def test_error_without_an_id_ends_no_call(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.call("a", "task")
    log.add("tool:error", {"tool_name": "task"}, error={"type": "E", "msg": "m"})
    assert log.read(tmp_path).runs["a"].end_line == -1


def test_end_whose_start_was_torn(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    end = log.finish("a")
    run = log.read(tmp_path).runs["a"]
    assert (run.pre_line, run.end_line) == (-1, end)


def test_reused_id_has_no_result_of_its_own(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    for _ in (1, 2):
        log.call("call_0")
        log.finish("call_0")
    run = log.read(tmp_path).runs["call_0"]
    assert (run.offset, run.length) == (-1, 0)


def test_old_calls_without_ids_pair_by_order_in_their_group(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")

    def add(event: str, tool: str, **more: str) -> int:
        return log.add(event, {"tool": tool, "arguments": {}, "parallel_group_id": "g", **more})

    first = add("tool:pre", "bash")
    add("tool:pre", "bash")
    add("tool:pre", "read")
    add("tool:post", "read", result="r")
    log.start("quick")
    end = add("tool:post", "bash", result="1")
    read = log.read(tmp_path)
    assert read.runs == {}
    assert read.overlaps[0].proof_lines == (first, end)


def test_odd_types_are_no_crash(tmp_path: Path) -> None:
    log = LogWriter()
    log.add("execution:start", {"prompt": ["not", "a", "string"]})
    log.add("tool:pre", {"tool_name": 3, "tool_call_id": 7, "parallel_group_id": {}})
    log.add("tool:post", {"tool_name": None, "tool_call_id": 7, "result": None})
    log.add("provider:request", {"iteration": "one"})
    log.add("provider:error", {}, error=["x"])
    log.add("orchestrator:complete", {}, status=5)
    log.add("tool:error", {"tool_call_id": "b"}, error={"type": [], "msg": {}})
    log.add_raw(b'{"ts": 5, "event": "execution:start", "session_id": 3, "data": 7}')
    read = log.read(tmp_path)
    assert read.runs["7"].end_event == "tool:post"
    assert read.executions[0].prompt == ""


def test_requests_know_what_ran_elsewhere(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.send("s1")
    log.answer("s1")
    log.call("ends", group="s")
    log.call("hangs", group="s")
    quick = log.start("quick")
    first = log.ask(1)
    repaired = log.add("provider:tool_sequence_repaired", {"repair_count": 1})
    log.send("q1")
    log.answer("q1")
    log.call("own", group="q")
    log.finish("own", group="q")
    second = log.ask(2)
    log.send("q2")
    log.answer("q2", status="error", error="messages.3: refused")
    refused = log.add("provider:error", {}, error={"type": "E", "msg": "messages.3: refused"})
    log.end("error")
    log.finish("ends", group="s")
    requests = {request.line: request for request in log.read(tmp_path).requests}
    assert requests[first].open_calls == ("ends",)
    assert (requests[first].repaired_line, requests[first].error_line, requests[first].execution) == (repaired, -1, quick)
    assert requests[second].open_calls == ("ends",)
    assert (requests[second].error_line, requests[second].error, requests[second].repaired_line) == (refused, "messages.3: refused", -1)


def test_refusal_without_a_request_id(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.ask(1)
    log.add("llm:request")
    refused = log.add("provider:error", {"error": {"type": "E", "msg": "no"}})
    request = log.read(tmp_path).requests[0]
    assert (request.error_line, request.error) == (refused, "no")


def test_error_that_was_retried_with_success_is_no_refusal(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.ask(1)
    log.send("1")
    log.answer("1", status="error", error="overloaded")
    log.ask(2)
    log.send("2")
    log.answer("2")
    log.end()
    read = log.read(tmp_path)
    assert [request.error for request in read.requests] == ["overloaded", ""]
    assert read.executions[0].status == "success"
