"""Whom a session talks to: what is given, what it recorded, else everybody; and that a plainly sound one is accepted by all."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from doctor.analysis.plain import is_plainly_accepted
from doctor.analysis.targets import STRICTEST, aim_session, check_wires, find_recorded, tell_wires
from doctor.analysis.wires.shape import Settings
from doctor.analysis.wires.verdict import judge_transcript
from doctor.errors import DoctorError
from doctor.eventlog import EventLog
from doctor.pairing import pair_calls
from doctor.refusals import ACCEPTED, ANTHROPIC, CONVERSE, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES, WIRES
from doctor.session import Session
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource
from tests.analysis.wires.defects import DEFECTS
from tests.support.damage import damage_session
from tests.support.sessions import build_session


def read(data: bytes, **beside: Any) -> Session:
    transcript = read_transcript(MemorySource(data), "transcript.jsonl")
    return Session(transcript, pair_calls(transcript.messages), **beside)


@pytest.mark.parametrize(
    ("provider", "model", "wires"),
    [
        ("anthropic", "", (ANTHROPIC,)),
        ("provider-anthropic", "", (ANTHROPIC,)),
        ("anthropic-2", "", (ANTHROPIC,)),
        ("openai", "gpt-5.2", (OPENAI_RESPONSES,)),
        ("azure-openai", "", (OPENAI_RESPONSES,)),
        ("provider-chat-completions", "", (OPENAI_CHAT,)),
        ("gemini", "gemini-3-pro", (GEMINI,)),
        ("bedrock", "anthropic.claude-x", (ANTHROPIC, CONVERSE)),
        ("mock", "claude-sonnet-4-5", (ANTHROPIC,)),
        ("mock", "mock-model", ()),
        ("", "", ()),
        ("", "anthropic/claude-sonnet-4-5", (ANTHROPIC,)),
        ("anthropical", "", ()),
    ],
)
def test_names_of_providers_and_models(provider: str, model: str, wires: tuple[str, ...]) -> None:
    assert tell_wires(provider, model) == wires


def make_log(provider: str, model: str) -> EventLog:
    log = EventLog("events.jsonl", None)
    log.provider, log.model = provider, model
    return log


def test_events_know_better_than_metadata() -> None:
    session = read(b"", events=make_log("openai", "gpt-5.2"), metadata={"model": "claude-sonnet-4-5", "bundle": "anthropic"})
    assert find_recorded(session) == ((OPENAI_RESPONSES,), "gpt-5.2")
    session = read(b"", events=make_log("", ""), metadata={"model": "claude-sonnet-4-5"})
    assert find_recorded(session) == ((ANTHROPIC,), "claude-sonnet-4-5")
    session = read(b"", metadata={"bundle": "bundle:gemini-mock", "name": "openai", "model": "unknown"})
    assert find_recorded(session) == ((), "unknown")


def test_a_sub_session_has_its_providers_in_its_configuration() -> None:
    config = {"providers": [{"module": "provider-anthropic", "config": {}}]}
    assert find_recorded(read(b"", metadata={"config": config}))[0] == (ANTHROPIC,)
    config["providers"].append({"module": "provider-unheard-of"})
    assert find_recorded(read(b"", metadata={"config": config}))[0] == ()


def test_what_is_given_wins() -> None:
    session = read(b"", metadata={"model": "claude-sonnet-4-5"})
    aim_session(session, (GEMINI,), "gemini-3-pro")
    assert (session.targets, session.aim, session.model) == ((GEMINI,), "given", "gemini-3-pro")
    aim_session(session)
    assert (session.targets, session.aim, session.model) == ((ANTHROPIC,), "recorded", "claude-sonnet-4-5")
    aim_session(other := read(b""))
    assert (other.targets, other.aim, other.model) == (STRICTEST, "guessed", "")


def test_an_unknown_wire_is_a_usage_error() -> None:
    assert check_wires(["gemini", "gemini"]) == (GEMINI,)
    with pytest.raises(DoctorError, match="there is no wire 'openai'; choose from anthropic"):
        check_wires(["openai"])


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_a_plainly_accepted_session_is_accepted_by_every_contract(start: int) -> None:
    plain = 0
    for seed in range(start, start + 100):
        random = Random(seed)
        draft = build_session(random)
        if seed % 2:
            files, _ = damage_session(draft, random)
            session = read(files["transcript.jsonl"])
        else:
            session = read(draft.files()["transcript.jsonl"])
        if is_plainly_accepted(session):
            plain += 1
            verdicts = judge_transcript(session.transcript, session.pairing, WIRES, Settings())
            assert {verdict.answer for verdict in verdicts.values()} == {ACCEPTED}, seed
    assert plain >= 40


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_what_a_contract_minds_is_not_plain(defect: Any) -> None:
    session = read(defect.transcript())
    verdicts = judge_transcript(session.transcript, session.pairing, WIRES, Settings())
    if any(verdict.violations for verdict in verdicts.values()):
        assert not is_plainly_accepted(session)
