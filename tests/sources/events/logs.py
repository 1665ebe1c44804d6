"""Event logs for tests, written as the logging hook writes them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from doctor.eventlog import EventLog
from doctor.sources.events import read_events

SESSION_ID = "6f0c1d1e-2b7a-4c3d-9e5f-0a1b2c3d4e5f"


class LogWriter:
    """Collects event lines. Every method returns the 0-based line that it wrote."""

    def __init__(self, session_id: str = SESSION_ID) -> None:
        self.session_id = session_id
        self.lines: list[bytes] = []
        self._ticks = itertools.count()

    def add(self, event: str, data: dict[str, Any] | None = None, **promoted: Any) -> int:
        tick = next(self._ticks)
        row = {
            "ts": f"2026-08-01T10:{tick // 60 % 60:02}:{tick % 60:02}.{tick:09}+00:00",
            "lvl": "INFO",
            "schema": {"name": "amplifier.log", "ver": "1.0.0"},
            "event": event,
            "session_id": self.session_id,
            **promoted,
            "data": {"parent_id": None, **(data or {})},
        }
        return self.add_raw(json.dumps(row, ensure_ascii=False).encode())

    def add_raw(self, line: bytes) -> int:
        self.lines.append(line)
        return len(self.lines) - 1

    def start(self, prompt: str) -> int:
        self.add("prompt:submit", {"prompt": prompt})
        return self.add("execution:start", {"prompt": prompt})

    def ask(self, iteration: int) -> int:
        return self.add("provider:request", {"iteration": iteration, "provider": "anthropic"})

    def send(self, request_id: str) -> int:
        return self.add("llm:request", {"model": "m"}, request_id=request_id)

    def answer(self, request_id: str, **more: Any) -> int:
        return self.add("llm:response", {"model": "m"}, **{"request_id": request_id, "status": "ok", **more})

    def call(self, call_id: str, tool: str = "bash", group: str = "g") -> int:
        return self.add("tool:pre", {"tool_name": tool, "tool_call_id": call_id, "tool_input": {}, "parallel_group_id": group})

    def finish(self, call_id: str, result: Any = "ok", tool: str = "bash", group: str = "g") -> int:
        data = {"tool_name": tool, "tool_call_id": call_id, "tool_input": {}, "result": result, "parallel_group_id": group}
        return self.add("tool:post", dict(sorted(data.items())))

    def end(self, status: str = "success") -> int:
        if status == "success":
            self.add("execution:end")
        return self.add("orchestrator:complete", {"orchestrator": "loop-streaming"}, status=status)

    def write(self, folder: Path, end: bytes = b"\n") -> str:
        path = folder / "events.jsonl"
        path.write_bytes(b"\n".join(self.lines) + end)
        return str(path)

    def read(self, folder: Path, session_id: str = SESSION_ID, **options: Any) -> EventLog:
        return read_events(self.write(folder), session_id, **options)


def show(log: EventLog) -> dict[str, Any]:
    """Everything that a log holds, for comparing two readings."""
    return {name: getattr(log, name) for name in log.__slots__ if name not in ("source", "path")}


def write_turn(log: LogWriter, prompt: str, call_id: str = "") -> None:
    """A whole healthy turn, with one call if it gets an id."""
    log.start(prompt)
    log.ask(1)
    log.send(f"r1-{prompt}")
    log.answer(f"r1-{prompt}")
    if call_id:
        log.call(call_id, group=call_id)
        log.finish(call_id, group=call_id)
        log.ask(2)
        log.send(f"r2-{prompt}")
        log.answer(f"r2-{prompt}")
    log.end()
    log.add("prompt:complete", {"prompt": prompt, "response": f"reply to {prompt}"})
