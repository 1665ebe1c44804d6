"""One JSON object: a contract, described by `doctor/output/report.schema.json`. Keys may be added; none goes away within a version.

It holds no contents of rows, so it can be kept as a CI artifact; the exception is `fix.diff`, which is there only when asked for.
"""

from __future__ import annotations

import json

from doctor import __version__
from doctor.findings import AppliedFix, Diagnostic, FileReport, FixReport, Interval, Report
from doctor.output.options import Options
from doctor.output.summary import Summary, summarise
from doctor.output.text import escape_in_json, replace_surrogates
from doctor.refusals import WireVerdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

SCHEMA_VERSION = 1


def write_report(report: Report, stream: TextIO, options: Options) -> None:
    """Writes the report as indented JSON, pure ASCII where the stream can't take more."""
    as_utf8 = (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    document = json.dumps(_clean(build_document(report, options)), ensure_ascii=not as_utf8, indent=2)
    stream.write(escape_in_json(document) + "\n")


def build_document(report: Report, options: Options) -> dict[str, Any]:
    """The report as plain dicts and lists."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "command": options.command,
        "summary": _build_summary(summarise(report), len(report.errors)),
        "files": [_build_file(file, options) for file in report.files],
        "errors": [{"path": failure.path, "kind": failure.kind, "message": failure.message} for failure in report.errors],
    }


def _build_summary(summary: Summary, failures: int) -> dict[str, Any]:
    return {
        "files": summary.files,
        "clean": summary.clean,
        "errors": summary.errors,
        "warnings": summary.warnings,
        "infos": summary.infos,
        "failures": failures,
        "safe_fixes": summary.safe_fixes,
        "unsafe_fixes": summary.unsafe_fixes,
        "verdicts": summary.verdicts,
        "codes": {entry.code: entry.count for entry in summary.codes},
    }


def _build_file(file: FileReport, options: Options) -> dict[str, Any]:
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
        "diagnostics": [_build_diagnostic(found, options) for found in file.diagnostics],
        "fix": _build_fix(file.fix, options) if file.fix is not None else None,
    }


def _build_diagnostic(found: Diagnostic, options: Options) -> dict[str, Any]:
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
        "before": [_build_diagnostic(found, options) for found in done.before],
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


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
