"""Results that answer no call, beside calls that have none: what is offered can be done, and what can't be done is not offered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import doctor
from doctor.findings import Safety

USER, REPLY = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}
Row = dict[str, Any]


def call(*ids: str) -> Row:
    calls = [({"id": id} if id else {}) | {"tool": "bash", "arguments": {}} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(id: str) -> Row:
    return {"role": "tool", "tool_call_id": id, "name": "bash", "content": "done"}


CASES = {
    "an answer to a call without an id": [USER, call(""), result("x"), REPLY],
    "an answer to one of two calls": [USER, call("a", ""), result("a"), result("x"), REPLY],
    "a stray beside an open call": [USER, call("a"), result("b"), USER, REPLY],
    "a stray in front of all": [result("z"), call("a"), result("a"), REPLY, USER, REPLY],
    "a result in front of all, before its call": [result("a"), call("a"), REPLY, USER, REPLY],
    "a stray behind a reply": [USER, REPLY, result("z"), REPLY],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("wires", [(), ("anthropic",), ("gemini",), ("openai-chat", "gemini")], ids=str)
def test_what_is_offered_can_be_done(case: str, wires: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in CASES[case]))
    (file,) = doctor.check(path, wires=[], environment={}, now=0.0).files
    offered = {found.fix.safety for found in file.diagnostics if found.fix is not None}
    for safety, unsafe in ((Safety.SAFE, False), (Safety.UNSAFE, True)):
        done = doctor.fix(path, unsafe=unsafe, environment={}, now=0.0)
        assert done.errors == ()
        assert done.files[0].fix is not None and done.files[0].fix.changed == any(one >= safety for one in offered)
    for one in (doctor.fix(path, unsafe=unsafe, wires=wires, environment={}, now=0.0) for unsafe in (False, True)):
        assert [failure for failure in one.errors if failure.kind == "internal"] == []


def test_an_answer_without_a_home_is_left_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in CASES["an answer to a call without an id"]))
    (file,) = doctor.check(path, environment={}, now=0.0).files
    (fix,) = [found.fix for found in file.diagnostics if found.code == "AD302"]
    assert fix is not None and fix.safety is Safety.MANUAL and "row 2" in fix.title


def test_a_placeholder_beside_a_stray_waits_for_it_only_where_somebody_counts(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in CASES["a stray beside an open call"]))

    def offer(*wires: str) -> Safety:
        (file,) = doctor.check(path, wires=wires, environment={}, now=0.0).files
        (fix,) = [found.fix for found in file.diagnostics if found.code == "AD301"]
        assert fix is not None
        return fix.safety

    assert (offer(), offer("gemini"), offer("anthropic")) == (Safety.UNSAFE, Safety.UNSAFE, Safety.SAFE)
