"""All that an event log holds of one execution, for putting lost rows back: the prompt, the calls, the texts beside and behind them.

Read only when it is asked for: from the byte of the execution's start to its end. Long lines of other kinds are passed over by their first
bytes. Executions have no id, so while several run at once only what a call id or the prompt's own words tie to this one is taken.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

from doctor.eventlog import EventLog, Execution, RecordedCall, RecordedStep, RecordedTurn, ToolRun
from doctor.jsontext import read_json
from doctor.sources.events.damage import JsonObject, find_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEAD_BYTES = 4_096
MOST_AFTER = 10_000
"""Lines behind the end of an execution that are searched for the reply that the client reports for it."""
STARTS = frozenset(("execution:start", "prompt:submit"))
WANTED = STARTS | {"content_block:end", "tool:pre", "llm:response", "prompt:complete", "orchestrator:steering_injected"}
_NAME = re.compile(rb'"event": ?"([^"\\]{1,80})"')


def read_turn(log: EventLog, execution: Execution) -> RecordedTurn:
    """What the log holds of an execution. Redacted values are left out and named in `missing`."""
    reader = _Reader(log, execution)
    for line, raw in _read_lines(log, execution):
        if line > reader.last + MOST_AFTER or any(reader.take(row, line, text) for row, text in _parse_line(raw)):
            break
    return reader.finish()


def _read_lines(log: EventLog, execution: Execution) -> Iterator[tuple[int, bytes]]:
    """(line index, bytes) from the start of the execution on; each line once, however often the hook wrote it."""
    seen: set[int] = set()
    with log.source.open() as stream:
        stream.seek(execution.offset)
        for line, raw in enumerate(stream, execution.start_line):
            name = _NAME.search(raw, 0, HEAD_BYTES)
            if name is not None and len(raw) > HEAD_BYTES and name[1].decode("ascii", "replace") not in WANTED:
                continue
            key = hash(raw)
            if key not in seen:
                seen.add(key)
                yield line, raw


def _parse_line(raw: bytes) -> list[tuple[JsonObject, bytes]]:
    """The events on a line. Not orjson: it turns integers beyond 64 bits into floats."""
    try:
        row = read_json(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return [(found.row, raw[found.start : found.stop]) for found in find_records(raw.rstrip(b"\r\n"))]
    return [(row, raw)] if isinstance(row, dict) else []


class _Message:
    """One assistant message, put together from its content blocks. `None` stands for a block that can't be used."""

    def __init__(self, line: int, time: str, total: Any) -> None:
        self.line = line
        self.time = time
        self.total = total
        self.blocks: list[JsonObject | None] = []
        self.seen: list[Any] = []

    def list_calls(self) -> list[JsonObject]:
        return [block for block in self.blocks if block is not None and block.get("type") in ("tool_call", "tool_use")]

    def read_texts(self) -> tuple[str, ...]:
        texts = [block.get("text") for block in self.blocks if block is not None and block.get("type") == "text"]
        return tuple(text for text in texts if isinstance(text, str) and text)


