"""What a play of a session has at hand: chance, the log, the disk, the processes, and what was noted on the way."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.support.execution_log import Log, Row, draw_dialect
from tests.support.execution_parts import Call, Disk, Process, Steps, Turn

KINDS = ("sequential", "crashing", "cancelling", "overlapping", "processes", "mixed", "child")
CRASH_ODDS = {"crashing": 0.012, "mixed": 0.006, "child": 0.008, "overlapping": 0.002, "processes": 0.004}
SECOND_ODDS = {"overlapping": 0.08, "processes": 0.08, "mixed": 0.04}


class Stage:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random = Random(f"execution {seed}")
        self.kind = random.choice(KINDS)
        self.dialect = draw_dialect(random)
        self.is_child = self.kind == "child"
        root = f"{random.getrandbits(32):08x}-2b7a-4c3d-9e5f-0a1b2c3d4e5f"
        self.folder = f"0000000000000000-{random.getrandbits(64):016x}_explorer" if self.is_child else root
        self.log = Log(random, self.dialect, self.folder, root if self.is_child else None)
        self.disk = Disk(random, self.log, self.describe(root))
        self.processes: list[Process] = []
        self.turns: list[Turn] = []
        self.children: dict[str, dict[str, bytes]] = {}
        self.happened: list[str] = []
        self.step = 0
        self.last: Turn | None = None
        self.is_waiting = True
        """Whether the last step left its turn waiting for a provider or a tool: what is not waiting goes on at once."""
        self.number = 0
        self.is_rewound = False
        self.compacts = random.random() < 0.15
        self.hooks = random.random() < 0.2
        self.repairs = random.random() < 0.75
        self.saves_errors = random.random() < 0.5
        self.checkpoints = random.random() < 0.7
        self.left = random.randrange(1, 6) + (2 if self.kind in SECOND_ODDS else 0)

    def describe(self, root: str) -> Row:
        metadata: Row = {"session_id": self.folder, "created": "2026-07-31T12:13:20+00:00", "bundle": "bundle:sample"}
        if not self.is_child:
            return metadata | {"model": "claude-sonnet-4-5", "working_dir": "/home/dev/app"}
        return metadata | {"parent_id": root, "trace_id": root, "agent_name": "explorer", "config": {"session": {"orchestrator": "loop"}}}

    def odds(self, chance: float) -> bool:
        return self.random.random() < chance

    def count(self) -> int:
        self.number += 1
        return self.number

    def note(self, what: str) -> None:
        self.happened.append(what)

    def save(self, process: Process, **told: Any) -> None:
        self.disk.save(process, 0.01 if self.kind in CRASH_ODDS else 0.0, **told)

    def drop(self, rows: list[Row]) -> None:
        """Rows leave a context on purpose."""
        prompts = {row["content"] for row in rows if row["role"] == "user"}
        ids = {call["id"] for row in rows for call in row.get("tool_calls", ())}
        for turn in self.turns:
            if turn.prompt in prompts or any(call.id in ids for call in turn.calls):
                turn.is_dropped = True

    def pause(self) -> Steps:
        self.is_waiting = True
        yield

    def write_id(self) -> str:
        return f"{self.random.getrandbits(32):08x}-{self.random.getrandbits(16):04x}-4c3d-9e5f-{self.random.getrandbits(48):012x}"

    def is_unfinished(self, call: Call) -> bool:
        """Whether a call has no result yet, and somebody who waits for it."""
        return call.stored is None and any(call in turn.calls and turn.is_alive for turn in self.turns)
