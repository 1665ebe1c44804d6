"""No provider may refuse more after a fix than before it."""

from __future__ import annotations

from doctor.analysis.targets import aim_session
from doctor.pairing import pair_calls
from doctor.repair.answers import Answers
from doctor.session import Session
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource
from tests.repair.sessions import call, join, reply, result, user


def read(*rows: str, wires: tuple[str, ...] = ()) -> Session:
    transcript = read_transcript(MemorySource(join(*rows)), "transcript.jsonl")
    session = Session(transcript, pair_calls(transcript.messages))
    aim_session(session, wires)
    return session


SOUND = read(user("a"), call("x"), result("x"), reply("b"))


def test_a_new_refusal_is_named_with_wire_and_text() -> None:
    worse = read(user("a"), call("x"), reply("b"))
    assert Answers(SOUND).find_new(worse).startswith("anthropic would answer 400: messages.1: `tool_use` ids were found")
    assert Answers(worse).find_new(worse) == "" and Answers(worse).find_new(SOUND) == ""


def test_a_wire_that_is_no_target_has_no_say() -> None:
    worse = read(user("a"), call("x"), user("in between"), result("x"), reply("b"), wires=("openai-responses",))
    assert Answers(SOUND).find_new(worse) == ""


def test_a_stray_result_is_no_news_when_it_was_hidden_behind_a_missing_one() -> None:
    """Converse counts: with one result missing and one too many there is nothing too much."""
    before = read(user("a"), call("x"), result("stray"), reply("b"), wires=("converse",))
    after = read(user("a"), call("x"), result("x"), result("stray"), reply("b"), wires=("converse",))
    assert [found.rule for found in before.wires["converse"].errors] == ["BC-01"]
    assert [found.rule for found in after.wires["converse"].errors] == ["BC-02"]
    assert Answers(before).find_new(after) == ""


def test_rows_that_were_unreadable_before_bring_no_news() -> None:
    restored = read(user("a"), call("x"), result("x"), reply("b"), user(""))
    answers = Answers(SOUND)
    assert "user messages must have non-empty content" in answers.find_new(restored)
    answers.note_restored(restored)
    assert answers.find_new(restored) == ""


def test_what_is_left_matters_for_wires_that_the_user_named() -> None:
    assert Answers.find_left(read(user(""), reply("b"))) == ""
    assert Answers.find_left(read(user(""), reply("b"), wires=("openai-chat",))) == ""
    assert Answers.find_left(read(user(""), reply("b"), wires=("anthropic",))).startswith("anthropic would still answer 400: messages.0")
