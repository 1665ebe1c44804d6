"""The fast path may only clear rows that the schema passes too, and every odd row is described, never thrown at."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.model import Transcript
from doctor.sources.formats import amplifier
from doctor.sources.formats.amplifier_rows import find_user_kind, is_sound_row, load_validator
from doctor.sources.source import MemorySource

ROLES = st.sampled_from(["user", "assistant", "tool", "system", "developer", "function", "robot", "", None, 7])
SCRAPS = st.sampled_from(["", "x", None, 7, True, [], {}, ["x"], {"a": 1}, 1.5])
IDS = st.sampled_from(["a", "b", "", None, 7, {}])
BLOCKS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "thinking", "tool_call", "tool_result", "image", "redacted_thinking", "reasoning", "tool_use", 3]),
        "text": SCRAPS,
        "thinking": SCRAPS,
        "signature": SCRAPS,
        "data": SCRAPS,
        "id": IDS,
        "name": IDS,
        "input": SCRAPS,
        "tool_call_id": IDS,
        "tool_use_id": IDS,
        "output": SCRAPS,
        "source": SCRAPS,
        "content": SCRAPS,
        "summary": SCRAPS,
    },
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "id": IDS,
        "tool": IDS,
        "name": IDS,
        "arguments": SCRAPS,
        "function": st.one_of(SCRAPS, st.fixed_dictionaries({}, optional={"name": IDS, "arguments": SCRAPS})),
    },
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "role": ROLES,
        "content": st.one_of(SCRAPS, st.lists(st.one_of(BLOCKS, SCRAPS), max_size=3)),
        "tool_calls": st.one_of(SCRAPS, st.lists(st.one_of(CALLS, SCRAPS), max_size=3)),
        "tool_call_id": IDS,
        "name": IDS,
        "metadata": SCRAPS,
    },
)


def read(row: Any) -> Transcript:
    return amplifier.read_transcript(MemorySource(json.dumps(row).encode() + b"\n"), "x")


@given(ROWS)
@settings(max_examples=600, deadline=None)
def test_cleared_rows_pass_the_schema_and_others_are_described(row: dict[str, Any]) -> None:
    valid = load_validator().is_valid(row)
    assert is_sound_row(row) == valid
    transcript = read(row)
    assert bool(transcript.shape_problem_count) == (not valid)
    assert len(transcript.messages) == 1


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        ('"text"', "object", "the row is a string, not an object"),
        ('{"content":"x"}', "role", "the row has no 'role'"),
        ('{"role":"robot","content":"x"}', "role", "role is 'robot', not one of system, developer, user, assistant, function, tool"),
        ('{"role":"assistant"}', "content", "the row has no 'content'"),
        ('{"role":"user","content":null}', "content", "content is null, not string or array"),
        ('{"role":"user","content":["x"]}', "content", "content[0] is a string, not object"),
        ('{"role":"user","content":"x","metadata":[]}', "metadata", "metadata is a list, not object or null"),
        ('{"role":"tool","content":"x"}', "call", "the row has no 'tool_call_id'"),
        ('{"role":"tool","content":"x","tool_call_id":7}', "call", "tool_call_id is a number, not string"),
        ('{"role":"assistant","content":"x","tool_calls":{}}', "call", "tool_calls is an object, not array or null"),
        ('{"role":"assistant","content":"x","tool_calls":[{"tool":"b"}]}', "call", "tool_calls[0] has no 'id'"),
        ('{"role":"assistant","content":"x","tool_calls":[{"id":"a"}]}', "call", "tool_calls[0] has no name"),
        ('{"role":"assistant","content":[{"type":"tool_call","name":"b","input":{}}]}', "call", "content[0] has no 'id'"),
        (
            '{"role":"assistant","content":[{"type":"tool_call","id":"a","name":"b","input":"s"}]}',
            "content",
            "content[0].input is a string, not object",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_precisely(row: str, kind: str, message: str) -> None:
    problems = amplifier.read_transcript(MemorySource(row.encode()), "x").shape_problems
    assert [(problem.kind, problem.message) for problem in problems] == [(kind, message)]


@pytest.mark.parametrize(
    ("content", "metadata", "kind"),
    [
        ("do it", None, "prompt"),
        ("do it", {"source": "human"}, "prompt"),
        ("<system-reminder>x</system-reminder>", None, "reminder"),
        ('<system-reminder source="hooks-x">x</system-reminder>', None, "reminder"),
        ("<system-reminders>x</system-reminders>", None, "reminder"),
        ([{"type": "text", "text": "<system-reminder>x</system-reminder>"}], None, "reminder"),
        ([{"type": "text", "text": "look"}, {"type": "text", "text": "<system-reminder>x"}], None, "prompt"),
        ([{"type": "image", "source": {}}], None, "prompt"),
        ("x", {"source": "hook"}, "hook"),
        ("x", {"ephemeral": True, "persisted": True}, "hook"),
    ],
)
def test_rows_that_only_look_like_user_turns(content: Any, metadata: Any, kind: str) -> None:
    assert find_user_kind(content, metadata) == kind


def test_many_broken_rows_are_counted_but_not_all_described() -> None:
    transcript = amplifier.read_transcript(MemorySource(b'{"role":"robot","content":"x"}\n' * 250), "x")
    assert transcript.shape_problem_count == 250
    assert len(transcript.shape_problems) == 100


@pytest.mark.parametrize(
    ("row", "spelling"),
    [
        (
            {
                "content": [{"type": "tool_call", "id": "a", "name": "b", "input": {}}],
                "tool_calls": [{"id": "a", "tool": "b", "arguments": {}}],
            },
            3,
        ),
        ({"content": [{"type": "tool_call", "id": "a", "name": "b", "input": {}}]}, 1),
        ({"content": "", "tool_calls": [{"id": "a", "tool": "b", "arguments": {}}]}, 2),
        ({"content": "", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "b", "arguments": "{}"}}]}, 6),
        ({"content": "", "tool_calls": [{"id": "a", "name": "b", "input": {}}]}, 6),
    ],
)  # fmt: skip
def test_every_spelling_of_a_call_is_read(row: dict[str, Any], spelling: int) -> None:
    (message,) = read({"role": "assistant", **row}).messages
    assert [tuple(call) for call in message.calls] == [("a", "b", spelling)]


@pytest.mark.parametrize("key", ["tool_call_id", "tool_use_id"])
def test_results_in_user_rows_are_read(key: str) -> None:
    (message,) = read({"role": "user", "content": [{"type": "tool_result", key: "a", "output": "x"}]}).messages
    assert message.kind == "result"
    assert [result.call_id for result in message.results] == ["a"]
