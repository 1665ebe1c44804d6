"""Sessions with event logs, made by hand for time lines."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from doctor.analysis.engine import diagnose, report_session
from doctor.analysis.registry import load_rules
from doctor.output.privacy import hide_contents
from doctor.output.timeline import Timeline, build_timeline
from doctor.session import Session
from doctor.sources.session import read_session

ROOT = Path(__file__).parent.parent.parent
SEED = ROOT / "fixtures" / "amplifier-seed-000" / "input" / "7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0"
START = datetime(2026, 7, 12, 15, 7, 47, tzinfo=UTC)


class Story:
    """Writes an event log and a transcript side by side. `second` counts from START; None leaves the time stamp out."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.rows: list[str] = []

    def event(self, second: float | None, name: str, top: dict[str, Any] | None = None, **data: Any) -> int:
        stamp = {} if second is None else {"ts": (START + timedelta(seconds=second)).isoformat(timespec="milliseconds")}
        row = {**stamp, "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": name, "session_id": "s", **(top or {})}
        self.events.append(json.dumps({**row, "data": data}, ensure_ascii=False))
        return len(self.events) - 1

    def row(self, **row: Any) -> int:
        self.rows.append(json.dumps(row, ensure_ascii=False))
        return len(self.rows) - 1

    def start(self, second: float | None, prompt: str) -> int:
        self.row(role="user", content=prompt)
        return self.event(second, "execution:start", prompt=prompt)

    def ask(self, begin: float | None, end: float | None, number: int, request_id: str) -> int:
        line = self.event(begin, "provider:request", iteration=number, provider="anthropic")
        self.event(begin, "llm:request", {"request_id": request_id})
        self.event(end, "llm:response", {"request_id": request_id, "status": "ok"})
        return line

    def call(self, second: float | None, *ids: str, name: str = "bash") -> None:
        blocks = [{"type": "tool_call", "id": call_id, "name": name, "input": {}} for call_id in ids]
        calls = [{"id": call_id, "tool": name, "arguments": {}} for call_id in ids]
        self.row(role="assistant", content=blocks, tool_calls=calls)
        for call_id in ids:
            self.event(second, "tool:pre", tool_name=name, tool_call_id=call_id, parallel_group_id=ids[0])

    def finish(self, second: float | None, call_id: str, name: str = "bash", group: str = "", content: str = "ok") -> None:
        self.event(
            second, "tool:post", tool_name=name, tool_call_id=call_id, parallel_group_id=group or call_id, result={"output": content}
        )
        self.row(role="tool", tool_call_id=call_id, name=name, content=content)

    def reply(self, second: float | None, text: str) -> None:
        self.row(role="assistant", content=[{"type": "text", "text": text}])
        self.event(second, "execution:end")
        self.event(second, "orchestrator:complete", {"status": "success"})

    def write(self, folder: Path) -> Path:
        """The session's folder."""
        folder = folder / "s"
        folder.mkdir()
        (folder / "transcript.jsonl").write_text("".join(row + "\n" for row in self.rows), "utf-8", newline="\n")
        (folder / "events.jsonl").write_text("".join(event + "\n" for event in self.events), "utf-8", newline="\n")
        return folder


def tell_turn(story: Story, second: float, prompt: str, number: int, call: bool = True) -> None:
    """One sound turn of four seconds: a request, a tool, a request, a reply."""
    story.start(second, prompt)
    story.ask(second, second + 1, 1, f"r{number}-1")
    if call:
        story.call(second + 1, f"call_{number}")
        story.finish(second + 3, f"call_{number}")
        story.ask(second + 3, second + 4, 2, f"r{number}-2")
    story.reply(second + 4, f"reply {number}")


def tell_nine_hours() -> Story:
    """One turn waits for a tool for nine hours; another one begins before it ends, behind the repair's placeholder."""
    story = Story()
    story.start(0, "Do the slow work.")
    story.ask(0, 2, 1, "r1")
    story.call(2, "call_slow", name="delegate")
    story.row(
        role="tool", tool_call_id="call_slow", name="delegate",
        content='{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}',
    )  # fmt: skip
    late = 9 * 3600 + 18 * 60
    story.start(late, "Are you there?")
    story.ask(late, late + 5, 1, "r2")
    story.finish(late + 6, "call_slow", name="delegate")
    story.event(late + 7, "provider:request", iteration=2, provider="anthropic")
    story.event(late + 8, "provider:error", error={"msg": "400: unexpected `tool_use_id`: call_slow"})
    story.event(late + 8, "orchestrator:complete", {"status": "error"})
    story.reply(late + 12, "Yes.")
    return story


def read(folder: Path) -> Session:
    return read_session(str(folder / "transcript.jsonl"), now=0.0)


def build(folder: Path, with_texts: bool = True) -> Timeline:
    session = read(folder)
    assert session.events is not None
    diagnosis = diagnose(session, load_rules())
    file = report_session(session, diagnosis)
    findings = (file if with_texts else hide_contents(file)).diagnostics
    return build_timeline(session, session.events, findings, with_texts)
