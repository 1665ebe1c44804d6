"""Bodies whose conversation is none: each API refuses them, in its own words where those are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import doctor
from doctor.analysis.errors_catalogue import find_errors
from doctor.analysis.wires import check_request
from doctor.analysis.wires.shape import ERROR, WARNING

HI = {"role": "user", "content": "hi"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GARBAGE: dict[str, list[tuple[dict[str, Any], str, str]]] = {
    "openai-chat": [
        ({"messages": [1, 2]}, "AD201", "Invalid type for 'messages[0]': expected an object, but got an integer instead."),
        ({"messages": [None]}, "AD201", "Invalid type for 'messages[0]': expected an object, but got null instead."),
        ({"messages": "x"}, "AD203", "Invalid type for 'messages': expected an array of objects, but got a string instead."),
        ({}, "AD203", "Missing required parameter: 'messages'."),
        ({"messages": [{"content": "x"}]}, "AD202", "Missing required parameter: 'messages[0].role'."),
        ({"messages": [{"role": 7, "content": "x"}]}, "AD202", ""),
        ({"messages": [HI, {"role": "user"}]}, "", "Invalid value for 'content': expected a string, got null."),
        ({"messages": [{"role": "user", "tool_calls": [{"id": "a"}]}]}, "", "Invalid value for 'content': expected a string, got null."),
        ({"messages": [{"role": "developer"}]}, "AD203", "Missing required parameter: 'messages[0].content'."),
        (
            {"messages": [{"role": "user", "content": 7}]},
            "AD203",
            "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
        ),
        (
            {"messages": [{"role": "user", "content": [True]}]},
            "AD203",
            "Invalid type for 'messages[0].content[0]': expected an object, but got a boolean instead.",
        ),
        (
            {"messages": [{"role": "assistant", "content": "x", "tool_calls": "y"}]},
            "AD203",
            "Invalid type for 'messages[0].tool_calls': expected an array of objects, but got a string instead.",
        ),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": [1]}]}, "AD203", ""),
    ],
    "anthropic": [
        ({"messages": [1]}, "AD201", "messages.0: Input does not match the expected shape."),
        ({"messages": "x"}, "AD203", "messages: Input should be a valid array"),
        ({}, "AD203", "messages: Field required"),
        ({"messages": []}, "", "messages: at least one message is required"),
        ({"messages": [{"content": "x"}]}, "AD202", "messages.0.role: Field required"),
        (
            {"messages": [{"role": "model", "content": "x"}]},
            "AD202",
            'messages: Unexpected role "model". Allowed roles are "user" or "assistant"',
        ),
        ({"messages": [HI, {"role": "user"}]}, "AD203", "messages.1.content: Field required"),
        ({"messages": [HI, {"role": "user", "content": None}]}, "AD203", "messages.1.content: Input should be a valid array"),
        ({"messages": [{"role": "user", "content": [7]}]}, "AD203", "messages.0.content.0: Input should be an object"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "AD203", "messages.0.content.0.type: Field required"),
    ],
    "openai-responses": [
        ({"input": [1]}, "AD201", "Invalid type for 'input[0]': expected an input item, but got an integer instead."),
        ({"input": [None]}, "AD201", "Invalid type for 'input[0]': expected an input item, but got null instead."),
        ({"input": [{}]}, "AD202", "Invalid value: ''. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
        ({"input": [{"role": "user"}]}, "AD203", "Missing required parameter: 'input[0].content'."),
        ({"input": [{"role": "user", "content": 7}]}, "AD203", ""),
        ({"input": [{"role": "user", "content": ["x"]}]}, "AD203", ""),
        ({"input": [{"type": 7, "role": "user", "content": "x"}]}, "AD203", ""),
        (
            {"input": {"a": 1}},
            "AD203",
            "Invalid type for 'input': expected one of a string or array of input items, but got an object instead.",
        ),
        ({"input": 7}, "AD203", ""),
        ({}, "AD203", "Missing required parameter: 'input'."),
        ({"input": []}, "AD107", "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."),
    ],
    "gemini": [
        ({"contents": [1]}, "AD201", ""),
        ({"contents": [None]}, "AD201", ""),
        ({"contents": "x"}, "AD203", ""),
        ({"contents": [{"role": 7, "parts": [{"text": "x"}]}]}, "AD202", ""),
        ({"contents": [{"role": "user", "parts": "x"}]}, "AD203", ""),
        ({"contents": [{"role": "user", "parts": [1]}]}, "AD203", ""),
    ],
    "converse": [
        ({"messages": [1]}, "AD201", ""),
        ({"messages": "x"}, "AD203", ""),
        ({"messages": [{"content": [{"text": "x"}]}]}, "AD202", ""),
        ({"messages": [{"role": "model", "content": [{"text": "x"}]}]}, "AD202", ""),
        ({"messages": [{"role": "user"}]}, "AD203", ""),
        ({"messages": [{"role": "user", "content": "x"}]}, "AD203", ""),
        ({"messages": [{"role": "user", "content": [1]}]}, "AD203", ""),
    ],
}


@pytest.mark.parametrize(("wire", "case"), [(wire, case) for wire, cases in GARBAGE.items() for case in cases], ids=str)
def test_garbage_is_refused(wire: str, case: tuple[dict[str, Any], str, str]) -> None:
    body, code, text = case
    found = check_request(body, wire)
    assert found and found[0].severity == ERROR
    assert (found[0].code, found[0].text) == (code, text)
    if text:
        assert [match.rule for match in find_errors(text)] == [found[0].rule]
    else:
        assert found[0].reason


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("openai-chat", {"messages": [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "a", "content": "x"}]}),
        ("openai-chat", {"messages": [HI, {"role": "assistant", "content": None, "refusal": "no"}, HI]}),
        ("openai-responses", {"input": "", "previous_response_id": "resp_1"}),
        ("openai-responses", {"input": [], "conversation": "conv_1"}),
        ("openai-responses", {"input": [{"type": "item_reference", "id": "msg_1"}]}),
        ("openai-responses", {"input": [{"type": "additional_tools", "role": "developer", "tools": []}, HI]}),
        ("gemini", {"contents": [{"parts": ["hi"]}]}),
        ("gemini", {"contents": {"parts": {"text": "hi"}}}),
    ],
)  # fmt: skip
def test_what_is_allowed_stays_allowed(wire: str, body: dict[str, Any]) -> None:
    assert [one for one in check_request(body, wire) if one.severity == ERROR] == []


@pytest.mark.parametrize(
    ("message", "severity", "text"),
    [
        (1, ERROR, ""),
        ({"role": "latest_reminder", "content": "x"}, WARNING, "Invalid value: 'latest_reminder'."),
        ({"role": "user"}, WARNING, "Invalid value for 'content'"),
    ],
)
def test_a_server_of_another_name_has_words_of_its_own(message: Any, severity: str, text: str) -> None:
    (found,) = check_request({"messages": [message]}, "openai-chat", "api.example.com")
    assert found.severity == severity and found.text.startswith(text) and bool(found.text) == bool(text)


def test_a_file_of_garbage_is_not_clean(tmp_path: Path) -> None:
    rows = [{"messages": "x"}, {"messages": [1, 2]}, {"messages": [{"role": "user"}]}, {"messages": [{"content": "x"}]}]
    (tmp_path / "bodies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"model": "m", "messages": [None]}]))
    (file,) = doctor.check(str(tmp_path / "bodies.jsonl"), environment={}, now=0.0).files
    assert file.rows == 5 and file.verdict == "not-resumable"
    assert [(one.line, one.code) for one in file.diagnostics] == [
        (1, "AD203"), (2, "AD201"), (2, "AD201"), (3, "AD203"), (4, "AD202"), (5, "AD201"),
    ]  # fmt: skip


def test_a_refusal_without_known_words_is_said_without_quoting(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text('{"contents": [1]}')
    (file,) = doctor.check(str(tmp_path / "body.json"), environment={}, now=0.0).files
    (one,) = file.diagnostics
    assert (
        one.message
        == "gemini refuses it, GM-11 at contents[0]: contents[0] is an integer, not an object (its words for this are not known)"
    )
    assert one.wires == ()
