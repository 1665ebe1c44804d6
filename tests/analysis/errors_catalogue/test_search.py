"""Every known error text resolves to its own rule and to no other, bare and inside whatever people paste."""

from __future__ import annotations

import json

import pytest

from doctor.analysis.errors_catalogue import explain_error, find_errors, load_entries
from doctor.analysis.errors_catalogue.search import find_nearest
from doctor.analysis.registry import load_rules
from tests.analysis.errors_catalogue.texts import TEXTS, VARIANTS

PLANNED = {"AD206", "AD207", "AD208", "AD405"}
"""Codes of rules about providers that the catalogue may name besides those that are there."""
LINES_BEFORE = (
    '2026-08-01 10:00:00,123 INFO httpx HTTP Request: POST https://api.example.com/v1/messages "HTTP/1.1 400 Bad Request"',
    "Traceback (most recent call last):",
    '  File "client.py", line 12, in send',
)
LINES_BEHIND = ("During handling of the above exception, another exception occurred:", "2026-08-01 10:00:01,000 INFO retrying in 2 s")


def wrap_plain(text: str) -> str:
    return "\n".join((*LINES_BEFORE, f"api.BadRequestError: Error code: 400 - {text}", *LINES_BEHIND))


def wrap_json(text: str) -> str:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": text, "param": None}, "request_id": "req_011"}
    return "\n".join((*LINES_BEFORE, json.dumps(body), *LINES_BEHIND))


def wrap_compact(text: str) -> str:
    return json.dumps({"error": {"message": text}}, separators=(",", ":"))


def wrap_gateway(text: str) -> str:
    """A gateway quotes the provider's JSON in a JSON of its own, and an event log quotes that."""
    inner = json.dumps({"error": {"message": text, "code": 400}}).replace("`", "\\u0060")
    return json.dumps({"event": "provider:error", "data": {"error": {"msg": json.dumps({"detail": f"litellm.BadRequestError: {inner}"})}}})


def wrap_python(text: str) -> str:
    return f"anthropic.BadRequestError: Error code: 400 - { ({'type': 'error', 'error': {'message': text}})!r}"


def wrap_narrow(text: str) -> str:
    """A terminal frame of 60 columns that breaks the text at spaces, in colour."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) > 56:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join(f"\x1b[31m│\x1b[0m {line:<56} \x1b[31m│\x1b[0m" for line in [*lines, line])


WRAPPERS = (str, wrap_plain, wrap_json, wrap_compact, wrap_gateway, wrap_python, wrap_narrow)


def test_every_entry_has_a_text() -> None:
    assert [entry.rule for entry, _, _ in load_entries()] == list(dict.fromkeys(entry.rule for entry, _, _ in load_entries()))
    assert {entry.rule for entry, _, _ in load_entries()} == set(TEXTS)


# Two spaces are all that is left of the missing id in KI-01, and a terminal that breaks lines eats one of them.
WRAPPED = [(rule, wrap) for rule in TEXTS for wrap in WRAPPERS if (rule, wrap) != ("KI-01", wrap_narrow)]


@pytest.mark.parametrize(("rule", "wrap"), WRAPPED, ids=lambda value: getattr(value, "__name__", value))
def test_a_text_resolves_to_its_own_rule(rule: str, wrap: object) -> None:
    found = find_errors(wrap(TEXTS[rule]))  # type: ignore[operator]
    assert [match.rule for match in found] == [rule]


@pytest.mark.parametrize("text", list(VARIANTS))
def test_other_wordings_resolve_too(text: str) -> None:
    assert [match.rule for match in find_errors(text)] == [VARIANTS[text]]


@pytest.mark.parametrize(
    ("rule", "ids", "indices"),
    [
        ("AN-01", ("toolu_01A", "toolu_01B"), (3,)),
        ("AN-02", ("toolu_01C",), (8, 1)),
        ("AN-03", ("toolu_01D",), (2, 1)),
        ("AN-30", ("srvtoolu_01E",), ()),
        ("AN-31", ("srvtoolu_01F",), (2, 0)),
        ("OC-01", ("call_1", "call_2"), ()),
        ("OC-03", ("call_3",), (7, 8)),
        ("OC-04", (), (2, 0)),
        ("OR-01", ("call_4",), ()),
        ("OR-02", ("call_5",), ()),
        ("OR-03", ("rs_6",), ()),
        ("OR-04", ("rs_8", "fc_7"), ()),
        ("OR-05", ("fc_9",), ()),
        ("OR-10", (), (22,)),
        ("GM-04", (), (3,)),
        ("BC-01", ("tooluse_1", "tooluse_2"), (2,)),
        ("BC-04", ("tooluse_4",), (1,)),
        ("MM-01", ("call_12",), ()),
        ("MM-04", ("call_13",), ()),
    ],
)
@pytest.mark.parametrize("wrap", [str, wrap_json, wrap_compact, wrap_gateway], ids=lambda wrap: wrap.__name__)
def test_ids_and_indices_are_read(rule: str, ids: tuple[str, ...], indices: tuple[int, ...], wrap: object) -> None:
    match = explain_error(wrap(TEXTS[rule]))  # type: ignore[operator]
    assert match is not None
    assert (match.ids, match.indices) == (ids, indices)


def test_the_first_error_of_a_log_comes_first() -> None:
    log = "\n".join((wrap_json(TEXTS["OC-02"]), wrap_json(TEXTS["AN-01"]), wrap_json(TEXTS["OC-02"])))
    assert [match.rule for match in find_errors(log)] == ["OC-02", "AN-01"]


@pytest.mark.parametrize("text", ["", "all is well", "HTTP/1.1 429 Too Many Requests", "tool_use tool_result messages.3"])
def test_other_texts_resolve_to_nothing(text: str) -> None:
    assert explain_error(text) is None


def test_codes_exist_and_sentences_end() -> None:
    known = {rule.code for rule in load_rules()} | PLANNED
    for entry, _, _ in load_entries():
        assert set(entry.codes) <= known, entry.rule
        assert entry.explanation.endswith(".") and entry.cure.endswith("."), entry.rule


def test_a_match_names_the_likeliest_code() -> None:
    match = explain_error(TEXTS["AN-01"])
    assert match is not None and match.provider == "Anthropic" and match.code == "AD301"
    match = explain_error(TEXTS["AN-40"])
    assert match is not None and match.code == ""


@pytest.mark.parametrize(
    "text",
    [
        "400: messages.8.content.0: unexpected `tool_use_id` found in `tool_result` blocks: …",
        "messages.8.content.0: unexpected tool_use_id found in tool_result blocks: toolu_01A09q90qw90lq917835lq9",
        "messages.8.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A09q90qw90lq917835lq9.",
    ],
)
def test_cut_texts_and_texts_without_backticks_resolve(text: str) -> None:
    found = explain_error(text)
    assert found is not None and found.rule == "AN-02"
    assert found.ids == (() if text.endswith("…") else ("toolu_01A09q90qw90lq917835lq9",))


def test_what_is_none_of_them_may_come_near_to_one() -> None:
    near = find_nearest("400: unexpected tool_use_id")
    assert near is not None and near[0].rule == "AN-02" and near[1] == "Anthropic"
    assert find_nearest("the weather is fine and nothing happened to me today") is None
