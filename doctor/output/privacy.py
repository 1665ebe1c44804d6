"""Takes what users and tools wrote out of a report, for logs that others read (`--no-excerpt`). Reporters need not know of it."""

from __future__ import annotations

import re

from doctor.findings import AppliedFix, Diagnostic, FileReport, Fix, FixReport

_QUOTE = r"«[^»]*»"
"""How messages quote a prompt: `doctor.evidence.quote` is the only place that writes these marks, and takes them out of the prompt."""


def hide_contents(file: FileReport) -> FileReport:
    """The same without texts of rows, prompts and labels; numbers, ids, names and places stay."""
    fix = file.fix
    return file._replace(
        diagnostics=tuple(map(_hide, file.diagnostics)),
        accepted=tuple(map(_hide, file.accepted)),
        fix=_hide_in_outcome(fix) if fix is not None else None,
    )


def _hide_in_outcome(fix: FixReport) -> FixReport:
    return fix._replace(
        before=tuple(map(_hide, fix.before)),
        applied=tuple(map(_hide_in_applied, fix.applied)),
        held_back=tuple(map(_hide_in_applied, fix.held_back)),
        diff="",
    )


def _hide_in_applied(fix: AppliedFix) -> AppliedFix:
    return fix._replace(title=_blank(fix.title), missing=tuple(map(_blank, fix.missing)))


def _hide(found: Diagnostic) -> Diagnostic:
    return found._replace(
        message=_blank(found.message),
        why=_blank(found.why),
        related=tuple(row._replace(text="", label=_blank(row.label)) for row in found.related),
        intervals=tuple(bar._replace(label="", note=_blank(bar.note)) for bar in found.intervals),
        fix=_hide_in_fix(found.fix) if found.fix is not None else None,
    )


def _hide_in_fix(fix: Fix) -> Fix:
    """Without the bytes: a row that moves is a row that somebody wrote."""
    return fix._replace(title=_blank(fix.title), missing=tuple(map(_blank, fix.missing)), replacements=())


def _blank(text: str) -> str:
    return re.sub(_QUOTE, "«…»", text)
