"""A fixed export keeps every byte of what it does not mend, and the judge of losses sees every one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from doctor.analysis.registry import load_rules
from doctor.examples import answer, export, prompt, tool
from doctor.repair.planner import plan_fix
from doctor.sources.formats.opencode.mending import find_loss
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.support.cases import NOW

RULES = load_rules()
PENDING = {"type": "tool", "callID": "toolu_p", "tool": "write", "state": {"status": "pending", "input": {}, "raw": '{"path": "ä'}}
FIRST = json.loads(
    export(
        prompt("msg_1", "hellö \U0001f600"),
        answer("msg_2", "msg_1", {"type": "step-start"}, tool("toolu_a"), tool("toolu_b", "running", start=7), PENDING),
        prompt("msg_3", "on", created=20),
    )
)
PIECE = '{"co'
SECOND: dict[str, Any] = {
    "info": {"id": "ses_1", "time": {"created": 1, "updated": 1}},
    "messages": [
        {"id": "msg_1", "type": "user", "text": "hellö", "time": {"created": 2}},
        {
            "id": "msg_2", "type": "assistant", "agent": "build", "model": {"id": "m", "providerID": "openai"}, "time": {"created": 3},
            "content": [
                {"type": "tool", "id": "call_s", "name": "shell", "time": {"created": 4}, "state": {"status": "streaming", "input": PIECE}},
                {"type": "tool", "id": "call_r", "name": "shell", "time": {"created": 4, "ran": 5},
                 "state": {"status": "running", "input": {"command": "ls"}, "structured": {"n": 1}, "content": []}},
            ],
        },
    ],
}  # fmt: skip
LAYOUTS = {
    "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False) + "\n",
    "compact": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    "crlf": lambda value: json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\r\n") + "\r\n",
    "ascii": lambda value: json.dumps(value, indent=4),
}


def mend(text: str) -> tuple[bytes, Any]:
    plan = plan_fix(read_session("export.json", source=MemorySource(text.encode()), now=NOW), RULES)
    assert plan.failure is None, plan.failure
    again = plan_fix(plan.after_session, RULES)
    assert again.failure is None and not again.changed
    return plan.source.read(0, plan.source.size), plan


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("document", "calls"), [(FIRST, 2), (SECOND, 2)], ids=["first", "second"])
def test_open_calls_are_ended_and_nothing_else_is_touched(document: Any, calls: int, layout: str) -> None:
    text = LAYOUTS[layout](document)
    data, plan = mend(text)
    fixed = json.loads(data)
    assert [step.code for step in plan.applied] == ["AD301"] * calls
    assert [one == other for one, other in zip(document["messages"], fixed["messages"], strict=True)].count(False) == 1
    assert fixed["messages"][0] == document["messages"][0]
    head = text.encode()[: plan.session.transcript.form.place_row(plan.session.transcript, plan.session.transcript.messages[1].line)]
    assert data.startswith(head)
    assert (b"\r\n" in data) == (layout == "crlf") and data.count(b"\n") - data.count(b"\r\n") == (
        0 if layout in ("crlf", "compact") else data.count(b"\n")
    )


def test_what_has_no_place_in_an_ended_call_stays_in_the_mark() -> None:
    fixed = json.loads(mend(LAYOUTS["pretty"](FIRST))[0])
    state = fixed["messages"][1]["parts"][3]["state"]
    assert state["metadata"]["amplifier-doctor"] == {
        "code": "AD301", "from": "placeholder", "was": {"status": "pending", "raw": '{"path": "ä'},
    }  # fmt: skip
    assert state["time"] == {"start": 2, "end": 7}
    second = json.loads(mend(LAYOUTS["pretty"](SECOND))[0])["messages"][1]
    assert second["content"][0]["state"]["metadata"]["amplifier-doctor"]["was"]["input"] == '{"co'
    assert second["content"][0]["state"]["input"] == {} and second["content"][1]["state"]["structured"] == {"n": 1}
    assert second["time"]["completed"] == second["content"][1]["time"]["completed"] == 5


def read(value: Any) -> Any:
    return read_session("export.json", source=MemorySource(json.dumps(value).encode()), now=NOW).transcript


def change(edit: Any) -> Any:
    copy = json.loads(mend(LAYOUTS["compact"](FIRST))[0])
    edit(copy)
    return copy


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value["messages"].pop(),
        lambda value: value["info"].update(title="other"),
        lambda value: value["messages"][0]["parts"][0].update(text="hello"),
        lambda value: value["messages"][1]["parts"].pop(1),
        lambda value: value["messages"][1]["parts"][1]["state"].update(output="better"),
        lambda value: value["messages"][1]["parts"][2]["state"].update(input={"command": "other"}),
        lambda value: value["messages"][1]["parts"][2]["state"]["metadata"].pop("amplifier-doctor"),
        lambda value: value["messages"][1]["parts"][3]["state"]["metadata"]["amplifier-doctor"]["was"].pop("raw"),
        lambda value: value["messages"][1]["parts"][2]["state"]["time"].update(start=1),
        lambda value: value["messages"][1]["parts"][2].update(status="invented"),
        lambda value: value["messages"][1]["info"].update(finish="stop"),
    ],
)
def test_every_loss_is_seen(edit: Any) -> None:
    assert find_loss(read(FIRST), read(change(lambda value: None))) == ""
    assert find_loss(read(FIRST), read(change(edit))) != ""
