"""The oracle itself: it must see what providers refuse, and nothing else. Rows are written short: U, R, A(ids), T(id), S."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.support.pairing_oracle import find_pairing_errors
from tests.support.sessions import build_session


def write(text: str) -> bytes:
    """Rows from their short form: "U A(a,b) Ta Tb S"."""
    rows = []
    for word in text.split():
        if word[0] == "A":
            ids = word[2:-1].split(",")
            blocks = [{"type": "tool_call", "id": id, "name": "bash", "input": {}} for id in ids]
            rows.append({"role": "assistant", "content": blocks, "tool_calls": [{"id": id, "tool": "bash", "arguments": {}} for id in ids]})
        elif word[0] == "T":
            rows.append({"role": "tool", "tool_call_id": word[1:], "content": "done"})
        else:
            rows.append({"role": {"U": "user", "R": "user", "S": "assistant", "Y": "system"}[word], "content": word})
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize(
    "rows",
    [
        "U S", "U A(a) Ta S", "U A(a,b) Tb Ta S", "U A(a) Ta U S", "U A(a) Ta R A(b) Tb S", "U U S S", "U A(a) Ta S U A(a) Ta S",
        "U A(a) Ta A(b) Tb",
    ],
)  # fmt: skip
def test_sound_rows_have_no_error(rows: str) -> None:
    assert find_pairing_errors(write(rows)) == []


@pytest.mark.parametrize(
    ("rows", "rules"),
    [
        ("U A(a) U S", {"AN-01", "OC-01"}),
        ("U A(a)", {"AN-01", "OC-01"}),
        ("U A(a,b) Ta S", {"AN-01", "OC-01"}),
        ("U A(a) R Ta S", {"AN-01", "OC-01", "OC-02"}),
        ("U A(a) S Ta S", {"OC-01", "OC-02"}),
        ("U A(a) Y Ta S", {"OC-01", "OC-02"}),
        ("U Ta A(a) S", {"AN-01", "AN-02", "OC-01", "OC-02"}),
        ("U Tz S", {"AN-02", "OC-02"}),
        ("U A(a) Ta Ta S", {"AN-03", "OC-03"}),
        ("U A(a) Ta A(c) Ta Tc S", {"AN-02", "OC-02"}),
        ("U A(a) A(a) Ta S", {"AN-04", "OC-01"}),
        ("U A(a) A(b) Ta Tb S", {"OC-01", "OC-02"}),
        ("U A(a,a) Ta S", {"AN-04"}),
        ("U A(a,b) Ta U Tb S", {"AN-01", "OC-01", "OC-02"}),
    ],
)
def test_refused_rows_have_their_errors(rows: str, rules: set[str]) -> None:
    assert {error.rule for error in find_pairing_errors(write(rows))} == rules


def test_spellings_that_disagree_are_both_calls() -> None:
    row = {"role": "assistant", "content": [{"type": "tool_call", "id": "a"}], "tool_calls": [{"id": "b"}]}
    assert {error.id for error in find_pairing_errors(json.dumps(row).encode())} == {"a", "b"}


def test_unreadable_rows_and_unknown_roles_are_left_out() -> None:
    sound = write("U A(a) Ta S").split(b"\n")
    assert find_pairing_errors(b"\n".join([*sound[:2], b'{"role": "robot"}', b'{"cut', b"", *sound[2:]])) == []


def test_drawn_sessions_are_sound() -> None:
    for seed in range(200):
        assert find_pairing_errors(build_session(Random(seed)).files()["transcript.jsonl"]) == []
