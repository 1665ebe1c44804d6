"""Request bodies: which API each is written for, and where they stand in a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.sources.formats.request import detect_wire, is_request, read_requests
from doctor.sources.source import MemorySource

HI = {"role": "user", "content": "hi"}
BODIES: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [HI]},
        {"anthropic_version": "bedrock-2023-05-31", "messages": [HI]},
        {"system": "be brief", "messages": [HI]},
        {"messages": [HI, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "b", "input": {}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}]},
    ],
    "openai-chat": [
        {"model": "gpt-5", "messages": [HI]},
        {"messages": [{"role": "system", "content": "be brief"}, HI]},
        {"model": "anthropic/claude-sonnet-4.5", "messages": [HI]},
        {"messages": [HI, {"role": "assistant", "content": None, "tool_calls": []}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]},
    ],
    "openai-responses": [
        {"model": "gpt-5", "input": "hi"},
        {"model": "gpt-5", "input": [HI]},
        {"input": [{"type": "function_call", "call_id": "a", "name": "b", "arguments": "{}"}]},
    ],
    "gemini": [{"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, {"contents": {"parts": [{"text": "hi"}]}}],
    "converse": [
        {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
        {"inferenceConfig": {"maxTokens": 9}, "messages": [{"role": "user", "content": []}]},
        {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": []}}]}]},
    ],
    "": [{}, {"role": "user", "content": "hi"}, {"messages": "hi"}, {"input": "hi"}, {"event": "llm:request"}],
}


@pytest.mark.parametrize(("wire", "body"), [(wire, body) for wire, bodies in BODIES.items() for body in bodies])
def test_the_wire_is_told_from_the_body(wire: str, body: dict[str, Any]) -> None:
    assert detect_wire(body) == wire
    assert is_request(body) == bool(wire)
    assert is_request({"request": body, "host": "h"}) == bool(wire)


@pytest.mark.parametrize("row", [None, 1, "x", [], [HI], {"role": "user", "content": "hi", "input": []}])
def test_a_row_of_something_else_is_no_request(row: Any) -> None:
    assert not is_request(row)


def read(data: str) -> list[tuple[int, str, str, str]]:
    return [
        (one.line, one.wire, one.host, one.model) for one in read_requests(MemorySource(data.encode("utf-8", "surrogatepass")), "r.json")
    ]


def test_a_file_is_one_body() -> None:
    assert read(json.dumps(BODIES["anthropic"][0], indent=2)) == [(0, "anthropic", "", "claude-sonnet-4-5")]
    assert read("\ufeff" + json.dumps(BODIES["gemini"][0])) == [(0, "gemini", "", "")]


def test_a_file_is_one_body_a_line() -> None:
    lines = [json.dumps(BODIES["gemini"][0]), "", "not json", json.dumps({"request": BODIES["converse"][0], "host": "h", "model": "m"})]
    assert read("\n".join(lines)) == [(0, "gemini", "", ""), (3, "converse", "h", "m")]
    listed = json.dumps([BODIES["openai-chat"][0], 1, BODIES["openai-responses"][0]])
    assert read(listed) == [(0, "openai-chat", "", "gpt-5"), (2, "openai-responses", "", "gpt-5")]


def test_half_characters_do_not_stop_the_reading() -> None:
    (request,) = read_requests(
        MemorySource(b'{"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "\\ud83d"}]}'), "r.json"
    )
    assert request.body["messages"][0]["content"] == "\ud83d"


@pytest.mark.parametrize("data", ["", "not json", json.dumps(HI), "[]"])
def test_a_file_without_a_body_is_refused(data: str) -> None:
    with pytest.raises(DoctorError, match="holds no request body"):
        read(data)
