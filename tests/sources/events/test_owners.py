"""Whose an event is while several executions are open: histories that played sessions found, each cut down to what it needs."""

from __future__ import annotations

from pathlib import Path

from doctor.eventlog import EventLog
from tests.sources.events.logs import LogWriter, write_turn


def list_ends(log: EventLog) -> dict[str, int]:
    return {execution.prompt: execution.end_line for execution in log.executions}


def list_confirmed(log: EventLog) -> list[tuple[str, str]]:
    return [(overlap.older.prompt, overlap.newer.prompt) for overlap in log.overlaps if overlap.confidence == "confirmed"]


def begin(log: LogWriter, prompt: str, call_id: str = "") -> None:
    log.start(prompt)
    log.ask(1)
    log.send(f"1-{prompt}")
    if call_id:
        log.answer(f"1-{prompt}")
        log.call(call_id, group=call_id)


def test_an_older_one_that_nothing_was_proved_of_yet_is_still_followed(tmp_path: Path) -> None:
    """Nothing shows that it lived when the second began, but it calls a tool behind that, which ends behind the third."""
    log = LogWriter()
    begin(log, "slow")
    log.answer("1-slow")
    begin(log, "quick", "b")
    log.call("a", group="a")
    begin(log, "third")
    log.finish("a", group="a")
    assert ("slow", "third") in list_confirmed(log.read(tmp_path))


def test_a_request_that_is_sent_again_under_a_new_id_is_the_same(tmp_path: Path) -> None:
    log = LogWriter()
    begin(log, "slow")
    log.answer("1-slow", status="error", error="529")
    log.add("provider:retry", {"attempt": 1})
    log.send("again")
    log.start("quick")
    answer = log.answer("again")
    read = log.read(tmp_path)
    assert list_confirmed(read) == [("slow", "quick")]
    assert read.requests[0].end_line == answer and read.requests[0].error_line == -1


def test_the_answer_to_a_background_helper_proves_nothing(tmp_path: Path) -> None:
    """The request that names a session left between the loop's own two steps; its execution died without a word."""
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.send("naming")
    log.send("own")
    log.answer("own")
    log.call("a", group="a")
    log.start("quick")
    log.answer("naming")
    assert list_confirmed(log.read(tmp_path)) == []


def test_a_cancel_ends_what_had_begun_before_it_was_asked_for(tmp_path: Path) -> None:
    log = LogWriter()
    begin(log, "slow", "a")
    log.add("cancel:requested")
    begin(log, "quick")
    log.finish("a", group="a")
    end = log.end("cancelled")
    log.add("cancel:completed")
    assert list_ends(log.read(tmp_path)) == {"slow": end, "quick": -1}


def test_the_prompt_of_a_reply_says_which_one_ended(tmp_path: Path) -> None:
    """Without ids of requests both may have been answered: the client's own report tells."""
    log = LogWriter()
    log.start("slow")
    log.ask(1)
    log.send("")
    log.start("quick")
    log.ask(1)
    log.send("")
    log.add("llm:response", {}, status="ok")
    end = log.end()
    log.add("prompt:complete", {"prompt": "slow", "response": "done"})
    assert list_ends(log.read(tmp_path)) == {"slow": end, "quick": -1}


def test_two_ends_among_three_open_executions_prove_nothing(tmp_path: Path) -> None:
    log = LogWriter()
    for prompt in ("one", "two", "three"):
        log.start(prompt)
    log.end("incomplete")
    log.end("incomplete")
    assert list_confirmed(log.read(tmp_path)) == []


def test_one_that_waits_for_a_tool_while_others_come_and_go_is_open(tmp_path: Path) -> None:
    log = LogWriter()
    begin(log, "slow", "a")
    write_turn(log, "quick")
    read = log.read(tmp_path)
    assert read.open_execution is None
    assert [execution.prompt for execution in read.still_open] == ["slow"] and read.is_open


def test_one_that_was_silent_since_a_process_came_is_not(tmp_path: Path) -> None:
    log = LogWriter()
    begin(log, "slow", "a")
    log.add("session:resume")
    write_turn(log, "quick")
    assert not log.read(tmp_path).is_open


def test_session_starts_before_every_execution_are_no_deaths(tmp_path: Path) -> None:
    log = LogWriter()
    log.add("session:start")
    begin(log, "slow", "a")
    log.add("session:start")
    write_turn(log, "quick")
    read = log.read(tmp_path)
    assert read.is_open and read.abandoned == ()


def test_ends_of_the_oldest_logs_belong_to_whoever_was_answered(tmp_path: Path) -> None:
    """Before 2026-01-25 session:end was the end of one execution, not of the newest."""
    log = LogWriter()
    log.add("session:start", {"prompt": "slow"})
    log.ask(1)
    log.send("")
    log.add("llm:response", {}, status="ok")
    log.call("a", group="a")
    log.add("session:start", {"prompt": "quick"})
    log.ask(1)
    log.send("")
    log.add("llm:response", {}, status="ok")
    log.call("b", group="b")
    log.finish("a", group="a")
    log.ask(2)
    log.send("")
    log.add("llm:response", {}, status="ok")
    end = log.add("session:end")
    assert list_ends(log.read(tmp_path)) == {"slow": end, "quick": -1}


def test_a_first_request_is_of_the_one_that_has_begun_not_of_a_prompt_that_was_only_submitted(tmp_path: Path) -> None:
    log = LogWriter()
    start = log.start("slow")
    log.add("prompt:submit", {"prompt": "quick"})
    log.ask(1)
    log.send("1-slow")
    log.answer("1-slow")
    log.call("a", group="a")
    second = log.add("execution:start", {"prompt": "quick"})
    read = log.read(tmp_path)
    assert [(execution.prompt, execution.start_line) for execution in read.executions] == [("slow", start), ("quick", second)]
    assert read.runs["a"].execution == start


def test_a_request_that_never_left_is_not_proved_by_a_background_helper(tmp_path: Path) -> None:
    """The first died between its two steps; long after, the request that names the session is the only one without a first step."""
    log = LogWriter()
    log.start("dead")
    log.ask(1)
    write_turn(log, "second")
    log.send("naming")
    log.start("third")
    log.ask(1)
    log.send("own")
    log.answer("naming")
    assert list_confirmed(log.read(tmp_path)) == []


def test_a_cancel_is_no_second_half_of_an_end_long_ago(tmp_path: Path) -> None:
    """The first died between its two ends."""
    log = LogWriter()
    begin(log, "dead")
    log.answer("1-dead")
    first = log.add("execution:end")
    begin(log, "second")
    log.add("cancel:requested")
    end = log.end("cancelled")
    assert list_ends(log.read(tmp_path)) == {"dead": first, "second": end}


def test_what_is_read_leaves_no_circles_behind(tmp_path: Path) -> None:
    """The command line runs without the garbage collector: a circle would keep the events of every log alive."""
    import gc

    log = LogWriter()
    for prompt in ("one", "two"):
        begin(log, prompt)
    for status in ("success", "error"):
        log.end(status=status)
    gc.collect()
    gc.disable()
    try:
        log.read(tmp_path)
        assert gc.collect() == 0
    finally:
        gc.enable()
