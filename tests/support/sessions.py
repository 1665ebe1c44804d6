"""Sound Amplifier sessions in every spelling that its hosts write: `build_session` from a seed, `sessions()` for hypothesis.

Both run the same code: hypothesis hands in a Random whose draws it can shrink.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple

SESSION_ID = "6f0c1d1e-2b7a-4c3d-9e5f-0a1b2c3d4e5f"
START = 1_785_500_000.0
"""Unix time of the first row, months before NOW: no session looks live."""
NOW = START + 90 * 86_400

PIECES = (
    "read the file", "write it back", "größer", "naïve", "東京", "🚀 launched", "line\nbreak", "tab\there", 'a "quoted"', "back\\slash",
    "separator\u2028here", "next\u0085line", "para\u2029graph", "nul \x00 escape", "{\"role\": \"user\"}", "</system-reminder>", "e\u0301",
    "{'a': [1, 2]}", "price 12.50 €", "zero\u200bwidth", "family 👩\u200d👩\u200d👧", "\ufeff", "DEL \x7f", "x" * 300,
)  # fmt: skip
TOOLS = ("bash", "read_file", "todo", "delegate", "web_fetch")
ODD_NUMBER = "@odd-number@"
ODD_NUMBERS = ("1E2", "-0.0", "1.50", "1180591620717411303424", "0.1e-7")
"""Spellings that a reader which parses and writes again would change."""


class Style(NamedTuple):
    """How a file spells its rows. Amplifier's own: spaced, raw unicode, `\\n`, ends with a line end."""

    compact: bool
    ascii_only: bool
    eol: bytes
    ends_with_eol: bool
    timestamps: bool

    def dump(self, row: Any) -> bytes:
        separators = (",", ":") if self.compact else (", ", ": ")
        return json.dumps(row, ensure_ascii=self.ascii_only, separators=separators).encode()


