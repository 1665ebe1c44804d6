"""Where executions start and end, which overlap, and everything that looks like an overlap but is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.eventlog import EventLog
from tests.sources.events.logs import LogWriter, write_turn


def prompts(executions: object) -> list[str]:
    return [execution.prompt for execution in executions]  # type: ignore[attr-defined]


def expect_confirmed(log: EventLog, word: str, *lines: int) -> None:
    assert [(overlap.older.prompt, overlap.newer.prompt, overlap.confidence) for overlap in log.overlaps] == [
        ("slow", "quick", "confirmed")
    ]
    assert word in log.overlaps[0].proof
    assert log.overlaps[0].proof_lines == lines
    for line in lines:
        assert str(line + 1) in log.overlaps[0].proof
    assert log.abandoned == ()


def start_slow(log: LogWriter, is_running_tool: bool = True) -> None:
    log.start("slow")
    log.ask(1)
    log.send("slow-1")
    if is_running_tool:
        log.answer("slow-1")
        log.call("s", group="slow")


def test_healthy_turns(tmp_path: Path) -> None:
    log = LogWriter()
    log.add("session:start")
    write_turn(log, "one", "a")
    write_turn(log, "two")
    read = log.read(tmp_path)
    assert prompts(read.executions) == ["one", "two"]
    first = read.executions[0]
    assert (first.start_line, first.end_line, first.status, first.response) == (2, 12, "success", "reply to one")
    assert first.text_key == hash("one")
    assert (read.overlaps, read.abandoned, read.open_execution) == ((), (), None)


def test_open_execution(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "one")
    start_slow(log)
    read = log.read(tmp_path)
    assert read.open_execution is not None and read.open_execution.prompt == "slow"
    assert read.open_execution.last_line == len(log.lines) - 1
    assert read.abandoned == ()


# What proves an overlap


def test_tool_that_finishes_after_the_newer_start(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    pre = len(log.lines) - 1
    write_turn(log, "quick", "q")
    post = log.finish("s", group="slow")
    log.ask(2)
    log.end()
    read = log.read(tmp_path)
    expect_confirmed(read, "finished", pre, post)
    assert [execution.status for execution in read.executions] == ["success", "success"]
    assert read.runs["s"].execution == read.executions[0].start_line
    assert read.runs["q"].execution == read.executions[1].start_line


def test_tool_error_is_a_sign_of_life_too(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    pre = len(log.lines) - 1
    write_turn(log, "quick")
    post = log.add("tool:error", {"tool_name": "bash", "tool_call_id": "s", "error": {"type": "E", "msg": "m"}})
    expect_confirmed(log.read(tmp_path), "failed", pre, post)


def test_answer_to_an_older_request(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log, is_running_tool=False)
    request = len(log.lines) - 1
    write_turn(log, "quick")
    answer = log.answer("slow-1")
    log.end()
    read = log.read(tmp_path)
    expect_confirmed(read, "answered", request, answer)
    assert [execution.end_line >= 0 for execution in read.executions] == [True, True]


def test_iteration_that_only_the_older_one_can_be_at(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")
    for iteration in (1, 2, 3):
        log.ask(iteration)
    log.start("quick")
    log.ask(1)
    request = log.ask(4)
    log.ask(2)
    expect_confirmed(log.read(tmp_path), "request 4", request)


def test_two_ends_for_two_starts(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")
    log.start("quick")
    first = log.end("incomplete")
    second = log.end("incomplete")
    expect_confirmed(log.read(tmp_path), "two executions ended", first, second)


def test_second_process_is_no_proof_of_death(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    pre = len(log.lines) - 1
    log.add("session:resume")
    write_turn(log, "quick", "q")
    log.add("session:end")
    post = log.finish("s", group="slow")
    log.ask(2)
    log.end()
    log.add("session:end")
    read = log.read(tmp_path)
    expect_confirmed(read, "finished", pre, post)
    assert read.executions[0].end_line == len(log.lines) - 2
    assert read.executions[0].status == "success"


def test_refusals_go_to_the_execution_that_asked(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.start("quick")
    log.ask(1)
    log.send("quick-1")
    log.finish("s", group="slow")
    log.ask(2)
    log.send("slow-2")
    log.answer("slow-2", status="error", error='{"error": {"message": "messages.3: bad"}}')
    log.add("provider:error", {"provider": "anthropic"}, error={"type": "E", "msg": '{"error": {"message": "messages.3: bad"}}'})
    slow_end = log.end("error")
    log.answer("quick-1")
    quick_end = log.end()
    read = log.read(tmp_path)
    assert [(execution.prompt, execution.status, execution.end_line) for execution in read.executions] == [
        ("slow", "error", slow_end), ("quick", "success", quick_end),
    ]  # fmt: skip
    assert [(request.execution, request.error) for request in read.requests if request.error] == [
        (read.executions[0].start_line, "messages.3: bad")
    ]


def test_newest_loops_write_execution_end_behind_an_error_as_well(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.start("quick")
    log.ask(1)
    log.send("quick-1")
    log.finish("s", group="slow")
    log.ask(2)
    log.send("slow-2")
    log.answer("slow-2", status="error", error="bad")
    log.add("provider:error", {}, error={"type": "E", "msg": "bad"})
    log.add("execution:end")
    log.answer("quick-1")
    slow_end = log.end("error")
    quick_end = log.end()
    read = log.read(tmp_path)
    assert [(execution.status, execution.end_line) for execution in read.executions] == [("error", slow_end), ("success", quick_end)]


# What looks like an overlap and is none


def test_crash_and_resume(tmp_path: Path) -> None:
    log = LogWriter()
    log.add("session:start")
    start_slow(log)
    log.add("session:resume")
    write_turn(log, "quick", "q")
    log.add("session:end")
    read = log.read(tmp_path)
    assert read.overlaps == ()
    assert prompts(read.abandoned) == ["slow"]
    assert read.runs["s"].end_line == -1
    assert [execution.end_line >= 0 for execution in read.executions] == [False, True]


@pytest.mark.parametrize(
    "event",
    ["session:start", "session:resume", "session:end", "cancel:requested", "cancel:completed", "provider:error", "orchestrator:complete"],
)
def test_sign_of_death_before_the_newer_start(tmp_path: Path, event: str) -> None:
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.add(event, {"error": {"msg": "x"}})
    write_turn(log, "quick")
    assert log.read(tmp_path).overlaps == ()


def test_start_while_open_and_nothing_else_is_only_possible(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    write_turn(log, "quick")
    read = log.read(tmp_path)
    assert [(overlap.confidence, overlap.older.prompt) for overlap in read.overlaps] == [("possible", "slow")]
    assert read.abandoned == ()


def test_retry_after_a_refusal_without_an_end(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.send("1")
    log.answer("1", status="error", error="overloaded")
    log.add("provider:error", {}, error={"type": "E", "msg": "overloaded"})
    write_turn(log, "slow")
    read = log.read(tmp_path)
    assert read.overlaps == ()
    assert prompts(read.abandoned) == ["slow"]


def test_provider_retry_inside_one_request(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.send("1")
    log.add("provider:retry")
    log.send("2")
    log.answer("2")
    log.call("a")
    log.finish("a")
    log.ask(2)
    log.end()
    read = log.read(tmp_path)
    assert (len(read.executions), len(read.requests), read.overlaps) == (1, 2, ())


def test_naming_requests_in_the_background(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "one")
    log.send("naming")
    log.start("two")
    log.ask(1)
    log.send("two-1")
    log.answer("naming")
    log.answer("two-1")
    log.end()
    read = log.read(tmp_path)
    assert read.overlaps == ()
    assert len(read.requests) == 2


def test_naming_without_request_ids(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "one")
    log.add("llm:request")
    log.start("two")
    log.add("llm:response", {}, status="ok")
    log.end()
    assert log.read(tmp_path).overlaps == ()


def test_denied_call_does_not_look_like_a_running_one(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.add("session:resume")
    log.start("quick")
    log.ask(1)
    log.call("denied")
    log.ask(2)
    log.end()
    read = log.read(tmp_path)
    assert read.overlaps == ()
    assert read.executions[1].status == "success"


def test_denied_prompt_does_not_end_an_older_execution(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.add("session:resume")
    log.add("prompt:submit", {"prompt": "denied"})
    log.add("orchestrator:complete", {}, status="success")
    read = log.read(tmp_path)
    assert prompts(read.executions) == ["slow"]
    assert read.executions[0].end_line == -1


def test_nested_execution_of_a_child_is_only_a_long_call(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.add("delegate:agent_spawned", {"tool_call_id": "s"})
    log.add("delegate:agent_completed", {"tool_call_id": "s"})
    log.finish("s", group="slow")
    log.ask(2)
    log.end()
    read = log.read(tmp_path)
    assert (len(read.executions), read.overlaps, read.abandoned) == (1, (), ())


def test_goal_turns_are_closed_one_by_one(tmp_path: Path) -> None:
    log = LogWriter()
    for number in range(3):
        log.start(f"goal {number}")
        log.ask(1)
        log.end()
    log.add("prompt:complete", {"prompt": "goal 0", "response": "done"})
    read = log.read(tmp_path)
    assert [execution.status for execution in read.executions] == ["success"] * 3
    assert read.overlaps == ()


def test_session_end_written_twice(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.add("session:end")
    log.add("session:end", {}, status="completed")
    log.add("session:resume")
    write_turn(log, "quick")
    read = log.read(tmp_path)
    assert read.overlaps == ()
    assert read.executions[0].status == "incomplete"


def test_times_out_of_order_do_not_matter(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "one", "a")
    write_turn(log, "two", "b")
    log.lines = [line.replace(b"2026-08-01T10:00", b"2026-08-0%dT10:00" % (9 - index % 9)) for index, line in enumerate(log.lines)]
    read = log.read(tmp_path)
    assert (prompts(read.executions), read.overlaps) == (["one", "two"], ())


# Cancellation


def test_cancel_behind_the_end_of_the_session(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.add("session:end")
    log.add("cancel:requested", {"state": "none"})
    end = log.add("cancel:completed", {"was_immediate": False})
    read = log.read(tmp_path)
    assert [(execution.end_line, execution.status) for execution in read.executions] == [(end, "cancelled")]


def test_cooperative_cancel(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.add("cancel:requested")
    log.finish("s", group="slow")
    end = log.add("orchestrator:complete", {}, status="cancelled")
    log.add("cancel:completed")
    read = log.read(tmp_path)
    assert [(execution.end_line, execution.status) for execution in read.executions] == [(end, "cancelled")]


# Old dialects


def test_executions_announced_as_session_start(tmp_path: Path) -> None:
    """Before 2026-01-25: session:start with the prompt, session:end, orchestrator:complete."""
    log = LogWriter()
    log.add("session:start", {"metadata": {}})
    for prompt in ("one", "two"):
        log.add("prompt:submit", {"prompt": prompt})
        log.add("session:start", {"prompt": prompt})
        log.ask(1)
        log.add("session:end")
        log.add("orchestrator:complete", {}, status="success")
    read = log.read(tmp_path)
    assert [(execution.prompt, execution.status) for execution in read.executions] == [("one", "success"), ("two", "success")]
    assert read.overlaps == ()


def test_session_start_at_every_execute(tmp_path: Path) -> None:
    """February to May 2026 the kernel announced the session again at every turn, twice with raw events."""
    log = LogWriter()
    for prompt in ("one", "two"):
        log.add("session:start")
        log.add("session:start", {"raw": {}})
        write_turn(log, prompt, prompt)
    read = log.read(tmp_path)
    assert [execution.status for execution in read.executions] == ["success", "success"]
    assert read.overlaps == ()


def test_loop_that_announces_only_the_prompt(tmp_path: Path) -> None:
    log = LogWriter()
    for prompt in ("one", "two"):
        log.add("prompt:submit", {"prompt": prompt})
        log.ask(1)
        log.call(prompt)
        log.finish(prompt)
        log.ask(2)
        log.add("orchestrator:complete", {}, status="success")
    read = log.read(tmp_path)
    assert [(execution.prompt, execution.status) for execution in read.executions] == [("one", "success"), ("two", "success")]
    assert read.runs["two"].execution == read.executions[1].start_line


def test_end_without_orchestrator_complete(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("one")
    end = log.add("execution:end", {"status": "completed", "response": "x"})
    write_turn(log, "two")
    read = log.read(tmp_path)
    assert (read.executions[0].end_line, read.executions[0].status) == (end, "success")


def test_redacted_prompts_have_no_key(tmp_path: Path) -> None:
    log = LogWriter()
    log.add("prompt:submit", {"prompt": "my [REDACTED:KEY]"}, redaction={"applied": True})
    log.add("execution:start", {"prompt": "my secret"})
    log.end()
    log.add("prompt:submit", {"prompt": "my [REDACTED:KEY]"}, redaction={"applied": True})
    log.ask(1)
    log.end()
    read = log.read(tmp_path)
    assert [execution.text_key for execution in read.executions] == [hash("my secret"), 0]


def test_long_prompt_is_cut_but_its_key_is_not(tmp_path: Path) -> None:
    log = LogWriter()
    text = "long " * 2_000
    write_turn(log, text)
    execution = log.read(tmp_path).executions[0]
    assert (len(execution.prompt), execution.text_key) == (2_000, hash(text))


def test_steered_texts_and_compactions(tmp_path: Path) -> None:
    log = LogWriter()
    start_slow(log)
    log.add("orchestrator:steering_injected", {"content": "make it blue"})
    compaction = log.add("context:compaction", {"before": 3})
    read = log.read(tmp_path)
    assert read.steered == {hash("make it blue")}
    assert read.compacted_line == compaction


def test_many_crashes_stay_cheap_and_abandoned(tmp_path: Path) -> None:
    log = LogWriter()
    for number in range(300):
        log.add("session:resume")
        log.start(f"prompt {number}")
        log.ask(1)
        log.call(f"c{number}", group=f"g{number}")
    read = log.read(tmp_path)
    assert len(read.abandoned) == 299
    assert read.overlaps == ()
