"""Takes what users and tools wrote out of a report, for logs that others read (`--no-excerpt`). Reporters need not know of it."""

from __future__ import annotations

import re

from doctor.findings import Diagnostic, FixReport, Report

_QUOTE = r"«[^»]*»"
"""How messages quote a prompt: `doctor.evidence.quote` is the only place that writes these marks, and takes them out of the prompt."""


def hide_contents(report: Report) -> Report:
    """The same report without texts of rows, prompts and labels; numbers, ids, names and places stay."""
    files = []
    for file in report.files:
        fix = file.fix
        if fix is not None:
            fix = _hide_in_fix(fix)
        files.append(file._replace(diagnostics=tuple(map(_hide, file.diagnostics)), fix=fix))
    return report._replace(files=tuple(files))


def _hide_in_fix(fix: FixReport) -> FixReport:
    return fix._replace(before=tuple(map(_hide, fix.before)), diff="")


def _hide(found: Diagnostic) -> Diagnostic:
    return found._replace(
        message=re.sub(_QUOTE, "«…»", found.message),
        why=re.sub(_QUOTE, "«…»", found.why),
        related=tuple(row._replace(text="") for row in found.related),
        intervals=tuple(bar._replace(label="") for bar in found.intervals),
    )
