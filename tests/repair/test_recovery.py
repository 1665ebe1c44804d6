"""`fix --recover` on lost turns: they come back in their place, from the backup or the event log, marked, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.examples import call, reply, result, user
from doctor.findings import Safety
from doctor.repair.planner import plan_fix
from doctor.sources.session import read_session
from tests.repair.recovering import RULES, TWO_PROCESSES, Log, find_mark, list_errors, read_rows, recover, tell, tell_all
from tests.support.cases import NOW


def test_the_turn_of_a_second_process_comes_back_byte_for_byte() -> None:
    path = TWO_PROCESSES
    plan = plan_fix(read_session(str(path), now=NOW, recover=True), RULES)
    lost = Path(f"{path}.backup").read_bytes().splitlines(keepends=True)[7:11]
    assert plan.source.read(0, plan.source.size) == path.read_bytes() + b"".join(lost)
    assert [(step.code, step.source) for step in plan.applied] == [("AD504", "transcript.jsonl.backup:8-11")]
    assert [found.severity for found in plan.after.diagnostics] == ["info"]
    assert plan.after_session.pairing.is_sound
    again = plan_fix(plan.after_session, RULES)
    assert again.failure is None and not again.changed


def test_without_recover_nothing_is_put_back() -> None:
    path = TWO_PROCESSES
    plan = plan_fix(read_session(str(path), now=NOW), RULES)
    assert not plan.changed
    assert [(step.code, step.safety, step.recoverable) for step in plan.held_back] == [("AD504", Safety.MANUAL, True)]


def test_without_the_backup_the_turn_is_rebuilt_from_the_events(tmp_path: Path) -> None:
    source = TWO_PROCESSES
    files = {name: (source.parent / name).read_bytes() for name in ("transcript.jsonl", "events.jsonl")}
    backup = [json.loads(line) for line in Path(f"{source}.backup").read_bytes().splitlines()[7:11]]
    plan = recover(files, tmp_path)
    added = read_rows(plan)[7:]
    assert [find_mark(row) for row in added] == [{"code": "AD504", "from": f"events.jsonl:{line}"} for line in (30, 35, 37, 42)]
    for row, original in zip(added, backup, strict=True):
        assert list(row) == list(original)
        assert {**row, "metadata": None} == {**original, "metadata": None}
    assert list_errors(plan) == []


TWO_LOST = Log().turn("one", "1").turn("two", "2").turn("three", "3").turn("four", "4").write()


@pytest.mark.parametrize(
    ("kept", "lost"),
    [("1 3 4", "two"), ("1 2 3", "four"), ("1 4", "two three"), ("1", "two three four")],
    ids=["in the middle", "at the end", "two in one gap", "all but the first"],
)
def test_lost_turns_stand_where_they_began(kept: str, lost: str, tmp_path: Path) -> None:
    words = {"1": "one", "2": "two", "3": "three", "4": "four"}
    transcript = "".join(user(words[number]) + reply(number) for number in kept.split())
    plan = recover({"transcript.jsonl": transcript, "events.jsonl": TWO_LOST}, tmp_path)
    assert tell_all(plan) == [text for number, word in words.items() for text in (f"user {word}", f"says {number}")]
    marked = [tell(row).split()[1] for row in read_rows(plan) if find_mark(row) and row["role"] == "user"]
    assert marked == lost.split()
    assert list_errors(plan) == []


def test_the_same_words_twice_are_told_apart(tmp_path: Path) -> None:
    log = Log().turn("one", "1").turn("go on", "2").start("go on").run("a").end("go on", "3").turn("four", "4").write()
    transcript = user("one") + reply("1") + user("go on") + call("a") + result("a") + reply("3") + user("four") + reply("4")
    plan = recover({"transcript.jsonl": transcript, "events.jsonl": log}, tmp_path)
    assert tell_all(plan)[:6] == ["user one", "says 1", "user go on", "says 2", "user go on", "calls a"]


def test_parallel_calls_come_back_as_one_row_in_the_order_of_the_message(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two")
    log.block(0, 3, type="text", text="Both at once.")
    log.block(1, 3, type="tool_call", id="a", name="bash", arguments={"command": "ls", "deep": {"big": 2**80}})
    log.block(2, 3, type="tool_call", id="b", name="bash", arguments={})
    log.pre("b", "g").pre("a", "g", command="changed by a hook").post("b", "B", "g").post("a", "A", "g").end("two", "2")
    plan = recover({"transcript.jsonl": user("one") + reply("1"), "events.jsonl": log.write()}, tmp_path)
    row = read_rows(plan)[3]
    assert tell_all(plan)[2:] == ["user two", "calls a b", "result a A", "result b B", "says 2"]
    assert row["content"][0] == {"type": "text", "text": "Both at once."}
    assert row["tool_calls"][0] == {"id": "a", "tool": "bash", "arguments": {"command": "ls", "deep": {"big": 2**80}}}


def test_a_call_that_never_ended_gets_a_marked_placeholder(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").pre("a", "g").pre("b", "g").post("a", "A", "g").turn("three", "3").write()
    plan = recover({"transcript.jsonl": user("one") + reply("1") + user("three") + reply("3"), "events.jsonl": log}, tmp_path)
    rows = read_rows(plan)
    assert [tell(row) for row in rows[2:5]] == ["user two", "calls a b", "result a A"]
    assert rows[5]["tool_call_id"] == "b" and find_mark(rows[5]) == {"code": "AD504", "from": "placeholder"}
    assert any("the result of bash (b)" in text for step in plan.applied for text in step.missing)
    assert list_errors(plan) == []


def test_a_reply_that_nobody_recorded_is_named(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").run("a").end().turn("three", "3").write()
    plan = recover({"transcript.jsonl": user("one") + reply("1") + user("three") + reply("3"), "events.jsonl": log}, tmp_path)
    assert tell_all(plan)[2:] == ["user two", "calls a", "result a ok", "user three", "says 3"]
    assert plan.applied[0].missing == ("the reply is not in the event log",)


def test_the_reply_of_an_old_log_is_taken_from_the_raw_answer(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").add("llm:response", raw={"content": [{"type": "text", "text": "2"}]}).end().write()
    plan = recover({"transcript.jsonl": user("one") + reply("1"), "events.jsonl": log}, tmp_path)
    assert tell_all(plan)[2:] == ["user two", "says 2"]


def test_a_redacted_prompt_is_never_used(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("the key is [REDACTED:SECRET]").run("a").end().turn("three", "3").write()
    transcript = user("one") + reply("1") + user("three") + reply("3")
    plan = recover({"transcript.jsonl": transcript, "events.jsonl": log}, tmp_path)
    assert not plan.changed
    held = [step for step in plan.held_back if step.code == "AD504"]
    assert len(held) == 1 and "redacted" in held[0].title


@pytest.mark.parametrize("where", ["arguments", "result", "reply"])
def test_other_redacted_values_are_left_out_and_named(where: str, tmp_path: Path) -> None:
    hidden = {name: "[REDACTED]" if name == where else name for name in ("arguments", "result", "reply")}
    log = Log().turn("one", "1").start("two").run("a", hidden["result"], command=hidden["arguments"]).run("b").end("two", hidden["reply"])
    plan = recover({"transcript.jsonl": user("one") + reply("1"), "events.jsonl": log.write()}, tmp_path)
    data = plan.source.read(0, plan.source.size)
    assert b"REDACTED" not in data
    assert "calls b" in tell_all(plan) and ("calls a" in tell_all(plan)) is (where != "arguments")
    assert any("redacted" in text for text in plan.applied[0].missing)
    assert list_errors(plan) == [] or where == "arguments"


def test_a_marked_redaction_counts_without_its_words(tmp_path: Path) -> None:
    lines = Log().turn("one", "1").start("two").run("a").end("two", "2").lines
    lines = [line.replace('"event": "tool:post"', '"redaction": {"applied": true}, "event": "tool:post"') for line in lines]
    plan = recover({"transcript.jsonl": user("one") + reply("1"), "events.jsonl": "".join(lines)}, tmp_path)
    assert [find_mark(row)["from"] for row in read_rows(plan) if row["role"] == "tool"] == ["placeholder"]


def test_a_doubled_log_gives_every_row_once(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").block(0, 1, type="tool_call", id="a", name="bash", arguments={"n": 1})
    log.run("a", n=1).block(0, 1, type="text", text="2").end("two", "2").turn("three", "3")
    doubled = "".join(line * 2 for line in log.lines)
    plan = recover({"transcript.jsonl": user("one") + reply("1") + user("three") + reply("3"), "events.jsonl": doubled}, tmp_path)
    assert tell_all(plan) == ["user one", "says 1", "user two", "calls a", "result a ok", "says 2", "user three", "says 3"]


def test_overlapping_executions_are_not_mixed_up(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("slow").pre("a").start("quick").pre("b").post("b", "B")
    log.block(0, 1, type="text", text="whose?").end("quick", "quick done").post("a", "A").add("provider:request", iteration=2)
    log.end("slow", "slow done")
    transcript = user("one") + reply("1") + user("slow") + call("a") + result("a", "A") + reply("slow done")
    plan = recover({"transcript.jsonl": transcript, "events.jsonl": log.write()}, tmp_path)
    assert tell_all(plan)[2:] == [
        "user slow", "calls a", "result a A", "says slow done", "user quick", "calls b", "result b B", "says quick done",
    ]  # fmt: skip
    assert list_errors(plan) == []


def test_a_turn_lost_before_an_interleaved_one_does_not_part_a_call_from_its_result(tmp_path: Path) -> None:
    log = Log().turn("zero", "0").start("one").pre("a").start("two").pre("b").start("three").pre("c").post("a", "A").post("b", "B")
    log.post("c", "C").write()
    transcript = user("zero") + reply("0") + user("one") + call("a") + user("three") + call("c") + result("a", "A") + result("c", "C")
    plan = recover({"transcript.jsonl": transcript, "events.jsonl": log.write()}, tmp_path)
    assert tell_all(plan)[2:] == [
        "user one", "calls a", "result a A", "user two", "calls b", "result b B", "user three", "calls c", "result c C",
    ]  # fmt: skip


def test_events_of_the_parent_in_a_childs_log_are_not_the_childs(tmp_path: Path) -> None:
    lines = Log().turn("one", "1").start("two").run("a").lines
    foreign = Log().add("content_block:end", block_index=0, total_blocks=1, block={"type": "text", "text": "the parent's"}).lines
    lines += [foreign[0].replace('"session_id": "s"', '"session_id": "parent"'), *Log().end("two", "2").lines]
    plan = recover({"transcript.jsonl": user("one") + reply("1"), "events.jsonl": "".join(lines)}, tmp_path)
    assert tell_all(plan)[2:] == ["user two", "calls a", "result a ok", "says 2"]


def test_a_message_sent_while_tools_ran_comes_back_with_its_turn(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").run("a").add("orchestrator:steering_injected", content="faster").run("b").end("two", "2")
    plan = recover({"transcript.jsonl": user("one") + reply("1"), "events.jsonl": log.write()}, tmp_path)
    assert tell_all(plan)[2:] == ["user two", "calls a", "result a ok", "user faster", "calls b", "result b ok", "says 2"]


def test_a_torn_prompt_is_rebuilt_before_its_calls(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("a long second prompt").run("a").end("a long second prompt", "2").write()
    torn = user("a long second prompt")[:-12] + "\n"
    plan = recover(
        {"transcript.jsonl": user("one") + reply("1") + torn + call("a") + result("a") + reply("2"), "events.jsonl": log}, tmp_path
    )
    assert tell_all(plan) == ["user one", "says 1", "user a long second prompt", "calls a", "result a ok", "says 2"]
    assert find_mark(read_rows(plan)[2]) == {"code": "AD504", "from": "events.jsonl:5"}


def test_a_lost_prompt_goes_before_its_reply_not_behind_it(tmp_path: Path) -> None:
    log = Log().turn("one", "1").turn("two", "2").turn("three", "3").write()
    plan = recover({"transcript.jsonl": user("one") + reply("1") + reply("2") + user("three") + reply("3"), "events.jsonl": log}, tmp_path)
    assert tell_all(plan) == ["user one", "says 1", "user two", "says 2", "user three", "says 3"]
