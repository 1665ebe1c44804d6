"""The objects of a SARIF 2.1.0 log. Section numbers are those of the OASIS standard (errata 01)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

from doctor import __version__
from doctor.analysis.registry import find_rule, load_rules
from doctor.analysis.wires import CONTRACTS_DATE
from doctor.findings import Diagnostic, Excerpt, Failure, Fix, Safety, Severity
from doctor.fingerprints import VERSION
from doctor.output.options import Options
from doctor.output.places import ROOT, locate, make_file_uri
from doctor.output.summary import Totals
from doctor.output.text import neutralise
from doctor.repair.replacements import Replacement
from doctor.rulekit import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
PASS_TAGS = {"1": "bytes", "2": "rows", "3": "tool-calls", "4": "turns", "5": "events", "6": "sessions", "7": "identity"}


def build_frame(codes: Sequence[str], totals: Totals, options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands before the results, and what stands behind: `invocation` and `run`, whose lists of results are left out."""
    driver = {
        "name": "amplifier-doctor",
        "semanticVersion": __version__,
        "version": __version__,
        "rules": [_build_rule(find_rule(load_rules(), code)) for code in codes],
        "properties": {"contractsDate": CONTRACTS_DATE},
    }
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "defaultEncoding": "utf-8"}
    if options.folder:
        run["originalUriBaseIds"] = {ROOT: {"uri": make_file_uri(options.folder).rstrip("/") + "/"}}
    run["properties"] = {"command": options.command, "sessions": totals.files, "clean": totals.clean}
    head = {"$schema": SCHEMA, "version": "2.1.0"}
    return head, {"invocation": {"executionSuccessful": not totals.failures}, "run": run}


def _build_rule(rule: Rule) -> dict[str, Any]:
    """3.49. The name is in Pascal case, as the standard advises for identifiers that people read."""
    documentation = rule.documentation.strip()
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _find_reason(documentation) or rule.summary},
        "help": {"text": documentation.replace("## ", ""), "markdown": documentation},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": [PASS_TAGS[rule.code[2]]], "problem.severity": _name_problem(rule.severity)},
    }


def _find_reason(documentation: str) -> str:
    """The first paragraph of the section that says why it matters."""
    _, _, behind = documentation.partition("## Why it matters\n")
    return " ".join(behind.strip().partition("\n\n")[0].partition("\n## ")[0].split())


def _name_problem(severity: Severity) -> str:
    """As code scanning calls it."""
    return {"info": "recommendation"}.get(severity.value, severity.value)


def build_result(found: Diagnostic, mark: str, rule: int, transcript: str, options: Options) -> dict[str, Any]:
    """3.27. `transcript` is the file that a fix changes, wherever the finding itself lies."""
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": rule,
        "level": LEVELS[found.severity],
        "message": _build_message(found.message),
        "locations": [_build_location(found.path, found.line, options)],
        "partialFingerprints": {VERSION: mark},
    }
    related = [row for row in found.related if not row.primary]
    if related:
        result["relatedLocations"] = [_build_related(number, row, options) for number, row in enumerate(related, 1)]
    if found.fix is not None and found.fix.replacements:
        result["fixes"] = [_build_fix(found.fix, transcript, options)]
    result["properties"] = _build_properties(found)
    return result


def _build_properties(found: Diagnostic) -> dict[str, Any]:
    """3.8. Columns are told as bytes: SARIF counts characters, and the line is not at hand."""
    properties: dict[str, Any] = {"name": found.name, "confidence": found.confidence.value}
    if found.line and found.column > 1:
        properties["byteColumn"] = found.column
    if found.ids:
        properties["ids"] = [neutralise(one) for one in found.ids]
    if found.wires:
        properties["wires"] = {wire: neutralise(text) for wire, text in found.wires}
    if found.why:
        properties["why"] = neutralise(found.why)
    if found.fix is not None:
        properties["fix"] = {"safety": found.fix.safety.name.lower(), "summary": neutralise(found.fix.title)}
    return properties


def _build_location(path: str, line: int, options: Options) -> dict[str, Any]:
    """3.28. A session as a whole has no region."""
    place: dict[str, Any] = {"artifactLocation": _build_artifact(path, options)}
    return {"physicalLocation": place | ({"region": {"startLine": line}} if line else {})}


def _build_artifact(path: str, options: Options) -> dict[str, Any]:
    uri, base = locate(path, options.folder)
    return {"uri": uri, **({"uriBaseId": base} if base else {})}


def _build_related(number: int, row: Excerpt, options: Options) -> dict[str, Any]:
    message = _build_message(row.label or row.role or "a row beside it")
    return {"id": number, **_build_location(row.path, row.line, options), "message": message}


def _build_message(text: str) -> dict[str, Any]:
    """3.11. `[words](place)` would be a link, and what a transcript says must not become one."""
    return {"text": neutralise(text).replace("](", "] (")}


def _build_fix(fix: Fix, transcript: str, options: Options) -> dict[str, Any]:
    """3.55. A fix that is not safe says so: whoever applies it from here has no backup and no quarantine."""
    lead = "" if fix.safety is Safety.SAFE else "unsafe: "
    change = {
        "artifactLocation": _build_artifact(transcript, options),
        "replacements": [_build_replacement(one) for one in fix.replacements],
    }
    return {"description": _build_message(lead + fix.title), "artifactChanges": [change]}


def _build_replacement(replacement: Replacement) -> dict[str, Any]:
    """3.57. Whole lines of UTF-8 as a text region, anything else as a binary one: the two may not be mixed."""
    text = None
    if replacement.lines is not None:
        try:
            text = replacement.inserted.decode("utf-8")
        except UnicodeDecodeError:
            text = None
    if text is not None and replacement.lines is not None:
        start, stop = replacement.lines
        region = {"startLine": start + 1, "startColumn": 1, "endLine": stop + 1, "endColumn": 1}
        return {"deletedRegion": region, **({"insertedContent": {"text": text}} if text else {})}
    region = {"byteOffset": replacement.offset, "byteLength": replacement.length}
    inserted = {"binary": b64encode(replacement.inserted).decode("ascii")}
    return {"deletedRegion": region, **({"insertedContent": inserted} if replacement.inserted else {})}


def build_failure(failure: Failure, options: Options) -> dict[str, Any]:
    built = build_notification("error", failure.message, failure.path, options)
    return built | {"descriptor": {"id": failure.kind}}


def build_notification(level: str, text: str, path: str, options: Options) -> dict[str, Any]:
    """3.58."""
    location = _build_location(path, 0, options)
    return {"level": level, "message": _build_message(text), "locations": [location]}
