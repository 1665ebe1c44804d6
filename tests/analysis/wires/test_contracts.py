"""Each rule by which an API answers 400 fires on its smallest request, in words that the catalogue knows as that rule's and no other's.

A case is a folder `fixtures/wires/RULE` with `request.json`, a body that can be sent as it is, and `expected.txt`, all violations, one a
line. `host.txt` names the server where it is not the API's own. `pytest --update` writes the expected files; read the diff.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from doctor.analysis.errors_catalogue import find_errors
from doctor.analysis.wires import check_request
from doctor.analysis.wires.shape import ERROR, Violation
from doctor.sources.formats.request import read_requests
from doctor.sources.source import FileSource
from tests.support.images import draw_png

FIXTURES = Path(__file__).parents[3] / "fixtures" / "wires"
CASES = sorted(path.name for path in FIXTURES.iterdir())
WIRE_OF = {"AN": "anthropic", "OC": "openai-chat", "OR": "openai-responses", "GM": "gemini", "BC": "converse"}
SAME_TEXT = {"DS-02": "OC-01", "DS-03": "OR-01", "KI-04": "OC-01", "QW-01": "OC-01"}
"""Servers that answer in another API's words: nothing in the text tells them apart."""
REFUSALS = (
    "AN-01", "AN-02", "AN-03", "AN-04", "AN-05", "AN-06", "AN-07", "AN-08", "AN-10", "AN-11", "AN-12", "AN-13", "AN-14", "AN-18",
    "AN-19", "AN-22", "AN-23", "AN-26", "AN-27", "AN-30", "AN-31", "AN-32", "AN-35", "AN-36", "AN-38", "AN-39", "OC-01", "OC-02",
    "OC-03", "OC-04", "OC-05", "OC-06", "OC-08", "OC-09", "OC-12", "OC-13", "OC-14",
    "OR-01", "OR-02", "OR-03", "OR-05", "OR-08", "OR-09", "OR-10", "OR-11",
    "OR-12", "OR-13", "OR-15", "OR-16", "OR-17", "GM-01", "GM-02", "GM-03", "GM-05", "GM-06", "GM-07", "GM-08", "GM-10", "GM-11", "GM-12",
    "BC-01", "BC-02", "BC-03", "BC-04",
    "BC-08", "BC-09", "BC-10", "BC-12", "BC-13", "BC-15", "DS-02", "DS-03", "MI-01", "MI-04", "KI-01", "KI-02", "KI-03", "KI-04", "MM-01",
    "MM-02", "MM-03", "MM-04", "QW-01",
)  # fmt: skip
"""Every rule that was recorded, documented or reported and is an error. AN-37 needs five megabytes and is made below."""
WITHOUT_TEXT = ("GM-11", "BC-15")
"""Refusals of which it is not known in which words they come."""


def check_case(rule: str) -> list[Violation]:
    path = FIXTURES / rule / "request.json"
    (request,) = read_requests(FileSource(str(path)), str(path))
    assert request.wire == WIRE_OF.get(rule[:2], request.wire)
    host = FIXTURES / rule / "host.txt"
    return check_request(request.body, request.wire, host.read_text().strip() if host.exists() else "")


def test_every_refusal_has_a_case() -> None:
    assert sorted(REFUSALS) == CASES


@pytest.mark.parametrize("rule", CASES)
def test_a_request_is_refused_in_the_words_of_its_rule(rule: str, update: bool) -> None:
    found = check_case(rule)
    lines = "".join(f"{one.rule} {one.severity} {one.param}: {one.text}\n" for one in found)
    expected = FIXTURES / rule / "expected.txt"
    if update:
        expected.write_text(lines)
    assert lines == expected.read_text()
    assert {one.rule for one in found if one.severity == ERROR} == {rule}
    for one in found:
        if rule in WITHOUT_TEXT:
            assert not one.text and one.reason
        else:
            assert [match.rule for match in find_errors(one.text)] == [SAME_TEXT.get(one.rule, one.rule)]


@pytest.mark.parametrize("rule", CASES)
def test_lines_are_places_in_the_request(rule: str) -> None:
    body = json.loads((FIXTURES / rule / "request.json").read_text())
    count = len(body.get("messages", body.get("contents", body.get("input"))))
    for one in check_case(rule):
        assert all(0 <= line < count for line in one.lines)


def ask(*blocks: dict[str, Any]) -> list[str]:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": [*blocks]}]}
    found = check_request(body, "anthropic")
    for one in found:
        assert [match.rule for match in find_errors(one.text)] == [one.rule]
    return [one.rule for one in found]


def picture(data: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}}


