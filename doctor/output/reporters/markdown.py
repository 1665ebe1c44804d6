"""A page for the summary of a CI job: the numbers, the codes, and the worst sessions, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.findings import Diagnostic, Failure, FileReport, Severity
from doctor.output.places import relate_path
from doctor.output.reporters import Reporter
from doctor.output.summary import Totals, is_clean
from doctor.output.text import count_of, cut, join_counts, neutralise, say
from doctor.records import Record

MOST_SESSIONS = 50
MOST_FINDINGS = 5
"""Of one session. GitHub refuses a summary of more than 1 MiB; a page this long is 200 KiB at most."""
MOST_FAILURES = 20
LONGEST = 300


class Row(Record):
    """One session as the page shows it."""

    path: str
    verdict: str
    counts: str
    findings: tuple[str, ...]
    more: int


class Markdown(Reporter):
    """GitHub's dialect, with everything that a transcript says escaped."""

    def begin(self) -> None:
        from doctor.output.worst import Worst

        self.sessions: Worst[Row] = Worst(MOST_SESSIONS)
        self.failures: Worst[str] = Worst(MOST_FAILURES)

    def add(self, file: FileReport) -> None:
        changed = file.fix is not None and file.fix.changed
        if is_clean(file) and not changed and file.verdict in ("resumable", "live"):
            return
        counts = {severity: sum(1 for found in file.diagnostics if found.severity is severity) for severity in Severity}
        self.sessions.add(self._describe(file, counts), *counts.values())

    def fail(self, failure: Failure) -> None:
        self.failures.add(f"* {escape(cut(failure.message, LONGEST))}")

    def finish(self, totals: Totals) -> None:
        for line in (*self._write_numbers(totals), *self._write_codes(totals), *self._write_sessions(), *self._write_failures()):
            say(self.stream, line)

    def _describe(self, file: FileReport, counts: dict[Severity, int]) -> Row:
        listed = sorted(file.diagnostics, key=lambda found: -found.severity.rank)
        said = [
            f"{found.severity.value} **{found.code}**{_name_row(found, file)} {escape(cut(found.message, LONGEST))}"
            for found in listed[:MOST_FINDINGS]
        ]
        if file.fix is not None and file.fix.changed:
            verb = "would apply" if self.options.dry_run else "applied"
            said.insert(0, f"{verb} {count_of(len(file.fix.applied), 'fix')}")
        numbers = join_counts([(number, severity.value) for severity, number in counts.items()], "-")
        path = relate_path(file.path, self.options.folder)
        return Row(escape(path), file.verdict, numbers, tuple(said), len(listed) - MOST_FINDINGS)

    def _write_numbers(self, totals: Totals) -> Iterator[str]:
        damaged = totals.files - totals.clean
        said = "could not do all of it" if totals.failures else f"findings in {count_of(damaged, 'session')}" if damaged else "clean"
        yield f"## amplifier-doctor {self.options.command}: {said}"
        yield ""
        parts = [f"{count_of(totals.files, 'session')}, {totals.clean:,} clean"]
        parts.append(join_counts([(totals.errors, "error"), (totals.warnings, "warning"), (totals.infos, "note")]))
        if self.options.command == "fix" and totals.changed:
            parts.append(f"{count_of(totals.changed, 'file')} {'would change' if self.options.dry_run else 'rewritten'}")
        parts.append(f"{totals.accepted:,} accepted by the baseline" if totals.accepted else "")
        parts.append(f"{count_of(totals.failures, 'path')} could not be judged" if totals.failures else "")
        yield " · ".join(part for part in parts if part)

    def _write_codes(self, totals: Totals) -> Iterator[str]:
        codes = totals.list_codes()
        if codes:
            yield from ("", "| code | finding | severity | how often | sessions | safe fixes |", "|---|---|---|--:|--:|--:|")
        for entry in codes:
            numbers = f"{entry.count:,} | {entry.files:,} | {entry.safe_fixes:,}"
            yield f"| {entry.code} | {entry.name} | {entry.severity.value} | {numbers} |"

    def _write_sessions(self) -> Iterator[str]:
        rows = self.sessions.list_items()
        if rows:
            yield from ("", "| session | verdict | findings | the worst |", "|---|---|---|---|")
        for row in rows:
            more = (f"{row.more} more",) if row.more > 0 else ()
            yield f"| {row.path} | {row.verdict} | {row.counts} | {'<br>'.join((*row.findings, *more))} |"
        if self.sessions.left_out:
            yield from ("", f"and {count_of(self.sessions.left_out, 'session')} more; --format concise lists all findings")

    def _write_failures(self) -> Iterator[str]:
        listed = self.failures.list_items()
        if listed:
            yield from ("", "**Could not be judged**", "", *listed)
        if self.failures.left_out:
            yield f"* and {self.failures.left_out:,} more"


REPORTER = Markdown


def _name_row(found: Diagnostic, file: FileReport) -> str:
    if not found.line:
        return ""
    return f" {'row' if found.path == file.path else 'event' if found.path == file.events_path else 'line'} {found.line}:"


def escape(text: str) -> str:
    """Text that means nothing to Markdown and HTML: no link, no image, no table cell, no tag, no formula."""
    return re.sub(r"[\\`*_\[\]#|~@$:&<>]|(?<=www)\.", _escape, neutralise(text))


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    # Entities where a backslash would not do: addresses are linked in text that is unescaped already.
    return f"&#{ord(character)};" if character in "@:#&<>|." else "\\" + character