class Draft:
    """A session in the making: its rows as lines without line ends, so that damage can be done to rows and to bytes alike."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.lines: list[bytes] = []
        self.events: list[bytes] | None = None
        self.tail = b""
        """What stands behind the last line end; a torn last line."""
        self.ids = 0
        self.prompts = 0

    def rows(self) -> list[tuple[int, dict[str, Any]]]:
        """(line, row) of every line that is still one JSON object."""
        found = []
        for index, line in enumerate(self.lines):
            try:
                row = json.loads(line.decode("utf-8"))
            except ValueError:
                continue
            if isinstance(row, dict):
                found.append((index, row))
        return found

    def files(self) -> dict[str, bytes]:
        """The session as files by name."""
        data = self.style.eol.join(self.lines)
        if self.lines and self.style.ends_with_eol:
            data += self.style.eol
        if self.tail:
            data += (b"" if self.style.ends_with_eol or not self.lines else self.style.eol) + self.tail
        files = {"transcript.jsonl": data}
        metadata = {
            "session_id": SESSION_ID,
            "created": "2026-07-31T12:13:20+00:00",
            "bundle": "bundle:sample",
            "model": "claude-sonnet-4-5",
        }
        files["metadata.json"] = json.dumps({**metadata, "turn_count": self.prompts}, indent=2).encode()
        if self.events is not None:
            files["events.jsonl"] = b"".join(line + b"\n" for line in self.events)
        return files


class Builder:
    """Draws one sound session, turn by turn, with the events that belong to it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        eol = b"\r\n" if self.odds(8) else b"\n"
        self.draft = Draft(Style(self.odds(4), self.odds(6), eol, not self.odds(5), not self.odds(4)))
        self.time = START
        self.events: list[bytes] = []
        self.number = 0

    def odds(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def text(self, kind: str) -> str:
        """Never the same twice: a repeated prompt would be a finding of its own."""
        self.number += 1
        pieces = [self.random.choice(PIECES) for _ in range(self.random.randrange(0, 4))]
        return " ".join([f"{kind} {self.number}", *pieces])

    def new_id(self) -> str:
        self.draft.ids += 1
        return f"toolu_{self.random.getrandbits(24):06x}{self.draft.ids:04d}"

    def stamp(self, nanoseconds: bool = False) -> str:
        self.time += self.random.randrange(1, 5000) / 1000
        moment = datetime.fromtimestamp(self.time, UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S.%f}000+00:00" if nanoseconds else moment.isoformat(timespec="milliseconds")

    def write(self, row: dict[str, Any]) -> None:
        if self.draft.style.timestamps and "metadata" not in row:
            row["metadata"] = {"timestamp": self.stamp()}
        line = self.draft.style.dump(row)
        for number in ODD_NUMBERS:
            line = line.replace(f'"{ODD_NUMBER}{number}"'.encode(), number.encode())
        self.draft.lines.append(line)

    def log(self, event: str, data: dict[str, Any] | None = None, **promoted: Any) -> None:
        record: dict[str, Any] = {
            "ts": self.stamp(True),
            "lvl": "INFO",
            "schema": {"name": "amplifier.log", "ver": "1.0.0"},
            "event": event,
        }
        record |= {"session_id": SESSION_ID, **promoted, "data": dict(sorted({"parent_id": None, **(data or {})}.items()))}
        self.events.append(json.dumps(record, ensure_ascii=False).encode())

    def write_content(self, text: str) -> Any:
        return text if self.odds(3) else [{"type": "text", "text": text}]

    def write_session(self) -> Draft:
        self.log("session:start")
        for _ in range(self.random.randrange(1, 5)):
            self.write_turn()
        self.log("session:end")
        if not self.odds(2):
            self.draft.events = self.events
        return self.draft

    def write_turn(self) -> None:
        prompt = self.text("please")
        self.log("prompt:submit", {"prompt": prompt})
        self.log("execution:start", {"prompt": prompt})
        self.write({"role": "user", "content": prompt if not self.odds(5) else [{"type": "text", "text": prompt}]})
        self.draft.prompts += 1
        if self.odds(6):
            self.write_reminder()
        steps = self.random.randrange(0, 4)
        for iteration in range(1, steps + 1):
            self.write_step(iteration)
        self.log_request(steps + 1)
        reply = self.text("answer")
        content = self.write_content(reply)
        if isinstance(content, list) and self.odds(3):
            content.insert(0, self.draw_thinking())
        self.write({"role": "assistant", "content": content})
        self.log("execution:end")
        self.log("orchestrator:complete", {"orchestrator": "loop-streaming", "turn_count": steps + 1}, status="success")
        self.log("prompt:complete", {"prompt": prompt, "response": reply})

    def log_request(self, iteration: int) -> None:
        request_id = f"request-{len(self.events)}"
        self.log("provider:request", {"iteration": iteration, "provider": "anthropic"})
        self.log(
            "llm:request",
            {"model": "claude-sonnet-4-5", "provider": "anthropic", "message_count": len(self.draft.lines)},
            request_id=request_id,
        )
        self.log("llm:response", {"model": "claude-sonnet-4-5", "provider": "anthropic"}, request_id=request_id, status="ok")

    def draw_thinking(self) -> dict[str, Any]:
        return {"type": "thinking", "thinking": self.text("consider"), "signature": "c2lnbmF0dXJl", "visibility": "internal"}

    def draw_arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {"command": self.text("run")}
        if self.odds(4):
            arguments["ratio"] = ODD_NUMBER + self.random.choice(ODD_NUMBERS)
        if self.odds(4):
            arguments["options"] = {"deep": [1, True, {"empty": {}}], "role": "tool"}
        return arguments

    def write_step(self, iteration: int) -> None:
        """An assistant row with one to three calls, its results in any order, and what may follow them."""
        self.log_request(iteration)
        calls = [(self.new_id(), self.random.choice(TOOLS), self.draw_arguments()) for _ in range(self.random.choice((1, 1, 2, 3)))]
        content = [self.draw_thinking()] if self.odds(3) else []
        if self.odds(2):
            content.append({"type": "text", "text": self.text("first")})
        content += [{"type": "tool_call", "id": id, "name": name, "input": arguments} for id, name, arguments in calls]
        listed = [{"id": id, "tool": name, "arguments": arguments} for id, name, arguments in calls]
        self.write({"role": "assistant", "content": content, "tool_calls": listed})
        results = self.run_tools(calls)
        if self.odds(3):
            self.random.shuffle(results)
        for row in results:
            self.write(row)
        if self.odds(4):
            self.write_reminder()
        if self.odds(6):
            steering = self.text("rather")
            self.log("orchestrator:steering_injected", {"content": steering, "iteration": iteration + 1, "orchestrator": "loop-streaming"})
            self.write({"role": "user", "content": steering})
            self.draft.prompts += 1

    def run_tools(self, calls: list[tuple[str, str, dict[str, Any]]]) -> list[dict[str, Any]]:
        group = f"group-{len(self.events)}"
        runs = [{"parallel_group_id": group, "tool_call_id": id, "tool_input": given, "tool_name": name} for id, name, given in calls]
        for run in runs:
            self.log("tool:pre", run)
        rows = []
        for run in runs:
            text = self.text("output")
            result: Any = {"error": None, "output": {"returncode": 0, "stdout": text}, "success": True}
            if self.odds(6):
                result = {"error": {"message": text}, "output": None, "success": False}
            self.log("tool:post", {**run, "result": result})
            content: Any = json.dumps(result)
            if self.odds(8):
                content = [{"type": "text", "text": content}]
            rows.append({"role": "tool", "name": run["tool_name"], "tool_call_id": run["tool_call_id"], "content": content})
        return rows

    def write_reminder(self) -> None:
        text = self.text("remember")
        shape = self.random.randrange(4)
        if shape == 0:
            self.write({"role": "user", "content": f"<system-reminder>{text}</system-reminder>"})
        elif shape == 1:
            self.write(
                {"role": "user", "content": [{"type": "text", "text": f'<system-reminder source="hooks-todo">{text}</system-reminder>'}]}
            )
        elif shape == 2:
            self.write({"role": "user", "content": f"<system-reminders>{text}</system-reminders>"})
        else:
            metadata = {"source": "hook", "hook_name": "hooks-todo", "event": "tool:post", "timestamp": self.stamp()}
            self.write({"role": "user", "content": text, "metadata": metadata})


def build_session(random: Random) -> Draft:
    """One sound session."""
    return Builder(random).write_session()


def sessions() -> Any:
    """Hypothesis strategy for sound sessions (Draft)."""
    from hypothesis import strategies

    return strategies.randoms(use_true_random=False).map(build_session)
