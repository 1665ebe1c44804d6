"""The parts of a drawn Amplifier session: turns, their rows, and a defect planted in one of them."""

from __future__ import annotations

import functools
import json
import random
from datetime import UTC, datetime
from typing import Any, NamedTuple

DEFECTS = {
    "missing": "AD301",
    "orphan": "AD302",
    "displaced": "AD303",
    "duplicate": "AD304",
    "shadowed": "AD305",
    "early": "AD307",
}
"""Kind of a planted defect, and the code that must report it."""

PLACEHOLDER = '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}'
TEXT = (
    "the parser reads a block and keeps its offset so that nothing is held twice in memory while the index grows by one entry per line "
    "return value for name in sorted(table): if not found raise ValueError(\"no such key\") else: print(f'{name!r}')\n def apply(self, "
    'edits): """Replace lines."""\n\tself.count += 1 # why: the list is short\n error: cannot open \'C:\\\\temp\\\\file\' (code 2)\n '
    "größer naïve café 東京 → ✓ 🚀 λ price 12.50 € tests passed 211 failed 0 skipped 4 in 3.2 s\n"
)


class Planted(NamedTuple):
    """One defect in the written file: the code that must report it, and the 0-based line of the row that it is about."""

    code: str
    line: int


class Step(NamedTuple):
    """One assistant message with calls, and the results of the calls in call order."""

    call: dict[str, Any]
    results: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]


class Turn(NamedTuple):
    prompt: dict[str, Any]
    steps: list[Step]
    reply: dict[str, Any]


@functools.cache
def draw_pool() -> str:
    """The text that all texts are cut from. One for all seeds: drawing it anew would take most of the time of a small session."""
    chooser = random.Random("words")
    words = TEXT.split(" ")
    return " ".join(chooser.choice(words) for _ in range(40_000))


class Writer:
    """Draws the parts of a session from one seeded source."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.session_id = self.draw_uuid()
        self.milliseconds = 1_785_500_000_000
        self.number = 0
        self.pool = draw_pool()

    def draw_uuid(self) -> str:
        digits = f"{self.random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def draw_text(self, middle: int, longest: int) -> str:
        """A text of about `middle` characters, log-normally spread, at most `longest`. No two texts are equal: each has a number."""
        length = min(longest, max(24, int(self.random.lognormvariate(0, 0.8) * middle)))
        start = self.random.randrange(len(self.pool) - longest)
        self.number += 1
        return f"{self.number}. {self.pool[start : start + length]}."

    def stamp(self, nanoseconds: bool = False) -> str:
        """The next moment, as the store writes it (milliseconds) or as the event log does."""
        self.milliseconds += self.random.randrange(2, 900)
        seconds, rest = divmod(self.milliseconds, 1000)
        text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{text}.{rest:03d}{self.random.randrange(10**6):06d}+00:00" if nanoseconds else f"{text}.{rest:03d}+00:00"

    def mark(self) -> dict[str, Any]:
        return {"timestamp": self.stamp()}

    def draw_step(self) -> Step:
        calls = []
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            name = self.random.choice(("bash", "read_file", "write_file", "grep"))
            arguments = (
                {"command": self.draw_text(120, 600)}
                if name != "write_file"
                else {"path": "src/a.py", "content": self.draw_text(900, 5000)}
            )
            calls.append((f"toolu_01{self.random.getrandbits(88):022x}", name, arguments))
        content: list[dict[str, Any]] = []
        if self.random.random() < 0.6:
            thinking = self.draw_text(900, 5000)
            content.append(
                {"type": "thinking", "thinking": thinking, "signature": f"{self.random.getrandbits(1600):0400x}", "visibility": "internal"}
            )
        if self.random.random() < 0.7:
            content.append({"type": "text", "text": self.draw_text(250, 1500)})
        content += [{"type": "tool_call", "id": id, "name": name, "input": arguments} for id, name, arguments in calls]
        listed = [{"id": id, "tool": name, "arguments": arguments} for id, name, arguments in calls]
        row = {"role": "assistant", "content": content, "tool_calls": listed, "metadata": self.mark()}
        outcomes = [self.draw_outcome() for _ in calls]
        metadata = self.mark()
        results = [
            {"role": "tool", "name": name, "tool_call_id": id, "content": json.dumps(outcome), "metadata": metadata}
            for (id, name, _), outcome in zip(calls, outcomes, strict=True)
        ]
        return Step(row, results, outcomes)

    def draw_outcome(self) -> dict[str, Any]:
        text = self.draw_text(2700, 16_000)
        return {"error": None, "output": {"returncode": 0, "stderr": "", "stdout": text}, "success": True}

    def draw_turn(self) -> Turn:
        prompt = {"role": "user", "content": self.draw_text(400, 3000), "metadata": self.mark()}
        steps = [self.draw_step() for _ in range(self.random.randrange(2, 6))]
        reply = {"role": "assistant", "content": [{"type": "text", "text": self.draw_text(1500, 6000)}], "metadata": self.mark()}
        return Turn(prompt, steps, reply)


def dump_row(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode()


def list_rows(turn: Turn) -> list[dict[str, Any]]:
    rows = [turn.prompt]
    for step in turn.steps:
        rows += [step.call, *step.results]
    return [*rows, turn.reply]


def draw_ten_rows() -> list[dict[str, Any]]:
    """Three prompts with their replies, then one whose reply needs a tool: row 8 (from 0) is the result."""
    writer = Writer("ten rows")
    rows: list[dict[str, Any]] = []
    for _ in range(3):
        turn = writer.draw_turn()
        rows += [turn.prompt, turn.reply]
    turn = writer.draw_turn()
    step = next(step for step in turn.steps if len(step.results) == 1)
    return [*rows, turn.prompt, step.call, *step.results, turn.reply]


def plant_defect(turn: Turn, kind: str) -> tuple[list[dict[str, Any]], int]:
    """The rows of the turn with one defect in it, and the index of the row that the defect is about."""
    first, second = turn.steps[0], turn.steps[1]
    result = first.results[0]
    rows = list_rows(turn)
    place = rows.index(result)
    behind = rows.index(second.results[-1]) + 1
    if kind == "missing":
        del rows[place]
        return rows, 1
    if kind == "orphan":
        rows.insert(place + 1, {**result, "tool_call_id": "toolu_nowhere" + result["tool_call_id"][-8:]})
        return rows, place + 1
    if kind == "displaced":
        rows.insert(behind, result)
        del rows[place]
        return rows, behind - 1
    if kind == "duplicate":
        rows.insert(place + 1, {**result, "content": result["content"].replace("0", "1", 1)})
        return rows, place + 1
    if kind == "shadowed":
        rows.insert(behind, result)
        rows[place] = {"role": "tool", "tool_call_id": result["tool_call_id"], "name": result["name"], "content": PLACEHOLDER}
        return rows, place
    del rows[place]
    rows.insert(1, result)
    return rows, 1
