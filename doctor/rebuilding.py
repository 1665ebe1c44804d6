"""Rows built anew from the event log: in the client's shape, in the style of their neighbours, and marked with where they come from."""

from __future__ import annotations

import os
from collections.abc import Sequence

from doctor.eventlog import Execution, RecordedCall, RecordedStep
from doctor.findings import Edit
from doctor.placeholders import CONTENT, MARK
from doctor.records import Record
from doctor.rewrites import write_row
from doctor.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Recovery(Record):
    """What to insert. Without edits, `reason` says why nothing can be; `missing` names what the sources don't hold any more."""

    edits: tuple[Edit, ...] = ()
    rows: int = 0
    source: str = ""
    missing: tuple[str, ...] = ()
    reason: str = ""
    ids: frozenset[str] = frozenset()
    """Calls whose rows are put back."""


class Builder:
    """Writes rows in the client's shape and in the style of a neighbouring line, each with the mark of where it comes from."""

    def __init__(self, session: Session, code: str, line: int) -> None:
        self.session = session
        self.code = code
        self.rows: list[bytes] = []
        self.sources: list[int] = []
        self.ids: set[str] = set()
        self._missing: list[str] = []
        count = session.transcript.line_count
        self._like = session.transcript.read_line(min(line, count - 1)) if count else b""

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(self._missing)

    def add_prompt(self, execution: Execution, prompt: str) -> None:
        self._add({"role": "user", "content": prompt}, execution.start_line, execution.start_time)

    def add_step(self, step: RecordedStep) -> None:
        """A row of calls with the results behind it, or a row of text."""
        if step.role == "user":
            self._add({"role": "user", "content": "\n".join(step.texts)}, step.line, step.time)
            return
        if not step.calls:
            self._add({"role": "assistant", "content": _write_texts(step)}, step.line, step.time)
            return
        for call in self.add_call_row(step):
            self._add_result(call)

    def add_call_row(self, step: RecordedStep) -> list[RecordedCall]:
        """The row alone; returns the calls that are in it. A call whose arguments nobody knows is left out."""
        calls = [call for call in step.calls if call.arguments is not None]
        if calls:
            self.ids.update(call.call_id for call in calls)
            blocks = [{"type": "tool_call", "id": call.call_id, "name": call.name, "input": call.arguments} for call in calls]
            listed = [{"id": call.call_id, "tool": call.name, "arguments": call.arguments} for call in calls]
            self._add({"role": "assistant", "content": [*_write_texts(step), *blocks], "tool_calls": listed}, step.line, step.time)
        return calls

    def insert_before(self, line: int, execution: Execution) -> Edit:
        return Edit(line, line, tuple(self.rows), execution.start_line)

    def name_source(self) -> str:
        return name_lines(self.session, self.sources)

    def _add_result(self, call: RecordedCall) -> None:
        recorded = self.session.recorded_result(call.call_id)
        row = {"role": "tool", "name": call.name, "tool_call_id": call.call_id}
        if recorded is not None and not recorded.refusal:
            run = self.session.events.runs[call.call_id] if self.session.events is not None else None
            self._add(row | {"content": recorded.content}, run.end_line if run else -1, run.end_time if run else "")
            return
        why = recorded.refusal if recorded is not None else "the call has no end in the event log"
        self._missing.append(f"the result of {name_call(call)}: {why}")
        mark = {MARK: {"code": self.code, "from": "placeholder"}}
        self.rows.append(write_row(row | {"content": CONTENT, "metadata": mark}, self._like))

    def _add(self, row: dict[str, Any], line: int, time: str) -> None:
        log = self.session.events
        name = os.path.basename(log.path) if log is not None else "events.jsonl"
        metadata: dict[str, Any] = {"timestamp": _cut_fraction(time)} if time else {}
        metadata[MARK] = {"code": self.code, "from": f"{name}:{line + 1}"}
        self.rows.append(write_row(row | {"metadata": metadata}, self._like))
        self.sources.append(line)


def name_call(call: RecordedCall) -> str:
    return f"{call.name} ({call.call_id})"


def name_lines(session: Session, lines: Sequence[int]) -> str:
    name = os.path.basename(session.events.path) if session.events is not None else "events.jsonl"
    return name_span(name, min(lines, default=0), max(lines, default=0))


def name_span(name: str, first: int, last: int) -> str:
    """A line of a file, or several: `events.jsonl:29-31`, counted from 1."""
    return f"{name}:{first + 1}" if first == last else f"{name}:{first + 1}-{last + 1}"


def _write_texts(step: RecordedStep) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text} for text in step.texts]


def _cut_fraction(time: str) -> str:
    """Milliseconds, as the client stamps its rows; newer logs have nine digits."""
    head, dot, rest = time.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    return f"{head}.{rest[:3]}{rest[digits:]}" if dot and digits > 3 else time
