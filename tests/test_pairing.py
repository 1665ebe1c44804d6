"""Which result belongs to which call."""

from __future__ import annotations

import pytest

from doctor.model import Message, ToolCall, ToolResult
from doctor.pairing import Pairing, pair_calls


def build(script: str) -> list[Message]:
    """`U`, `A`, `C:a,b` (calls), `T:a` (result), `P:a` (placeholder), separated by blanks."""
    messages = []
    for line, word in enumerate(script.split()):
        letter, _, names = word.partition(":")
        ids = names.split(",") if names else []
        calls = tuple(ToolCall(name, "bash", 3) for name in ids) if letter == "C" else ()
        results = tuple(ToolResult(name, "bash", "repair" if letter == "P" else "") for name in ids) if letter in "TP" else ()
        kind = {"U": "prompt", "A": "reply", "C": "call", "T": "result", "P": "result"}[letter]
        messages.append(Message(line, "x", kind, calls, results, 0, 0))
    return messages


def describe(pairing: Pairing) -> list[tuple[str, list[int], list[int], list[int]]]:
    return [
        (pair.call.id, [s.index for s in pair.placed], [s.index for s in pair.early], [s.index for s in pair.late])
        for pair in pairing.pairs
    ]


@pytest.mark.parametrize(
    "script",
    ["U A", "U C:a T:a A", "U C:a,b T:b T:a A", "U C:a T:a C:b T:b", "U C:a T:a U A", "C:a T:a U C:a T:a", "U C:a P:a A"],
)
def test_sound_conversations(script: str) -> None:
    pairing = pair_calls(build(script))
    assert pairing.is_sound
    assert pairing.pairs == () and pairing.orphans == ()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("U C:a", [("a", [], [], [])]),
        ("U C:a,b T:a", [("b", [], [], [])]),
        ("U C:a U T:a", [("a", [], [], [3])]),
        ("U T:a C:a", [("a", [], [1], [])]),
        ("U C:a T:a T:a", [("a", [2, 3], [], [])]),
        ("U C:a P:a C:c T:a T:c", [("a", [2], [], [4])]),
        ("U C:a,b P:a P:b U C:c T:a T:b T:c A", [("a", [2], [], [6]), ("b", [3], [], [7])]),
        ("C:a A U C:a T:a", [("a", [], [], [])]),
        ("C:a U C:a T:a T:a", [("a", [], [], []), ("a", [3, 4], [], [])]),
        ("C:a U C:a T:a U T:a", [("a", [], [], [5])]),
    ],
)
def test_what_is_out_of_place(script: str, expected: list[tuple[str, list[int], list[int], list[int]]]) -> None:
    pairing = pair_calls(build(script))
    assert not pairing.is_sound
    assert describe(pairing) == expected


def test_orphans_reused_and_doubled_ids() -> None:
    assert [site.index for site in pair_calls(build("U A T:z U A")).orphans] == [2]
    assert pair_calls(build("C:a T:a U C:a T:a")).reused == (("a", (0, 3)),)
    assert pair_calls(build("C:a,a T:a")).twice_in_row == ((0, "a"),)


def test_reused_ids_whose_results_cannot_be_told_apart_are_ambiguous() -> None:
    for script in ("U C:a U C:a T:a T:a A A", "U C:a P:a U C:a T:a T:a", "U C:a U C:a U T:a"):
        assert {pair.ambiguous for pair in pair_calls(build(script)).pairs} == {True}, script
    for script in ("U C:a U C:a T:a U T:a", "U C:a A U C:a T:a", "U C:a T:a T:a", "U C:a U T:a T:a"):
        assert {pair.ambiguous for pair in pair_calls(build(script)).pairs} == {False}, script


def test_the_name_of_the_tool_tells_reused_ids_apart() -> None:
    messages = build("U C:a U C:a T:a T:a")
    messages[1] = messages[1]._replace(calls=(ToolCall("a", "todo", 3),))
    messages[5] = messages[5]._replace(results=(ToolResult("a", "todo", ""),))
    assert describe(pair_calls(messages)) == [("a", [], [], [5])]
