"""What a provider's error text means, as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.analysis.explaining import ErrorExplanation
from doctor.output.headline import SAFETY_WORDS
from doctor.output.prose import fold
from doctor.output.text import cut, escape_in_json, neutralise, replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_TEXT = 600
LABEL = 9
"""Columns of `means    `."""


def write_errors(found: Sequence[ErrorExplanation], format: str, width: int | None = None) -> str:
    """All errors of a text in one of explain's FORMATS; as text they are filled to `width` columns, None for lines as they are."""
    if format == "json":
        import json

        return escape_in_json(replace_surrogates(json.dumps({"errors": [_build(one) for one in found]}, ensure_ascii=False, indent=2)))
    blocks = [_write_text(one, "**" if format == "markdown" else "") for one in found]
    return "\n\n".join("\n".join(part for line in block for part in _fold_entry(neutralise(line), width)) for block in blocks)


def _fold_entry(line: str, width: int | None) -> list[str]:
    """`means    …` goes on below its text; a row or a finding below itself."""
    return fold(line, width, LABEL if not line.startswith(" ") else 4)


def _write_text(one: ErrorExplanation, mark: str) -> list[str]:
    lines = [f"{mark}{one.rule}{mark} {one.provider}", f"  {cut(' '.join(one.text.split()), LONGEST_TEXT)}", ""]
    lines.append(f"means    {one.explanation}")
    lines.append(f"cure     {one.cure}")
    if one.ids:
        lines.append(f"ids      {', '.join(one.ids)}")
    if one.indices:
        lines.append(f"indices  {', '.join(map(str, one.indices))} (as the provider counts what it was sent)")
    if one.codes:
        lines.append("code     " + ", ".join(f"{code} {name}".strip() for code, name in zip(one.codes, one.names, strict=True)))
    else:
        lines.append("code     none: the stored transcript is not the cause")
    if one.path:
        lines += ["", f"in {one.path}", *_write_session(one)]
    return lines


def _write_session(one: ErrorExplanation) -> list[str]:
    lines = [f"  row {place.row:<5} {place.what}" for place in one.places]
    for found in one.findings:
        lines.append(f"  {found.severity.value}[{found.code}] {found.name}: {found.message}")
        if found.fix is not None:
            kind = SAFETY_WORDS[found.fix.safety]
            lines.append(f"    fix: {kind}: {found.fix.title}")
    return lines or ["  nothing in this session has to do with it now"]


def _build(one: ErrorExplanation) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "provider": one.provider,
        "text": one.text,
        "ids": list(one.ids),
        "indices": list(one.indices),
        "codes": [{"code": code, "name": name} for code, name in zip(one.codes, one.names, strict=True)],
        "explanation": one.explanation,
        "cure": one.cure,
        "session": {
            "path": one.path,
            "rows": [{"line": place.row, "what": place.what} for place in one.places],
            "findings": [
                {
                    "code": found.code,
                    "name": found.name,
                    "severity": found.severity.value,
                    "line": found.line,
                    "message": found.message,
                    "fix": {"safety": found.fix.safety.name.lower(), "summary": found.fix.title} if found.fix is not None else None,
                }
                for found in one.findings
            ],
        }
        if one.path
        else None,
    }
