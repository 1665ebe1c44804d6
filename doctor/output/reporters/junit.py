"""JUnit XML: a suite for each file, a case for each finding that fails the run, and one passing case for a file without any.

Findings below `--fail-on` are listed in the suite's output, those that a baseline accepts are skipped cases, and a path that could not
be judged is a case in error. Attributes with times are left out: a report of the same files is the same report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from doctor.findings import Diagnostic, Failure, FileReport
from doctor.fingerprints import fingerprint_all
from doctor.output.places import relate_path
from doctor.output.reporters import Reporter
from doctor.output.reporters.concise import write_finding
from doctor.output.spool import Spool
from doctor.output.summary import Totals
from doctor.output.text import neutralise, speaks_utf8
from doctor.output.verdict import describe_verdict

LINE_END = "\n"
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class JUnit(Reporter):
    """The numbers of all suites stand in the first line, so the suites are spooled."""

    def begin(self) -> None:
        self.suites = Spool(self.open_spool())
        self.tests = self.failures = self.errors = self.skipped = 0

    def add(self, file: FileReport) -> None:
        name = relate_path(file.path, self.options.folder)
        failing = [found for found in file.diagnostics if found.severity.rank >= self.options.fail_on.rank]
        others = [found for found in file.diagnostics if found.severity.rank < self.options.fail_on.rank]
        cases = [_write_case(name, found, "failure", mark) for found, mark in zip(failing, fingerprint_all(failing), strict=True)]
        if not failing:
            cases.append(f'    <testcase classname="{_quote(name)}" name="{_quote(describe_verdict(file))}"/>\n')
        cases += [
            _write_case(name, found, "skipped", mark) for found, mark in zip(file.accepted, fingerprint_all(file.accepted), strict=True)
        ]
        self._put(name, cases, failures=len(failing), skipped=len(file.accepted), said=map(write_finding, others))

    def fail(self, failure: Failure) -> None:
        name = relate_path(failure.path, self.options.folder)
        body = f'      <error type="{_quote(failure.kind)}" message="{_quote(failure.message)}"/>\n'
        self._put(name, [f'    <testcase classname="{_quote(name)}" name="{_quote(failure.kind)}">\n{body}    </testcase>\n'], errors=1)

    def finish(self, totals: Totals) -> None:
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n')
        counts = f'tests="{self.tests}" failures="{self.failures}" errors="{self.errors}"'
        self._write(f'<testsuites name="amplifier-doctor {self.options.command}" {counts}>\n')
        self.suites.copy(self.stream)
        self._write("</testsuites>\n")

    def _put(self, name: str, cases: list[str], failures: int = 0, errors: int = 0, skipped: int = 0, said: Iterable[str] = ()) -> None:
        self.tests += len(cases)
        self.failures += failures
        self.errors += errors
        counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
        text = f'  <testsuite name="{_quote(name)}" {counts}>\n{"".join(cases)}'
        lines = LINE_END.join(said)
        if lines:
            text += f"    <system-out>{_quote(lines, LINE_END)}</system-out>\n"
        self.suites.add(self._encode(text + "  </testsuite>\n"))

    def _write(self, text: str) -> None:
        self.stream.write(self._encode(text))

    def _encode(self, text: str) -> str:
        """The declaration says UTF-8, of which ASCII is a part: a stream that takes less gets references."""
        if speaks_utf8(self.stream):
            return text
        return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


REPORTER = JUnit


def _write_case(name: str, found: Diagnostic, kind: str, mark: str) -> str:
    """A case is known from run to run by its name, so it holds the fingerprint rather than the line."""
    title = f"{found.code} {found.name} {mark[:8]}{mark[mark.index(':') :] if not mark.endswith(':1') else ''}"
    lines = [write_finding(found)]
    lines += [f"{wire} answers 400: {neutralise(text)}" for wire, text in found.wires]
    lines += [f"why: {neutralise(found.why)}"] if found.why else []
    lines += [f"fix ({found.fix.safety.name.lower()}): {neutralise(found.fix.title)}"] if found.fix is not None else []
    message = found.message if kind == "failure" else f"accepted by the baseline: {found.message}"
    inner = f'      <{kind} type="{found.code}" message="{_quote(message)}">{_quote(LINE_END.join(lines), LINE_END)}</{kind}>\n'
    return f'    <testcase classname="{_quote(name)}" name="{_quote(title)}">\n{inner}    </testcase>\n'


def _quote(text: str, line_end: str = "&#10;") -> str:
    """Text for an attribute, each of its lines harmless; for an element with plain line ends, which an attribute would lose."""
    # What neutralise escapes are also all characters that XML 1.0 has no way to write, not even as references.
    escaped = line_end.join(re.sub('[&<>"]', lambda found: _MARKUP[found[0]], neutralise(line)) for line in text.split("\n"))
    return escaped.replace("##[", "##&#91;")  # a command to GitHub's runner, wherever it stands in a line
