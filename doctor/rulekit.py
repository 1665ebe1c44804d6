"""Everything that a rule file imports: `@rule`, the types it reads and yields, and how a row is written in its file's own style."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from doctor import evidence, examples, moves, placeholders, refusals, resuming, rewrites, traits
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
    Message,
    ToolCall,
    ToolResult,
    Transcript,
    Turn,
)
from doctor.pairing import CallPair, ResultSite
from doctor.records import Record
from doctor.rewrites import read_style, write_row
from doctor.session import Session

__all__ = [
    "BROKEN_SHAPE", "DAMAGED_LINE", "EMPTY_CONTENT", "MIXED_CONTENT", "SHARED_LINE", "SHOWS_PROGRESS", "SPELLED_AS_BLOCK",
    "SPELLED_FOREIGN", "SPELLED_IN_LIST", "SPELLINGS_DISAGREE", "UNSIGNED_THINKING", "CallPair", "Confidence", "Edit", "EventLog",
    "Execution", "FileSpan", "Finding", "Fix", "Interval", "LineOf", "Message", "Overlap", "Record", "Related", "Request", "ResultSite",
    "Rule", "RuleOption", "Safety", "Session", "Severity", "ToolCall", "ToolResult", "ToolRun", "Transcript", "Turn", "between",
    "evidence", "examples", "moves", "placeholders", "read_style", "refusals", "report_problems", "resuming", "rewrites", "row_number",
    "rule", "short_id", "traits", "write_row",
]  # fmt: skip

Example = str | bytes | Mapping[str, str | bytes]
"""A transcript, or several files of a session by name ("transcript.jsonl", "events.jsonl", "transcript.jsonl.backup", "metadata.json")."""


class RuleOption(Record):
    """A setting of one rule, `[tool.amplifier-doctor.rules.AD508] harmless = [...]`: a keyword argument of its check function, with `_`
    for `-`. `kind`: "integer", "boolean", "string" or "strings" (a list of them); `choices` are all that a string may be."""

    name: str
    kind: str
    default: bool | int | str | tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None

    @property
    def keyword(self) -> str:
        return self.name.replace("-", "_")


class Rule(Record):
    """One rule: its metadata, its documentation (the module's docstring), its examples and its check."""

    code: str
    name: str
    severity: Severity
    check: Callable[[Session], Iterable[Finding]]
    bad: Example
    good: Example
    documentation: str
    module: str
    options: tuple[RuleOption, ...] = ()
    needs: int = 0
    """The traits (see doctor.traits) of which a session must have one; 0 for a rule that has to look at every session."""

    @property
    def summary(self) -> str:
        return self.documentation.strip().splitlines()[0]


def rule(
    *, code: str, name: str, severity: Severity, bad: Example, good: Example, needs: int = 0, options: tuple[RuleOption, ...] = ()
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Makes a Rule of a check function. `bad` must be reported under this code, `good` must not. A check gets its `options` as keyword
    arguments and needs no defaults for them: those of the options hold. A check that can find nothing in a session without some trait says
    so with `needs`; sessions without it are then passed over."""

    def make(check: Callable[..., Iterator[Finding]]) -> Rule:
        import sys

        module = check.__module__
        made = Rule(code, name, severity, check, bad, good, sys.modules[module].__doc__ or "", module, options, needs)
        return set_options(made, {option.keyword: option.default for option in options})

    return make


def set_options(rule: Rule, values: Mapping[str, object]) -> Rule:
    """The rule with other values for some of its options, by keyword."""
    if not values:
        return rule
    from functools import partial

    return rule._replace(check=partial(rule.check, **values))


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
    """Loaded at the first question: hardly any check puts lost rows back, and few files are chat logs."""
    if name in ("recovery", "replies", "conversations", "notes", "jsontext"):
        from importlib import import_module

        return import_module(f"doctor.{name}")
    raise AttributeError(name)
