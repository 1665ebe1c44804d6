"""Reports as plain dicts and lists, as JSON and its kin write them: a contract, described by `doctor/output/report.schema.json`.

Keys may be added; none goes away within a version. They hold no contents of rows, so that reports can be kept as CI artifacts; the
exception is `fix.diff`, which is there only when asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from doctor import __version__
from doctor.analysis.wires import CONTRACTS_DATE
from doctor.findings import AppliedFix, Diagnostic, Failure, FileReport, FixReport, Interval
from doctor.fingerprints import fingerprint_all
from doctor.output.options import Options
from doctor.output.summary import Totals
from doctor.output.text import clean_value, escape_in_json, speaks_utf8
from doctor.refusals import WireVerdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

SCHEMA_VERSION = 1


def write_json(value: Any, stream: TextIO, lead: str | None = None) -> str:
    """JSON for a stream: pure ASCII where it can't take more, nothing that acts on a terminal, nothing that strict parsers refuse.

    On one line, or indented with `lead` before every line but the first.
    """
    dump = json.JSONEncoder(ensure_ascii=not speaks_utf8(stream)).encode
    cleaned = clean_value(value)
    return escape_in_json(dump(cleaned) if lead is None else _indent(cleaned, lead, dump))


def _indent(value: Any, lead: str, dump: Callable[[Any], str]) -> str:
    """As `json.dumps(…, indent=2)`, which makes a circle of functions at each call: with the collector off, a run over many sessions
    would keep them all."""
    if not value or not isinstance(value, (dict, list)):
        return dump(value)
    inner = lead + "  "
    if isinstance(value, dict):
        rows = [f"{dump(key)}: {_indent(item, inner, dump)}" for key, item in value.items()]
    else:
        rows = [_indent(item, inner, dump) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(rows) + f"\n{lead}{closing}"


def build_run(options: Options) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "contracts_date": CONTRACTS_DATE,
        "command": options.command,
    }


def build_summary(totals: Totals) -> dict[str, Any]:
    return {
        "files": totals.files,
        "clean": totals.clean,
        "errors": totals.errors,
        "warnings": totals.warnings,
        "infos": totals.infos,
        "accepted": totals.accepted,
        "failures": totals.failures,
        "safe_fixes": totals.safe_fixes,
        "unsafe_fixes": totals.unsafe_fixes,
        "verdicts": totals.verdicts,
        "codes": {entry.code: entry.count for entry in totals.list_codes()},
    }


def build_failure(failure: Failure) -> dict[str, Any]:
    return {"path": failure.path, "kind": failure.kind, "message": failure.message}


def build_file(file: FileReport, options: Options) -> dict[str, Any]:
    """A file with all its findings."""
    return {
        **build_head(file),
        "diagnostics": build_diagnostics(file.diagnostics, options),
        "accepted": build_diagnostics(file.accepted, options),
        "fix": _build_fix(file.fix, options) if file.fix is not None else None,
    }


def build_head(file: FileReport) -> dict[str, Any]:
    """A file without its findings."""
    return {
        "path": file.path,
        "format": file.format,
        "session_id": file.session_id,
        "verdict": file.verdict,
        "wires": {one.wire: _build_answer(one) for one in file.wires},
        "targets": list(file.targets),
        "aim": file.aim or None,
        "model": file.model or None,
        "rows": file.rows,
        "events_path": file.events_path or None,
        "event_lines": file.event_lines,
        "liveness": file.liveness or None,
    }


def build_diagnostics(found: Sequence[Diagnostic], options: Options) -> list[dict[str, Any]]:
    marks = fingerprint_all(found)
    return [_build_diagnostic(one, mark, options) for one, mark in zip(found, marks, strict=True)]


def _build_diagnostic(found: Diagnostic, mark: str, options: Options) -> dict[str, Any]:
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity.value,
        "confidence": found.confidence.value,
        "message": found.message,
        "path": found.path,
        "line": found.line,
        "column": found.column if found.line else 0,
        "byte_offset": found.byte_offset,
        "ids": list(found.ids),
        "related": [{"path": row.path, "line": row.line, "message": row.label, "role": row.role} for row in found.related],
        "wires": dict(found.wires),
        "why": found.why or None,
        "intervals": [_build_interval(interval, options) for interval in found.intervals],
        "fix": {"safety": found.fix.safety.name.lower(), "summary": found.fix.title} if found.fix is not None else None,
        "fingerprint": mark,
    }


def _build_answer(verdict: WireVerdict) -> dict[str, Any]:
    """The first violation is what the provider would answer; a mere doubt says on what it depends."""
    first = verdict.violations[0] if verdict.violations else None
    return {
        "answer": verdict.answer,
        "rule": first.rule if first is not None else None,
        "text": first.text or None if first is not None else None,
        "lines": [line + 1 for line in first.lines] if first is not None else [],
        "depends": first.depends or None if first is not None else None,
        "violations": len(verdict.violations),
    }


def _build_interval(interval: Interval, options: Options) -> dict[str, Any]:
    return {
        "label": interval.label if options.excerpt else "",
        "start_line": interval.start_line + 1,
        "end_line": interval.end_line + 1 if interval.end_line >= 0 else None,
        "start_time": interval.start_time or None,
        "end_time": interval.end_time or None,
        "note": interval.note or None,
    }


def _build_fix(done: FixReport, options: Options) -> dict[str, Any]:
    built: dict[str, Any] = {
        "changed": done.changed,
        "applied": [_build_applied(fix) for fix in done.applied],
        "held_back": [_build_applied(fix) for fix in done.held_back],
        "written": done.written or None,
        "backup": done.backup or None,
        "receipt": done.receipt or None,
        "quarantine": done.quarantine or None,
        "warning": done.warning or None,
        "before": build_diagnostics(done.before, options),
    }
    if options.show_diff:
        built["diff"] = done.diff
    return built


def _build_applied(fix: AppliedFix) -> dict[str, Any]:
    return {
        "code": fix.code,
        "summary": fix.title,
        "safety": fix.safety.name.lower(),
        "round": fix.round,
        "source": fix.source or None,
        "recoverable": fix.recoverable,
        "missing": list(fix.missing),
    }
