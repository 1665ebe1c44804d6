"""Everything that a rule file imports: `@rule`, the types it reads and yields, and how a row is written in its file's own style."""

# No postponed annotations: see doctor/findings.py.

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from doctor import evidence, examples, moves, placeholders, refusals, resuming, rewrites
from doctor.eventlog import EventLog, Execution, Overlap, Request, ToolRun
from doctor.findings import Confidence, Edit, FileSpan, Finding, Fix, Interval, LineOf, Related, Safety, Severity
from doctor.model import (
    BROKEN_SHAPE,
    DAMAGED_LINE,
    EMPTY_CONTENT,
    MIXED_CONTENT,
    SHARED_LINE,
    SHOWS_PROGRESS,
    SPELLED_AS_BLOCK,
    SPELLED_FOREIGN,
    SPELLED_IN_LIST,
    SPELLINGS_DISAGREE,
    UNSIGNED_THINKING,
    CallPair,
    Message,
    ResultSite,
    ToolCall,
    ToolResult,
    Transcript,
)
from doctor.rewrites import write_row
from doctor.session import Session

__all__ = [
    "BROKEN_SHAPE", "DAMAGED_LINE", "EMPTY_CONTENT", "MIXED_CONTENT", "SHARED_LINE", "SHOWS_PROGRESS", "SPELLED_AS_BLOCK",
    "SPELLED_FOREIGN", "SPELLED_IN_LIST", "SPELLINGS_DISAGREE", "UNSIGNED_THINKING", "CallPair", "Confidence", "Edit", "EventLog",
    "Execution", "FileSpan", "Finding", "Fix", "Interval", "LineOf", "Message", "Overlap", "Related", "Request", "ResultSite", "Rule",
    "Safety", "Session", "Severity", "ToolCall", "ToolResult", "ToolRun", "Transcript", "between", "evidence", "examples", "moves",
    "placeholders", "refusals", "report_problems", "resuming", "rewrites", "row_number", "rule", "short_id", "write_row",
]  # fmt: skip

Example = str | bytes | Mapping[str, str | bytes]
"""A transcript, or several files of a session by name ("transcript.jsonl", "events.jsonl", "transcript.jsonl.backup", "metadata.json")."""


class Rule(NamedTuple):
    """One rule: its metadata, its documentation (the module's docstring), its examples and its check."""

    code: str
    name: str
    severity: Severity
    check: Callable[[Session], Iterable[Finding]]
    bad: Example
    good: Example
    documentation: str
    module: str

    @property
    def summary(self) -> str:
        return self.documentation.strip().splitlines()[0]


def rule(
    *, code: str, name: str, severity: Severity, bad: Example, good: Example
) -> Callable[[Callable[[Session], Iterator[Finding]]], Rule]:
    """Makes a Rule of a check function. `bad` must be reported under this code, `good` must not."""

    def make(check: Callable[[Session], Iterator[Finding]]) -> Rule:
        import sys

        documentation = sys.modules[check.__module__].__doc__ or ""
        return Rule(code, name, severity, check, bad, good, documentation, check.__module__)

    return make


def report_problems(session: Session, kind: str) -> Iterator[Finding]:
    """What the format found wrong with the links between records, under the one rule that reports this kind."""
    for problem in session.transcript.store_problems:
        if problem.kind == kind:
            yield Finding(
                problem.line,
                problem.message,
                None,
                tuple(Related(line, label) for line, label in problem.related),
                problem.ids,
                confidence=Confidence.POSSIBLE if problem.is_doubtful else Confidence.CONFIRMED,
                at_most=Severity.INFO if problem.is_note else None,
                why=problem.why,
            )


def row_number(line: int) -> int:
    """The 1-based number of a line, as people count."""
    return line + 1


def short_id(call_id: str) -> str:
    """An id as people can compare it: whole up to 16 characters, else its ends."""
    return call_id if len(call_id) <= 16 else f"{call_id[:10]}…{call_id[-4:]}"


def between(session: Session, first: int, last: int) -> list[tuple[int, Message]]:
    """The messages strictly between two message indexes."""
    low, high = sorted((first, last))
    return [(index, session.transcript.messages[index]) for index in range(low + 1, high)]


def __getattr__(name: str) -> object:
    """`recovery` is loaded at the first question: hardly any check puts lost rows back."""
    if name == "recovery":
        from importlib import import_module

        return import_module("doctor.recovery")
    raise AttributeError(name)