class _Reader:
    def __init__(self, log: EventLog, execution: Execution) -> None:
        self.log = log
        self.execution = execution
        self.last = max(execution.end_line, execution.last_line)
        self.runs = {run.call_id: run for run in log.runs.values() if run.execution == execution.start_line}
        self.is_alone = not any(_meet(execution, other) for other in log.executions if other is not execution)
        later = [other.start_line for other in log.executions if other.start_line > execution.start_line]
        self.stop = min(later, default=log.line_count) if self.is_alone else log.line_count
        """Where the next execution begins: a turn that was cut off has no end to stop at."""
        self.session_id: Any = None
        self.prompt: str | None = None
        self.messages: list[_Message] = []
        self.raw_messages: list[_Message] = []
        self.steered: list[RecordedStep] = []
        self.inputs: dict[str, JsonObject] = {}
        self.places: dict[str, tuple[int, str]] = {}
        self.reply: tuple[int, str, str] | None = None
        self.missing: list[str] = []

    def take(self, row: JsonObject, line: int, raw: bytes) -> bool:
        """Takes an event; True when nothing of this execution can follow."""
        name, data = row.get("event"), row.get("data")
        data = data if isinstance(data, dict) else {}
        session_id = row.get("session_id") or data.get("session_id")
        if self.prompt is None:
            self.session_id = session_id
            self._take_prompt(data, _is_redacted(row, data, raw), line)
            return False
        if session_id and self.session_id and session_id != self.session_id:
            return False
        if name in STARTS:
            return line > self.last and name == "execution:start" and (self.reply is not None or not self.execution.response)
        redacted = _is_redacted(row, data, raw)
        if name == "content_block:end" and line < self.stop:
            self._take_block(row, data, redacted, line)
        elif name == "tool:pre":
            self._take_call(row, data, redacted, line)
        elif name == "llm:response" and self.is_alone and line <= self.last and not redacted:
            self._take_response(row, data, line)
        elif name == "orchestrator:steering_injected" and line <= self.last:
            self._take_steering(row, data, redacted, line)
        elif name == "prompt:complete" and self.prompt and data.get("prompt") == self.prompt:
            self._take_reply(row, data, redacted, line)
            return line > self.last
        return False

    def _name_place(self, line: int) -> str:
        return f"{os.path.basename(self.log.path)}:{line + 1}"

    def _take_prompt(self, data: JsonObject, redacted: bool, line: int) -> None:
        prompt = data.get("prompt")
        self.prompt = prompt if isinstance(prompt, str) and not redacted and _is_sound(prompt) else ""
        if not self.prompt:
            how = "redacted" if redacted else "not whole" if isinstance(prompt, str) and prompt else "not recorded"
            self.missing.append(f"the prompt is {how} in {self._name_place(line)}")

    def _take_block(self, row: JsonObject, data: JsonObject, redacted: bool, line: int) -> None:
        """Blocks of one message come one after the other, counted from 0."""
        index, total, block = data.get("block_index"), data.get("total_blocks"), data.get("block")
        current = self.messages[-1] if self.messages else None
        if current is not None and isinstance(index, int) and 0 <= index < len(current.seen) and current.seen[index] == block:
            return  # another hook wrote it a second time
        if current is None or not isinstance(index, int) or index != len(current.seen) or total != current.total:
            current = _Message(line, _read_time(row), total)
            current.seen = [None] * index if isinstance(index, int) and 0 < index < 1_000 else []
            self.messages.append(current)
        current.seen.append(block)
        is_usable = isinstance(block, dict) and not redacted and _is_sound(block)
        current.blocks.append(block if is_usable else None)
        if not is_usable and (not isinstance(block, dict) or block.get("type") == "text") and self.is_alone:
            how = "redacted" if redacted else "not whole"
            self.missing.append(f"a text of the assistant is {how} in {self._name_place(line)}")
        elif isinstance(block, dict) and "thinking" in str(block.get("type")) and self.is_alone:
            self.missing.append(f"the thinking in {self._name_place(line)} is not put back")

    def _take_call(self, row: JsonObject, data: JsonObject, redacted: bool, line: int) -> None:
        call_id = data.get("tool_call_id")
        call_id = str(call_id) if isinstance(call_id, (str, int)) else ""
        if call_id not in self.runs:
            return
        self.places.setdefault(call_id, (line, _read_time(row)))
        given = next((data[key] for key in ("tool_input", "arguments", "input") if key in data), None)
        if isinstance(given, dict) and not redacted and _is_sound(given):
            self.inputs.setdefault(call_id, given)

    def _take_response(self, row: JsonObject, data: JsonObject, line: int) -> None:
        """A log that keeps the provider's raw answer holds its blocks there (Anthropic's form)."""
        answer = data.get("raw")
        content = answer.get("content") if isinstance(answer, dict) else None
        if isinstance(content, list) and content and all(isinstance(block, dict) for block in content):
            message = _Message(line, _read_time(row), len(content))
            message.blocks = [block if _is_sound(block) else None for block in content]
            self.raw_messages.append(message)

    def _take_steering(self, row: JsonObject, data: JsonObject, redacted: bool, line: int) -> None:
        text = data.get("content")
        if isinstance(text, str) and text and self.is_alone and not redacted and _is_sound(text):
            self.steered.append(RecordedStep(line, _read_time(row), (text,), (), "user"))
        elif self.is_alone:
            self.missing.append(f"a message sent while tools ran is redacted or not whole in {self._name_place(line)}")

    def _take_reply(self, row: JsonObject, data: JsonObject, redacted: bool, line: int) -> None:
        reply = data.get("response")
        if isinstance(reply, str) and reply.strip() and self.reply is None:
            usable = not redacted and _is_sound(reply)
            self.reply = (line, _read_time(row), reply if usable else "")

    def finish(self) -> RecordedTurn:
        steps: list[RecordedStep] = []
        texts: list[RecordedStep] = []
        known: set[str] = set()
        for message in self.messages or self.raw_messages:
            calls = message.list_calls()
            if not calls and message.read_texts():
                texts.append(RecordedStep(message.line, message.time, message.read_texts(), ()))
            elif any(block.get("id") in self.runs for block in calls) or (calls and self.is_alone):
                step = self._build_step(message, calls, known)
                known.update(call.call_id for call in step.calls)
                if step.calls:
                    steps.append(step)
        for runs in self._group_runs(known):
            found = tuple(self._build_call(run, None) for run in runs)
            steps.append(RecordedStep(found[0].line, found[0].time, (), found))
        steps += [*texts, *self.steered] if self.is_alone else []
        steps.sort(key=lambda step: step.line)
        steps += self._find_reply(steps, texts)
        for step in steps:
            self.missing += [
                f"the call of {call.name} ({call.call_id}): its arguments are not in {self._name_place(call.line)}, or redacted"
                for call in step.calls
                if call.arguments is None
            ]
        return RecordedTurn(self.prompt or "", tuple(steps), tuple(dict.fromkeys(self.missing)))

    def _find_reply(self, steps: list[RecordedStep], texts: list[RecordedStep]) -> list[RecordedStep]:
        """The closing reply, where the blocks did not give it away: by the words that the client reports for this prompt."""
        if self.reply is None or (steps and not steps[-1].calls and steps[-1].role == "assistant"):
            return []
        line, time, reply = self.reply
        if not reply:
            self.missing.append(f"the reply is redacted in {self._name_place(line)}")
            return []
        place = next((text for text in texts if text.texts == (reply,)), None)
        return [place or RecordedStep(line, time, (reply,), ())]

    def _build_step(self, message: _Message, blocks: list[JsonObject], known: set[str]) -> RecordedStep:
        calls = []
        for block in blocks:
            call_id, name = block.get("id"), block.get("name")
            if not isinstance(call_id, str) or not call_id or not isinstance(name, str) or not name or call_id in known:
                continue
            given = next((block[key] for key in ("arguments", "input") if isinstance(block.get(key), dict)), None)
            run = self.runs.get(call_id)
            if run is not None:
                calls.append(self._build_call(run, given))
            elif call_id not in self.log.runs:
                calls.append(RecordedCall(call_id, name, given, message.line, message.time))
        # A block that can't be used may be a call of the same message, which the tool's own events still hold.
        groups = {self.runs[call.call_id].group for call in calls if call.call_id in self.runs} - {""}
        told = {call.call_id for call in calls} | known
        calls += [self._build_call(run, None) for run in self.runs.values() if run.group in groups and run.call_id not in told]
        return RecordedStep(message.line, message.time, message.read_texts(), tuple(calls))

    def _build_call(self, run: ToolRun, given: JsonObject | None) -> RecordedCall:
        line, time = self.places.get(run.call_id, (run.pre_line if run.pre_line >= 0 else run.end_line, run.pre_time or run.end_time))
        return RecordedCall(run.call_id, run.name, given if given is not None else self.inputs.get(run.call_id), line, time)

    def _group_runs(self, known: set[str]) -> list[list[ToolRun]]:
        """The calls of each message by their parallel group, or by the request that they came behind."""
        requests = [request.line for request in self.log.requests if request.execution == self.execution.start_line]
        groups: dict[Any, list[ToolRun]] = {}
        for run in sorted(self.runs.values(), key=lambda run: run.pre_line):
            if run.call_id not in known:
                groups.setdefault(run.group or sum(line < run.pre_line for line in requests), []).append(run)
        return list(groups.values())


def _meet(one: Execution, other: Execution) -> bool:
    """Whether something of the other execution lies between start and end of the first."""
    return other.start_line <= max(one.end_line, one.last_line) and max(other.end_line, other.last_line) >= one.start_line


def _read_time(row: JsonObject) -> str:
    time = row.get("ts") or row.get("timestamp")
    return time if isinstance(time, str) else ""


def _is_redacted(row: JsonObject, data: JsonObject, raw: bytes) -> bool:
    mark = row.get("redaction", data.get("redaction"))
    return b"[REDACTED" in raw or (bool(mark.get("applied")) if isinstance(mark, dict) else bool(mark))


def _is_sound(value: Any) -> bool:
    """Whether a value can stand in a transcript: no half characters, which the client can't save, and no NaN."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError:
        return False
    return True
