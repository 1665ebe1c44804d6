"""When requests end, and the moments that a time line marks."""

from __future__ import annotations

from pathlib import Path

from tests.sources.events.logs import LogWriter


def test_requests_end_with_their_answers(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("first")
    log.ask(1)
    log.send("r1")
    first = log.answer("r1")
    log.ask(2)
    log.send("r2")
    refused = log.answer("r2", status="error", error="no")
    error = log.add("provider:error", {"error": {"msg": "400: no"}})
    log.ask(3)
    found = log.read(tmp_path)
    assert [request.end_line for request in found.requests] == [first, refused, -1]
    assert [bool(request.end_time) for request in found.requests] == [True, True, False]
    assert [(moment.line, moment.kind, moment.text) for moment in found.moments] == [(error, "provider:error", "400: no")]


def test_a_refusal_without_an_answer_ends_the_request(tmp_path: Path) -> None:
    log = LogWriter()
    start = log.start("first")
    log.ask(1)
    error = log.add("provider:error", {"error": {"msg": "529"}})
    found = log.read(tmp_path)
    assert found.requests[0].end_line == error and found.moments[0].execution == start


def test_every_error_of_a_retried_request_is_kept(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("first")
    log.ask(1)
    log.send("r1")
    errors = [log.add("provider:error", {"error": {"msg": f"529 again {number}"}}) for number in range(2)]
    log.answer("r1")
    found = log.read(tmp_path)
    assert [moment.line for moment in found.moments] == errors
    assert found.requests[0].error == ""


def test_an_answer_without_an_id_ends_nothing_while_two_executions_are_open(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("first")
    log.ask(1)
    log.call("call_1")
    log.start("second")
    log.ask(1)
    log.add("llm:response", {}, status="ok")
    found = log.read(tmp_path)
    assert [request.end_line for request in found.requests] == [-1, -1]


def test_steps_of_the_session_are_moments(tmp_path: Path) -> None:
    log = LogWriter()
    lines = [log.add(name) for name in ("session:resume", "cancel:requested", "cancel:completed", "context:compaction", "session:end")]
    assert [moment.line for moment in log.read(tmp_path).moments] == lines
