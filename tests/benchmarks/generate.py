"""Amplifier sessions of a given size, with or without planted defects. Seeded: the same arguments write the same bytes.

    python -m tests.benchmarks.generate session DIR --transcript 200M [--defects 25] [--kinds displaced,missing] [--seed 1]
    python -m tests.benchmarks.generate session DIR --events 1G
    python -m tests.benchmarks.generate corpus DIR --sessions 2000 --transcript 100K --defect-rate 0.05

Shapes follow what Amplifier's session store and its logging hook write: `json.dumps(row, ensure_ascii=False)`, a call both as a block
and in `tool_calls`, a result as the JSON of the tool:post result, and in the event log `data` last with its keys sorted. The lines of
llm:request embed the whole history, so few of them hold nearly all bytes of a log. Prints the planted defects as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

from tests.benchmarks.draw import DEFECTS, Planted, Turn, Writer, dump_row, list_rows, plant_defect

LONGEST_HISTORY = 780_000
SHORTEST_HISTORY = 120_000
"""Bytes of history in a request: it grows to the first number, then compaction cuts it to the second. Median about 450 KB."""


class EventWriter:
    """Writes the event log of the turns that it is shown."""

    def __init__(self, writer: Writer, file: BinaryIO) -> None:
        self.writer = writer
        self.file = file
        self.size = 0
        self.history: deque[bytes] = deque()
        self.history_size = 0

    def write_event(self, event: str, data: dict[str, Any], **promoted: Any) -> None:
        record = {"ts": self.writer.stamp(True), "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": event}
        record["session_id"] = self.writer.session_id
        record |= promoted
        record["data"] = dict(sorted({"parent_id": None, **data}.items()))
        self.write_line(dump_row(record))

    def write_line(self, line: bytes) -> None:
        self.size += self.file.write(line + b"\n")

    def remember(self, row: dict[str, Any]) -> None:
        line = dump_row(row)
        self.history.append(line)
        self.history_size += len(line)
        if self.history_size > LONGEST_HISTORY:
            while self.history_size > SHORTEST_HISTORY:
                self.history_size -= len(self.history.popleft())

    def write_request(self, iteration: int) -> None:
        """The request line is spliced from rows that are JSON already: dumping each of them again would take minutes for a gigabyte."""
        self.write_event("provider:request", {"iteration": iteration, "provider": "anthropic"})
        request_id = self.writer.draw_uuid()
        head = (
            f'{{"ts": "{self.writer.stamp(True)}", "lvl": "INFO", "schema": {{"name": "amplifier.log", "ver": "1.0.0"}}, '
            f'"event": "llm:request", "request_id": "{request_id}", "session_id": "{self.writer.session_id}", '
            f'"data": {{"has_system": true, "message_count": {len(self.history)}, "model": "claude-sonnet-4-5", "parent_id": null, '
            f'"provider": "anthropic", "raw": {{"model": "claude-sonnet-4-5", "messages": ['
        )
        self.write_line(head.encode() + b", ".join(self.history) + b']}, "thinking_budget": null, "thinking_enabled": false}}')
        usage = {"input_tokens": self.history_size // 4, "output_tokens": 300, "cost_usd": "0.0123"}
        response = {"model": "claude-sonnet-4-5", "provider": "anthropic", "usage": usage}
        self.write_event("llm:response", response, duration_ms=900, request_id=request_id, status="ok")

    def write_blocks(self, row: dict[str, Any]) -> None:
        total = len(row["content"])
        for index, block in enumerate(row["content"]):
            self.write_event(
                "content_block:start", {"block_index": index, "block_type": block["type"], "metadata": None, "total_blocks": total}
            )
            self.write_event("content_block:end", {"block": block, "block_index": index, "total_blocks": total})

    def write_turn(self, turn: Turn) -> None:
        prompt = turn.prompt["content"]
        self.write_event("prompt:submit", {"prompt": prompt})
        self.write_event("execution:start", {"prompt": prompt})
        self.remember(turn.prompt)
        for iteration, step in enumerate(turn.steps, 1):
            self.write_request(iteration)
            self.write_blocks(step.call)
            group = self.writer.draw_uuid()
            runs = [
                {"parallel_group_id": group, "tool_call_id": call["id"], "tool_input": call["arguments"], "tool_name": call["tool"]}
                for call in step.call["tool_calls"]
            ]
            for run in runs:
                self.write_event("tool:pre", run)
            for run, outcome in zip(runs, step.outcomes, strict=True):
                self.write_event("tool:post", {**run, "result": outcome})
            for row in (step.call, *step.results):
                self.remember(row)
        self.write_request(len(turn.steps) + 1)
        self.write_blocks(turn.reply)
        self.remember(turn.reply)
        self.write_event("execution:end", {})
        self.write_event("orchestrator:complete", {"orchestrator": "loop-streaming", "turn_count": len(turn.steps) + 1}, status="success")
        self.write_event("prompt:complete", {"prompt": prompt, "response": turn.reply["content"][0]["text"]})


def _make_writer(folder: str, seed: str) -> Writer:
    """A writer whose session is called like its folder, as the client has it: another name would be one more finding to draw."""
    writer = Writer(seed)
    writer.session_id = os.path.basename(os.path.abspath(folder))
    return writer


def write_metadata(folder: str, writer: Writer, turns: int) -> None:
    metadata = {
        "session_id": writer.session_id,
        "created": "2026-07-31T12:13:20.000000+00:00",
        "bundle": "bundle:sample",
        "model": "claude-sonnet-4-5",
        "turn_count": turns,
        "working_dir": "/home/dev/project",
    }
    with open(os.path.join(folder, "metadata.json"), "w", encoding="utf-8") as file:
        json.dump(metadata, file, indent=2)


def write_session(
    folder: str, transcript_size: int, *, seed: str = "1", defects: int = 0, kinds: tuple[str, ...] = tuple(DEFECTS)
) -> list[Planted]:
    """Writes transcript.jsonl of about `transcript_size` bytes and metadata.json; defects are spread evenly, kinds taken in turn."""
    os.makedirs(folder, exist_ok=True)
    writer = _make_writer(folder, seed)
    planted: list[Planted] = []
    size = line = turns = 0
    with open(os.path.join(folder, "transcript.jsonl"), "wb") as file:
        while size < transcript_size or len(planted) < defects:
            turn = writer.draw_turn()
            if len(planted) < defects and size >= transcript_size * (len(planted) + 0.5) / defects * 0.9:
                kind = kinds[len(planted) % len(kinds)]
                rows, index = plant_defect(turn, kind)
                planted.append(Planted(DEFECTS[kind], line + index))
            else:
                rows = list_rows(turn)
            for row in rows:
                size += file.write(dump_row(row) + b"\n")
            line += len(rows)
            turns += 1
    write_metadata(folder, writer, turns)
    return planted


def write_logged_session(folder: str, events_size: int, *, seed: str = "1") -> None:
    """Writes a sound session with an event log of about `events_size` bytes, and the transcript that belongs to it."""
    os.makedirs(folder, exist_ok=True)
    writer = _make_writer(folder, seed)
    turns = 0
    with open(os.path.join(folder, "transcript.jsonl"), "wb") as file, open(os.path.join(folder, "events.jsonl"), "wb") as log:
        events = EventWriter(writer, log)
        events.write_event("session:start", {})
        while events.size < events_size:
            turn = writer.draw_turn()
            events.write_turn(turn)
            file.writelines(dump_row(row) + b"\n" for row in list_rows(turn))
            turns += 1
        events.write_event("session:end", {})
    write_metadata(folder, writer, turns)


def write_corpus(
    folder: str, sessions: int, transcript_size: int, *, defect_rate: float = 0.0, seed: str = "1"
) -> Iterator[tuple[str, list[Planted]]]:
    """Writes many sessions under one folder, a share of them with one defect, and yields (path of the transcript, defects)."""
    chooser = random.Random(f"corpus {seed}")
    kinds = tuple(DEFECTS)
    for number in range(sessions):
        broken = chooser.random() < defect_rate
        kind = chooser.choice(kinds)
        name = Writer(f"{seed}.{number}").session_id
        path = os.path.join(folder, "-home-dev-project", "sessions", name)
        planted = write_session(path, transcript_size, seed=f"{seed}.{number}", defects=int(broken), kinds=(kind,))
        yield os.path.join(path, "transcript.jsonl"), planted


def read_size(text: str) -> int:
    """Bytes of "100K", "20M" or "1G" (powers of ten, as the bars are written)."""
    factor = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:].upper(), 1)
    return int(float(text.rstrip("KMGkmg")) * factor)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes Amplifier sessions of a given size.")
    commands = parser.add_subparsers(dest="command", required=True)
    session = commands.add_parser("session", help="one session")
    session.add_argument("folder")
    session.add_argument("--events", type=read_size, help="size of the event log; the transcript follows from it")
    session.add_argument("--defects", type=int, default=0)
    session.add_argument("--kinds", default=",".join(DEFECTS))
    corpus = commands.add_parser("corpus", help="many sessions")
    corpus.add_argument("folder")
    corpus.add_argument("--sessions", type=int, default=2000)
    corpus.add_argument("--defect-rate", type=float, default=0.05)
    for command in (session, corpus):
        command.add_argument("--transcript", type=read_size, default=100_000)
        command.add_argument("--seed", default="1")
    wanted = parser.parse_args()
    planted: dict[str, list[Planted]] = {}
    if wanted.command == "corpus":
        written = write_corpus(wanted.folder, wanted.sessions, wanted.transcript, defect_rate=wanted.defect_rate, seed=wanted.seed)
        planted = {path: defects for path, defects in written if defects}
    elif wanted.events:
        write_logged_session(wanted.folder, wanted.events, seed=wanted.seed)
    else:
        kinds = tuple(wanted.kinds.split(","))
        planted = {wanted.folder: write_session(wanted.folder, wanted.transcript, seed=wanted.seed, defects=wanted.defects, kinds=kinds)}
    print(json.dumps(planted, indent=1))


if __name__ == "__main__":
    main()
