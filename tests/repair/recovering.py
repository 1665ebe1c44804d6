"""Hand-made event logs, plans that put lost rows back, and rows told in a few letters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doctor.analysis.registry import load_rules
from doctor.examples import event
from doctor.findings import Safety
from doctor.repair.planner import plan_fix
from doctor.repair.plans import Plan
from doctor.sources.session import read_session
from tests.support.cases import NOW, write_example
from tests.support.pairing_oracle import find_pairing_errors

RULES = load_rules()
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
TWO_PROCESSES = next((FIXTURES / "amplifier-two-processes" / "input").glob("*/transcript.jsonl"))
MARK = "amplifier-doctor"


class Log:
    """A hand-made event log, one second a line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, name: str, status: str = "", **data: Any) -> Log:
        self.lines.append(event(len(self.lines) % 60, name, status, **data))
        return self

    def start(self, prompt: str) -> Log:
        return self.add("execution:start", prompt=prompt).add("provider:request", iteration=1)

    def run(self, call_id: str, output: str | None = "ok", **given: Any) -> Log:
        self.pre(call_id, **given)
        return self if output is None else self.post(call_id, output)

    def pre(self, call_id: str, group: str = "", **given: Any) -> Log:
        return self.add("tool:pre", tool_name="bash", tool_call_id=call_id, tool_input=given, parallel_group_id=group or f"g-{call_id}")

    def post(self, call_id: str, output: str, group: str = "") -> Log:
        return self.add("tool:post", tool_name="bash", tool_call_id=call_id, result=output, parallel_group_id=group or f"g-{call_id}")

    def block(self, index: int, total: int, **block: Any) -> Log:
        return self.add("content_block:end", block_index=index, total_blocks=total, block=block)

    def end(self, prompt: str = "", response: str = "") -> Log:
        self.add("orchestrator:complete", "success")
        return self.add("prompt:complete", prompt=prompt, response=response) if response else self

    def turn(self, prompt: str, response: str) -> Log:
        return self.start(prompt).end(prompt, response)

    def write(self) -> str:
        return "".join(self.lines)


def recover(files: Mapping[str, str | bytes], folder: Path, recover: bool = True, safety: Safety = Safety.SAFE) -> Plan:
    """The plan for a session, proved; a second one must change nothing."""
    path = write_example(files, folder)
    session = read_session(str(path), now=NOW, recover=recover)
    plan = plan_fix(session, RULES, safety)
    assert plan.failure is None
    assert plan_fix(plan.after_session, RULES, safety).changed is False
    return plan


def read_rows(plan: Plan) -> list[dict[str, Any]]:
    data = plan.source.read(0, plan.source.size)
    assert find_pairing_errors(data) == []
    return [json.loads(line) for line in data.split(b"\n") if line]


def tell(row: Mapping[str, Any]) -> str:
    """A row in a few letters: `user two`, `calls a b`, `result a ok`, `says 1`."""
    if row["role"] == "tool":
        return f"result {row['tool_call_id']} {row['content']}"
    if row.get("tool_calls"):
        return "calls " + " ".join(item["id"] for item in row["tool_calls"])
    content = row["content"]
    text = content if isinstance(content, str) else " ".join(block["text"] for block in content if "text" in block)
    return f"{'user' if row['role'] == 'user' else 'says'} {text}"


def tell_all(plan: Plan) -> list[str]:
    return [tell(row) for row in read_rows(plan)]


def find_mark(row: Mapping[str, Any]) -> Any:
    return row.get("metadata", {}).get(MARK)


def list_errors(plan: Plan) -> list[str]:
    return [found.code for found in plan.after.diagnostics if found.severity == "error"]
