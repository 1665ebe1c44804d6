"""Annotations of GitHub Actions: `::error file=…,line=…,col=…,title=…::message`, the worst first.

GitHub renders ten annotations of each kind in a step, whatever is printed beyond them. So the ten worst are kept, and a closing notice
says how many there are besides. Everything that is printed starts with a workflow command of ours, and its text can't start another.
"""

from __future__ import annotations

from doctor.findings import Confidence, Diagnostic, Failure, FileReport, Severity
from doctor.output.headline import SAFETY_WORDS
from doctor.output.places import relate_path
from doctor.output.reporters import Reporter
from doctor.output.reporters.concise import write_finding
from doctor.output.summary import Totals
from doctor.output.text import count_of, cut, join_counts, neutralise, say
from doctor.output.worst import Worst
from doctor.records import Record

KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
MOST = 10
"""Of each kind in a step; of notices one less, for the closing one."""
LONGEST = 4_000
"""Characters of one annotation: GitHub cuts at 64 KiB, readers long before."""


class Annotation(Record):
    """`path` "" is no file of the repository."""

    path: str
    line: int
    title: str
    message: str


class GitHub(Reporter):
    """Nothing at all for a clean run."""

    def begin(self) -> None:
        self.worst: dict[str, Worst[Annotation]] = {kind: Worst(MOST - (kind == "notice")) for kind in KINDS.values()}

    def add(self, file: FileReport) -> None:
        for found in file.diagnostics:
            self.worst[KINDS[found.severity]].add(self._describe(found), 0, int(found.confidence is Confidence.CONFIRMED))

    def fail(self, failure: Failure) -> None:
        path = relate_path(failure.path, self.options.folder)
        self.worst["error"].add(Annotation(path, 0, f"amplifier-doctor: {failure.kind}", neutralise(failure.message)), 1)

    def finish(self, totals: Totals) -> None:
        for kind, worst in self.worst.items():
            for annotation in worst.list_items():
                say(self.stream, write_command(kind, annotation))
        left_out = [(worst.left_out, kind) for kind, worst in self.worst.items()]
        if any(count for count, _ in left_out):
            kept = count_of(totals.files, "session")
            text = f"{kept} checked; not annotated, since GitHub shows {MOST} of each kind a step: {join_counts(left_out)}. "
            text += "Another format lists all: --format concise, or --format sarif:FILE for code scanning."
            say(self.stream, write_command("notice", Annotation("", 0, "amplifier-doctor", text)))

    def _describe(self, found: Diagnostic) -> Annotation:
        path = relate_path(found.path, self.options.folder)
        lines = [write_finding(found, path)]
        if found.why:
            lines.append(f"why: {neutralise(found.why)}")
        if found.fix is not None:
            kind = SAFETY_WORDS[found.fix.safety]
            lines.append(f"fix, {kind}: {neutralise(found.fix.title)}")
        return Annotation(path, found.line, f"{found.code} {found.name}", "\n".join(lines))


REPORTER = GitHub


def write_command(kind: str, annotation: Annotation) -> str:
    """One workflow command on one line."""
    fields = {"title": annotation.title}
    if annotation.path and annotation.path != "-":
        fields = {"file": annotation.path, **({"line": str(annotation.line)} if annotation.line else {}), **fields}
    listed = ",".join(f"{name}={escape_property(value)}" for name, value in fields.items())
    return f"::{kind} {listed}::{escape_data(cut(annotation.message, LONGEST))}"


def escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape_data(neutralise(text)).replace(":", "%3A").replace(",", "%2C")
