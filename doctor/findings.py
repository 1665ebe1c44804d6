"""What the doctor says and what it would do: findings and fixes of rules, diagnostics and reports for people and machines.

A rule yields a Finding and knows neither its code nor its severity; the engine stamps those and makes a Diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum

from doctor.records import Record
from doctor.refusals import WireVerdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Severity(StrEnum):
    """ERROR: a load or a request fails, or work is lost. WARNING: worth a look. INFO: history, or good to know; never an exit code."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        return ("info", "warning", "error").index(self.value)


class Confidence(StrEnum):
    """A `possible` finding is never reported above a warning."""

    CONFIRMED = "confirmed"
    POSSIBLE = "possible"


class Safety(IntEnum):
    """SAFE: every recorded row stays, byte for byte, or is a placeholder, a copy or unreadable and kept in the quarantine.
    UNSAFE: edits inside a recorded row or takes one out. MANUAL: shown only."""

    MANUAL = 0
    UNSAFE = 1
    SAFE = 2


class LineOf(Record):
    """The content of an edit: the bytes of a line that stands elsewhere in the same file."""

    line: int


class FileSpan(Record):
    """The content of an edit: bytes of another file, such as a backup, without a line end."""

    path: str
    offset: int
    length: int


class Rewritten(Record):
    """The content of an edit: a row of the same file as `change` makes it, written when the edit is applied. For fixes of so many rows
    that writing them for a report that nobody acts on would be a waste."""

    line: int
    change: Callable[[dict[str, Any]], dict[str, Any] | None]


Content = bytes | LineOf | FileSpan | Rewritten


class Edit(Record):
    """Replace lines [start, stop) by `contents`. start == stop inserts before line `start`; no contents delete.

    Contents carry no line end: the file's own is added. `order` sorts insertions at the same place; replaced spans must not overlap.
    """

    start: int
    stop: int
    contents: tuple[Content, ...] = ()
    order: int = 0


class Fix(Record):
    """An atomic set of edits. `title` is an imperative for people: "move row 11 behind its call (row 4)"."""

    title: str
    safety: Safety
    edits: tuple[Edit, ...] = ()
    quarantined: tuple[int, ...] = ()
    """Lines whose bytes leave the transcript and go to the quarantine."""
    source: str = ""
    """Where added content comes from: "placeholder", "events.jsonl:29", "transcript.jsonl.backup:7"."""
    recoverable: bool = False
    """`--recover` offers more than this: rows that are lost here can be put back from their sources."""
    missing: tuple[str, ...] = ()
    """What a recovery can't put back, one phrase each."""
    replacements: tuple[Any, ...] = ()
    """The edits as `doctor.repair.replacements.Replacement`s, for reports that spell them out; empty unless asked for."""


class Related(Record):
    """A row that belongs to a finding. `where`: "transcript", "events" or "backup". `label` says what it is: "the real result"."""

    line: int
    label: str
    where: str = "transcript"


class Interval(Record):
    """One bar of a drawing over the event log: an execution or a tool run."""

    label: str
    start_line: int
    end_line: int
    start_time: str
    end_time: str
    note: str = ""


class Finding(Record):
    """What a rule yields. `line` is a 0-based line of the transcript (or of `where`), None for the session as a whole."""

    line: int | None
    message: str
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    ids: tuple[str, ...] = ()
    column: int = 0
    confidence: Confidence = Confidence.CONFIRMED
    at_most: Severity | None = None
    """Lowers the severity, for instance when the damage is history that nothing needs to cure."""
    where: str = "transcript"
    why: str = ""
    """One sentence on how it came about, when the session proves it."""
    intervals: tuple[Interval, ...] = ()
    wires: tuple[tuple[str, str], ...] | None = None
    """(wire, literal text) of the APIs that refuse a request for this; None lets the engine look them up."""


class Excerpt(Record):
    """One row as a person sees it: 1-based line, role, text of at most about 80 characters, and the label of a Related."""

    path: str
    line: int
    role: str
    text: str
    label: str
    primary: bool


class Diagnostic(Record):
    """A finding with everything that the engine adds. Lines and columns are 1-based, `line` 0 means the session as a whole."""

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    path: str
    line: int
    column: int
    byte_offset: int
    ids: tuple[str, ...]
    related: tuple[Excerpt, ...]
    fix: Fix | None
    why: str = ""
    intervals: tuple[Interval, ...] = ()
    wires: tuple[tuple[str, str], ...] = ()
    """(wire, literal text) of the APIs that answer 400 because of this finding. Only sure refusals."""
    judged: Severity | None = None
    """The engine's own severity, where a configuration set another one: the verdict follows this."""

    @property
    def fix_pass(self) -> int:
        return int(self.code[2])


class Failure(Record):
    """Why a path could not be judged or written: one line for people.

    `kind`: unreadable, unwritable, live, changed, rule-crash, internal, usage, refused (a provider would still refuse what is planned),
    killed (the process that did it).
    """

    path: str
    kind: str
    message: str


class AppliedFix(Record):
    """One fix that a plan holds, in the order in which it is applied. `round` counts passes over the file."""

    code: str
    title: str
    safety: Safety
    round: int
    source: str
    recoverable: bool = False
    missing: tuple[str, ...] = ()


class FixReport(Record):
    """What `fix` did or would do to one file."""

    applied: tuple[AppliedFix, ...] = ()
    held_back: tuple[AppliedFix, ...] = ()
    """Fixes that were found but need `--unsafe` or `--recover`, or are only shown."""
    changed: bool = False
    """The planned bytes differ from the file (dry run), or the file was rewritten."""
    written: str = ""
    """The path that was written, "" for a dry run."""
    backup: str = ""
    receipt: str = ""
    quarantine: str = ""
    diff: str = ""
    before: tuple[Diagnostic, ...] = ()
    """What was found before the fix; FileReport.diagnostics then holds what is left."""
    is_stopped: bool = False
    """Something was to be done and could not: the reason is in Report.errors."""
    warning: str = ""
    """What the user should know before going on with the fixed session."""


class FileReport(Record):
    """All that is said about one transcript. `verdict`: resumable, after-fix, not-resumable, live or unknown."""

    path: str
    format: str
    session_id: str
    verdict: str
    rows: int
    diagnostics: tuple[Diagnostic, ...]
    events_path: str = ""
    event_lines: int = 0
    liveness: str = ""
    fix: FixReport | None = None
    wires: tuple[WireVerdict, ...] = ()
    """What each provider API would answer to the file as it is, or as it is planned."""
    targets: tuple[str, ...] = ()
    aim: str = ""
    """The wires that the severities are for, and how they are known: given, recorded or guessed."""
    model: str = ""
    accepted: tuple[Diagnostic, ...] = ()
    """Findings that a baseline accepts. They are not among `diagnostics`: no number and no exit code counts them."""


class Report(Record):
    """One run over any number of paths: all that reporters and the exit code see."""

    files: tuple[FileReport, ...]
    errors: tuple[Failure, ...] = ()

    def count(self, severity: Severity) -> int:
        return sum(1 for file in self.files for found in file.diagnostics if found.severity is severity)
