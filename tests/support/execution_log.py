"""How Amplifier's clients spell what an execution leaves on disk: the event log in its dialects, and the rows of a transcript.

Shapes and their history: sessions that the client wrote in 2026, and logs of older versions. Nothing here knows the doctor.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple

START = 1_785_500_000.0
"""Unix time of the first event: July 2026."""
Row = dict[str, Any]


class Dialect(NamedTuple):
    """What one version of the client writes into its log.

    `start`: "execution" (execution:start), "each" (the same, and a session:start before every execution, February to May 2026), "session"
    (before 2026-01-25: session:start with the prompt and session:end instead of execution:start and execution:end) or "prompt" (loops that
    write neither). `bare`: results are stored as their output alone (before the core was in Rust).
    """

    start: str = "execution"
    request_ids: bool = True
    call_ids: bool = True
    bare: bool = False
    nanoseconds: bool = True
    levels: bool = True
    inner_ids: bool = False
    promotes: bool = True
    cleanups: bool = True
    doubled: bool = False


def draw_dialect(random: Random) -> Dialect:
    age = random.choices(("new", "spring", "winter", "ancient", "basic"), (12, 3, 2, 2, 2))[0]
    doubled = random.random() < 0.12
    if age == "new":
        return Dialect(doubled=doubled, inner_ids=random.random() < 0.2, cleanups=random.random() < 0.8)
    if age == "spring":
        return Dialect("each", False, nanoseconds=False, doubled=doubled)
    if age == "winter":
        return Dialect("session", False, True, True, False, random.random() < 0.5, True, False, False, doubled)
    if age == "ancient":
        return Dialect("session", False, False, True, False, False, True, False, False, doubled)
    return Dialect("prompt", random.random() < 0.5, cleanups=False, doubled=doubled)


class Log:
    """An event log that grows line by line, and the clock."""

    def __init__(self, random: Random, dialect: Dialect, session_id: str, parent_id: str | None) -> None:
        self.random = random
        self.dialect = dialect
        self.session_id = session_id
        self.parent_id = parent_id
        self.time = self.last_time = START
        self.lines: list[bytes] = []
        self.tail = b""
        """A record that was cut short; the next one is glued behind it."""

    def wait(self, seconds: float) -> None:
        self.time += seconds

    def emit(self, name: str, data: Row | None = None, session_id: str = "", level: str = "INFO", **top: Any) -> int:
        """Appends an event; returns its line. `top`: what newer logging hooks promote from the payload to the envelope."""
        self.time += self.random.choice((0.001, 0.002, 0.004, 0.05, 0.3))
        # The time is taken when the event is emitted: parallel tools are written in another order than they began.
        early = self.random.random() / 5000 if name == "tool:pre" else 0.0
        owner = session_id or self.session_id
        payload = {"parent_id": self.parent_id if not session_id else self.session_id, **(data or {})}
        record: Row = {"ts": self.stamp(early)}
        if self.dialect.levels:
            record["lvl"] = level
        record |= {"schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": name}
        told = {key: value for key, value in top.items() if value is not None}
        if self.dialect.promotes:
            record |= told
        else:
            payload |= told
        if self.dialect.inner_ids:
            payload["session_id"] = owner
        record |= {"session_id": owner, "data": dict(sorted(payload.items()))}
        body = json.dumps(record, ensure_ascii=False).encode()
        self.last_time = self.time
        line = len(self.lines)
        self.lines += [self.tail + body, body] if self.dialect.doubled else [self.tail + body]
        self.tail = b""
        return line

    def tear(self) -> None:
        """The client dies in the middle of a record, of which nothing can be used."""
        body = json.dumps({"ts": self.stamp(), "lvl": "INFO", "event": "content_block:end", "session_id": self.session_id, "data": {}})
        self.tail = body[: self.random.randrange(20, len(body) - 10)].encode()

    def stamp(self, early: float = 0.0) -> str:
        moment = datetime.fromtimestamp(self.time - early, UTC)
        if self.dialect.nanoseconds:
            return f"{moment:%Y-%m-%dT%H:%M:%S.%f}{self.random.randrange(1000):03d}+00:00"
        return moment.isoformat(timespec="milliseconds")

    def read(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines) + self.tail


def stamp_row(log: Log) -> Row:
    return {"timestamp": datetime.fromtimestamp(log.time, UTC).isoformat(timespec="milliseconds")}


def dump_rows(rows: list[Row]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows if row["role"] not in ("system", "developer"))


def load_rows(data: bytes | None) -> list[Row]:
    return [json.loads(line) for line in (data or b"").split(b"\n") if line]


def write_result(result: Row, bare: bool) -> str:
    """A tool result as the loop stores it."""
    if not bare:
        return json.dumps(result)
    output = result["output"]
    if output is not None:
        return json.dumps(output) if isinstance(output, (dict, list)) else str(output)
    if result["success"]:
        return "Success"
    return f"Error: {(result['error'] or {}).get('message', 'Unknown error')}" if result["error"] else "Error: Failed"


def find_refusal(rows: list[Row], patched: set[str]) -> str:
    """What the provider answers to these rows, "" when it takes them. Rows of one role that stand together are one message; results
    without a call are left out by the client, calls in `patched` get a stand-in on the wire."""
    called = {call["id"] for row in rows for call in row.get("tool_calls", ())}
    messages: list[tuple[str, list[str], list[str]]] = []
    for row in rows:
        role = "assistant" if row["role"] == "assistant" else "user"
        if not messages or messages[-1][0] != role:
            messages.append((role, [], []))
        messages[-1][1].extend(call["id"] for call in row.get("tool_calls", ()))
        if row["role"] == "tool" and row["tool_call_id"] in called:
            messages[-1][2].append(row["tool_call_id"])
    for number, (role, _, results) in enumerate(messages):
        calls = messages[number - 1][1] if number else []
        if role == "user":
            for place, found in enumerate(results):
                if found not in calls:
                    return (
                        f"messages.{number}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {found}. Each "
                        "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                    )
                if results.index(found) < place:
                    return (
                        f"messages.{number}.content.{place}: each tool_use must have a single result. Found multiple `tool_result` "
                        f"blocks with id: {found}"
                    )
        answered = messages[number + 1][2] if number + 1 < len(messages) else []
        missing = [found for found in messages[number][1] if found not in answered and found not in patched]
        if missing:
            return (
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. "
                "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            )
    return ""
