"""Small Amplifier sessions for the tests of the repair room."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from doctor.analysis.registry import load_rules, select_rules
from doctor.errors import DoctorError
from doctor.findings import Safety
from doctor.model import Source
from doctor.repair.planner import plan_fix
from doctor.repair.plans import Plan
from doctor.repair.storage import Written, write_plan
from doctor.rulekit import Rule
from doctor.session import Session
from doctor.sources.session import read_session

NOW = 1_790_000_000.123456
INTERRUPTED = '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}'


def user(text: str) -> str:
    return json.dumps({"role": "user", "content": text})


def call(*ids: str) -> str:
    blocks = [{"type": "tool_call", "id": call_id, "name": "bash", "input": {}} for call_id in ids]
    return json.dumps({"role": "assistant", "content": blocks, "tool_calls": [{"id": i, "tool": "bash", "arguments": {}} for i in ids]})


def result(call_id: str, content: str | None = None) -> str:
    return json.dumps({"role": "tool", "name": "bash", "tool_call_id": call_id, "content": content or f"result of {call_id}"})


def placeholder(call_id: str) -> str:
    return json.dumps({"role": "tool", "tool_call_id": call_id, "name": "bash", "content": INTERRUPTED})


def reply(text: str) -> str:
    return json.dumps({"role": "assistant", "content": [{"type": "text", "text": text}]})


def join(*rows: str, end: str = "\n") -> bytes:
    return end.join([*rows, ""]).encode()


DAMAGED = (
    join(
        user("one"),
        call("a", "b"),
        placeholder("a"),
        user("two"),
        call("c"),
        result("a"),
        result("c"),
        reply("done"),
        user("three"),
        call("d"),
    )
    + b'{"role": "assistant", "content": [{"type": "te'
)
"""A placeholder before a real result, a call cut off from it, a call without result in the middle and one at the end, a torn tail."""

FIXED_ROWS = 12


def all_rules() -> tuple[Rule, ...]:
    return select_rules(load_rules(), (), ())


def read(path: Path | str, source: Source | None = None) -> Session:
    return read_session(str(path), now=NOW, source=source)


def plan(path: Path | str, safety: Safety = Safety.SAFE) -> Plan:
    return plan_fix(read(path), all_rules(), safety)


def read_bytes(source: Source) -> bytes:
    with source.open() as stream:
        return stream.read()


def write(planned: Plan, **named: Any) -> Written:
    return write_plan(planned.session, planned, now=named.pop("now", NOW), **named)


def list_names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir())


def assert_untouched(path: Path, content: bytes = DAMAGED, beside: tuple[str, ...] = ()) -> None:
    assert path.read_bytes() == content
    assert list_names(path) == sorted([path.name, *beside])


def assert_one_line(error: DoctorError) -> None:
    assert "\n" not in error.message and "Errno" not in error.message and len(error.message) < 400
