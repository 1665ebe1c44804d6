"""The verdict that passes sound stretches over is the verdict on the whole, and says accepted exactly where nothing fires."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from doctor.analysis.wires import check_history
from doctor.analysis.wires.shape import ANTHROPIC, CONVERSE, ERROR, GEMINI, OPENAI_CHAT, WIRES, History, Settings, Violation
from doctor.analysis.wires.stored import lay_out_row
from doctor.analysis.wires.verdict import ACCEPTED, DEPENDS, REFUSED, judge_transcript, lower_transcript
from doctor.model import Message, Transcript
from doctor.pairing import pair_calls
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource
from tests.analysis.wires.defects import DEFECTS, call, reply, result, user
from tests.support.damage import damage_session
from tests.support.pairing_oracle import find_pairing_errors
from tests.support.sessions import build_session


def read(data: bytes) -> Transcript:
    return read_transcript(MemorySource(data), "transcript.jsonl")


def write(*rows: dict[str, object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def judge_whole(transcript: Transcript, wire: str, settings: Settings) -> list[Violation]:
    """Every row lowered, with its blocks as they are stored."""

    def lay_out(message: Message) -> list[tuple[str, str]] | None:
        return lay_out_row(transcript.read_row(message.line))

    return check_history(wire, History(tuple(lower_transcript(transcript.messages, wire, lay_out)), settings))


def make_damaged(seed: int) -> Transcript:
    random = Random(seed)
    files, _ = damage_session(build_session(random), random)
    return read(files["transcript.jsonl"])


@pytest.mark.parametrize("as_request", [False, True])
@pytest.mark.parametrize("start", range(0, 300, 50))
def test_stretches_say_what_the_whole_says(start: int, as_request: bool) -> None:
    settings = Settings(model="claude-opus-4-6", as_request=as_request)
    for seed in range(start, start + 50):
        transcript = make_damaged(seed)
        if not any(message.role in ("user", "assistant", "tool") for message in transcript.messages):
            continue
        verdicts = judge_transcript(transcript, pair_calls(transcript.messages), WIRES, settings)
        for wire in WIRES:
            whole = judge_whole(transcript, wire, settings)
            found = list(verdicts[wire].violations)
            if wire != "openai-responses":
                assert [(one.rule, one.text, one.lines) for one in found] == [(one.rule, one.text, one.lines) for one in whole], seed
            else:
                # Few of its texts name a place, and items are numbered by estimate.
                said, all_said = (
                    sorted((one.rule, re.sub(r"input\[\d+\]", "input[…]", one.text), one.lines) for one in some) for some in (found, whole)
                )
                assert said == all_said, seed


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_pairing_agrees_with_the_second_opinion(start: int) -> None:
    rules = {ANTHROPIC: ("AN-01", "AN-02", "AN-03", "AN-04"), OPENAI_CHAT: ("OC-01", "OC-02", "OC-03")}
    for seed in range(start, start + 100):
        random = Random(seed)
        files, _ = damage_session(build_session(random), random)
        transcript = read(files["transcript.jsonl"])
        if transcript.line_problems or transcript.shape_problems:
            continue
        oracle = find_pairing_errors(files["transcript.jsonl"])
        verdicts = judge_transcript(transcript, pair_calls(transcript.messages), tuple(rules))
        for wire, names in rules.items():
            found = {violation.rule for violation in verdicts[wire].violations if violation.rule in names}
            assert found == {error.rule for error in oracle if error.rule in names}, (seed, wire)


@pytest.mark.parametrize("seed", range(40))
def test_sound_sessions_are_accepted_everywhere(seed: int) -> None:
    transcript = read(build_session(Random(seed)).files()["transcript.jsonl"])
    verdicts = judge_transcript(transcript, pair_calls(transcript.messages))
    assert {wire: verdict.answer for wire, verdict in verdicts.items()} == dict.fromkeys(WIRES, ACCEPTED)


def test_the_index_counts_sent_messages() -> None:
    """System rows are not counted, a run of results is one message, and the block index knows the text in front of a call."""
    rows = (
        {"role": "system", "content": "be brief"}, user(), call("a", "b", text="first"), result("a"), result("b"), reply(),
        user(), call("functions.bash:0", text="then"), result("functions.bash:0"), reply(),
    )  # fmt: skip
    transcript = read(write(*rows))
    verdicts = judge_transcript(transcript, pair_calls(transcript.messages), [ANTHROPIC])
    first, second = verdicts[ANTHROPIC].violations
    assert first.text.startswith("messages.5.content.1.tool_use.id: ") and first.lines == (7,)
    assert second.text.startswith("messages.6.content.0.tool_result.tool_use_id: ") and second.lines == (8,)


def test_a_warning_alone_depends() -> None:
    transcript = read(write(reply(), user(), reply()))
    verdict = judge_transcript(transcript, pair_calls(transcript.messages), [ANTHROPIC])[ANTHROPIC]
    assert verdict.answer == DEPENDS and [(one.rule, bool(one.depends)) for one in verdict.violations] == [("AN-16", True)]


@pytest.mark.parametrize(
    ("model", "answer"),
    [("claude-opus-4-6", REFUSED), ("claude-sonnet-4-5-20250929", ACCEPTED), ("claude-haiku-4-5", ACCEPTED), ("", DEPENDS)],
)
def test_prefill_is_judged_by_the_model_and_only_for_a_request(model: str, answer: str) -> None:
    transcript = read(write(user(), reply()))
    pairing = pair_calls(transcript.messages)
    assert judge_transcript(transcript, pairing, [ANTHROPIC], Settings(model=model))[ANTHROPIC].answer == ACCEPTED
    assert judge_transcript(transcript, pairing, [ANTHROPIC], Settings(model=model, as_request=True))[ANTHROPIC].answer == answer


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ([{"type": "thinking", "thinking": "hm", "signature": "c2ln"}], "AN-27"),
        ("and so ", "AN-13"),
        ([{"type": "text", "text": "and so\n"}], "AN-13"),
    ],
)
def test_the_end_of_the_last_row_is_seen(content: object, rule: str) -> None:
    transcript = read(write(user(), {"role": "assistant", "content": content}))
    settings = Settings(model="claude-sonnet-4-5", as_request=True)
    verdict = judge_transcript(transcript, pair_calls(transcript.messages), [ANTHROPIC], settings)[ANTHROPIC]
    assert [one.rule for one in verdict.violations] == [rule]


@pytest.mark.parametrize(
    ("block", "rules"),
    [
        ({"type": "thinking", "thinking": "hm"}, {ANTHROPIC: ["AN-22"]}),
        ({"type": "thinking", "thinking": "hm", "signature": None}, {ANTHROPIC: ["AN-22"]}),
        ({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {}),
        ({"type": "redacted_thinking", "data": "eA=="}, {}),
        ({"type": "thinking", "thinking": "hm", "content": ["encrypted", "rs_1"]}, {ANTHROPIC: ["AN-22"]}),
    ],
)
def test_thinking_is_judged_by_its_signature(block: dict[str, object], rules: dict[str, list[str]]) -> None:
    transcript = read(write(user(), {"role": "assistant", "content": [block, {"type": "text", "text": "done"}]}, user()))
    verdicts = judge_transcript(transcript, pair_calls(transcript.messages))
    found = {wire: [one.rule for one in verdict.violations] for wire, verdict in verdicts.items() if verdict.violations}
    assert found == rules


def test_errors_stand_in_front_of_warnings() -> None:
    transcript = read(write(reply(), user(), call("a"), user("well"), reply()))
    verdict = judge_transcript(transcript, pair_calls(transcript.messages), [ANTHROPIC])[ANTHROPIC]
    assert [one.severity for one in verdict.violations] == [ERROR, "W"] and verdict.answer == REFUSED


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
@pytest.mark.parametrize("wire", [GEMINI, CONVERSE])
def test_no_wire_stumbles(defect: object, wire: str) -> None:
    transcript = read(defect.transcript())  # type: ignore[attr-defined]
    assert judge_transcript(transcript, pair_calls(transcript.messages), [wire])[wire].wire == wire
