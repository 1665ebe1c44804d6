"""The one validator that a provider publishes as code, Mistral's, agrees on calls and results in random transcripts lowered to chat form.

Skips where the package `mistral-common` is not installed; with what it needs it takes about 180 MB. Its own extra rules (MI-02 to MI-06)
are told apart by their texts: they are no statement on pairing, and where one of them comes first the rest is not judged.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from random import Random
from typing import Any

import pytest

from doctor.analysis.wires import check_history
from doctor.analysis.wires.shape import CALL, OPENAI_CHAT, RESULT, History, Sent
from doctor.analysis.wires.verdict import lower_transcript
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource
from tests.support.damage import KINDS, damage_session
from tests.support.sessions import build_session

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mistral = pytest.importorskip("mistral_common.protocol.instruct.validator", reason="mistral-common is not installed")
    from mistral_common.protocol.instruct.messages import AssistantMessage, SystemMessage, ToolMessage, UserMessage
    from mistral_common.protocol.instruct.tool_calls import FunctionCall
    from mistral_common.protocol.instruct.tool_calls import ToolCall as MistralCall

PAIRING = ("OC-01", "OC-02", "OC-03")
EXTRA = re.compile(
    r"Duplicate tool call id .* in assistant message|Conversation must start|Unexpected role '(?:system|user)'|tool call id|Tool call id"
    r"|Function name was|Unexpected role 'assistant' after role 'system'"
)
ON_PAIRS = re.compile(r"tool results|Not the same number|More tool responses|Unexpected role 'tool'")
ROW_DAMAGE = tuple(kind for kind in KINDS if KINDS[kind].__module__.endswith("damage_rows"))


def write_message(sent: Sent) -> Any:
    if sent.role in ("system", "developer"):
        return SystemMessage(content="x")
    if sent.role == "tool":
        (result,) = [block for block in sent.blocks if block.kind == RESULT]
        return ToolMessage(content="x", tool_call_id=result.id, name="bash")
    if sent.role == "user":
        return UserMessage(content="x")
    calls = [block for block in sent.blocks if block.kind == CALL]
    written = [MistralCall(id=block.id, function=FunctionCall(name=block.name or "bash", arguments="{}")) for block in calls]
    return AssistantMessage(content=None if calls else "x", tool_calls=written or None)


def ask_mistral(messages: list[Sent]) -> str:
    """What the validator says to a history with one user text behind it; "" for nothing."""
    validator = mistral.MistralRequestValidatorV13(mistral.ValidationMode.serving)
    try:
        validator.validate_messages([*(write_message(sent) for sent in messages), UserMessage(content="x")])
    except Exception as error:
        return str(error)
    return ""


def test_pairing_verdicts_agree() -> None:
    seen: Counter[str] = Counter()
    for seed in range(1500):
        random = Random(seed)
        draft = build_session(random)
        files = damage_session(draft, random, kinds=ROW_DAMAGE)[0] if seed % 5 else draft.files()
        transcript = read_transcript(MemorySource(files["transcript.jsonl"]), "transcript.jsonl")
        if transcript.line_problems or transcript.shape_problems or not transcript.messages:
            continue
        messages = lower_transcript(transcript.messages, OPENAI_CHAT)
        if messages and messages[0].role == "tool":
            # Its pairing check starts at the second message.
            continue
        ours = [found for found in check_history(OPENAI_CHAT, History(tuple(messages))) if found.rule in PAIRING]
        theirs = ask_mistral(messages)
        if theirs and not ON_PAIRS.search(theirs) and EXTRA.search(theirs):
            seen["extra rule"] += 1
            continue
        assert bool(ours) == bool(theirs), (seed, ours[:1], theirs)
        seen["refused" if ours else "accepted"] += 1
    # Both verdicts must be common, or agreement means little.
    assert seen["refused"] > 300 and seen["accepted"] > 200, seen