def test_images_are_measured() -> None:
    assert ask(picture(draw_png(8000, 1))) == []
    assert ask(picture(draw_png(1, 8001))) == ["AN-36"]
    assert ask(*[picture(draw_png(2001, 1))] * 20) == []
    assert ask(*[picture(draw_png(2001, 1))] * 21) == ["AN-36"] * 21
    assert ask(picture(draw_png(1, 1) + bytes(5 * 1024 * 1024))) == ["AN-37"]
    assert ask({"type": "tool_result", "tool_use_id": "a", "content": [picture(draw_png(1, 1), "image/gif")]})[0] == "AN-38"
    assert ask(picture(b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x10\x40\x00\x03", "image/jpeg")) == ["AN-36"]
    assert ask({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("half \ud83d", True),
        ("\ude00 half", True),
        ("whole 😀", False),
        ("escaped \\ud83d", False),
        ("two \ud83d\ud83d\ude00", True),
        ("a\\\ud83d", True),
    ],
)
def test_half_characters_are_found(text: str, place: bool) -> None:
    assert ask({"type": "text", "text": text}) == (["AN-39"] if place else [])


CALL = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}


@pytest.mark.parametrize(
    ("messages", "rules"),
    [
        # The leading run of results crosses messages, and ends at the first other block.
        ([[CALL, {**CALL, "id": "toolu_2"}], [{**RESULT, "tool_use_id": "toolu_2"}], [RESULT, {"type": "text", "text": "go on"}]], []),
        ([[CALL], [{"type": "text", "text": "first"}, RESULT]], ["AN-01"]),
        ([[CALL, {**CALL, "id": "toolu_2"}], [RESULT, {"type": "text", "text": "x"}], [{**RESULT, "tool_use_id": "toolu_2"}]], ["AN-01"]),
        # The same id again in a later, answered turn was accepted.
        ([[CALL], [RESULT], [{"type": "text", "text": "one"}], "x", [CALL], [RESULT]], []),
        # A result may be empty, and white space beside a call is no matter.
        ([[{"type": "text", "text": "\n"}, CALL], [{**RESULT, "content": ""}]], []),
        # Thinking without text is fine when it is signed.
        ([[{"type": "thinking", "thinking": "", "signature": "c2ln"}, CALL], [RESULT]], []),
        # A server's call is in flight while only results of client tools follow it.
        ([[{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}, CALL], [RESULT]], []),
    ],
)
def test_what_the_messages_api_takes(messages: list[Any], rules: list[str]) -> None:
    roles = [
        "assistant"
        if isinstance(content, list) and content[0]["type"] != "tool_result" and content[-1]["type"] != "tool_result"
        else "user"
        for content in messages
    ]
    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
    body["messages"] += [{"role": role, "content": content} for role, content in zip(roles, messages, strict=True)]
    assert [one.rule for one in check_request(body, "anthropic") if one.severity == ERROR] == rules


@pytest.mark.parametrize(
    ("host", "rules"),
    [
        ("", ["OC-05 E", "OC-06 E"]),
        ("api.openai.com", ["OC-05 E", "OC-06 E"]),
        ("resource.openai.azure.com", ["OC-05 E", "OC-06 E"]),
        ("api.mistral.ai", []),
        ("localhost:8000", ["OC-05 W", "OC-06 W"]),
    ],
)
def test_hosts_that_take_more(host: str, rules: list[str]) -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [], "tool_calls": []},
        {"role": "user", "content": "so?"},
    ]
    found = check_request({"model": "m", "messages": messages}, "openai-chat", host)
    assert sorted(f"{one.rule} {one.severity}" for one in found) == rules


def test_a_model_in_the_url_is_handed_in() -> None:
    body = {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "x"}]}}]}]}
    assert [one.rule for one in check_request(body, "converse", model="amazon.nova-lite-v1:0")] == ["BC-13"]
    assert [one.rule for one in check_request(body, "converse", model="anthropic.claude-3-haiku")] == ["BC-02"]


@pytest.mark.parametrize("wire", list(WIRE_OF.values()))
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None, "contents": None, "input": None},
        {"messages": [None, 1, "x", [], {}, {"role": 1}, {"role": "user"}, {"role": "assistant", "content": [None, 1, {}, {"type": 1}]}]},
        {
            "contents": [None, "x", {}, {"role": "model", "parts": [None, "x", {}, {"functionCall": 1}]}],
            "input": [None, {}, {"type": 1}, "x"],
        },
        {
            "messages": [{"role": "assistant", "tool_calls": [None, {}, {"function": 1}], "content": None}],
            "model": 7,
            "thinking": 7,
            "store": 7,
        },
    ],
)
def test_no_body_is_too_odd(wire: str, body: dict[str, Any]) -> None:
    assert isinstance(check_request(body, wire), list)
