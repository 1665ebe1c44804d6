"""The last lines about a file: can it be resumed, and which command comes next."""

from __future__ import annotations

from doctor.findings import Diagnostic, FileReport, Safety, Severity
from doctor.model import RECORDS
from doctor.output.options import Options
from doctor.output.summary import count_fixes
from doctor.output.text import count_of, join_counts, name_path, name_view, neutralise, write_command
from doctor.refusals import ACCEPTED, DEPENDS, REFUSED, WIRES

PACKED = (".gz", ".zst", ".bz2", ".xz")


def describe_verdict(file: FileReport) -> str:
    """`not resumable as it is · resumable after fix (2 safe fixes)`"""
    if file.format == "request":
        return describe_wires(file)
    everything = file.diagnostics + file.accepted
    safe = count_fixes(everything, Safety.SAFE)
    unsafe = count_fixes(everything, Safety.UNSAFE)
    if file.verdict == "resumable":
        parts = ["resumable", f"{count_of(safe, 'safe fix')} on offer" if safe else ""]
    elif file.verdict == "after-fix":
        needed = "fix --unsafe" if _needs_unsafe(file) else "fix"
        parts = ["not resumable as it is", f"resumable after {needed} ({join_counts([(safe, 'safe fix'), (unsafe, 'unsafe fix')])})"]
    elif file.verdict == "live":
        reason = neutralise(file.liveness) or "somebody is in this session"
        if file.fix is not None and file.fix.written:
            parts = [f"live: {reason}", "written all the same (--force)"]
        else:
            parts = [f"live: {reason}", "fix does not touch it; fix --wait SECONDS waits until it is quiet"]
    elif file.verdict == "not-resumable":
        parts = _explain_obstacle(file) or [
            "not resumable",
            f"{count_of(unsafe, 'fix')} only with --unsafe" if unsafe else _name_unfixed(file),
        ]
    else:
        parts = ["unknown: too little could be read, or was asked for, to judge it"]
    answers = {one.answer for one in file.wires}
    if file.verdict in ("resumable", "live") or answers != {ACCEPTED}:
        parts.append(describe_wires(file))
    return " · ".join(part for part in parts if part)


def describe_wires(file: FileReport) -> str:
    """`refused by anthropic · depends for gemini · accepted by openai-chat`; one short phrase where all agree."""
    groups = {answer: [one.wire for one in file.wires if one.answer == answer] for answer in (REFUSED, DEPENDS, ACCEPTED)}
    if len(file.wires) == len(WIRES) == len(groups[ACCEPTED]):
        return "accepted by all providers"
    verbs = {REFUSED: "refused by", DEPENDS: "depends for", ACCEPTED: "accepted by"}
    return " · ".join(f"{verbs[answer]} {', '.join(wires)}" for answer, wires in groups.items() if wires)


def list_doubts(file: FileReport) -> list[tuple[str, str]]:
    """(wire, on what it depends) for target wires whose answer is not known for sure."""
    return [
        (one.wire, "; ".join(dict.fromkeys(found.depends for found in one.violations if found.depends)))
        for one in file.wires
        if one.answer == DEPENDS and one.wire in file.targets
    ]


def list_unseen_answers(file: FileReport) -> list[tuple[str, str]]:
    """(wire, text) of target wires that refuse with a text which no finding quotes."""
    quoted = {(wire, text) for found in file.diagnostics + file.accepted for wire, text in found.wires}
    refusing = [one for one in file.wires if one.answer == REFUSED and one.wire in file.targets]
    return [(one.wire, one.violations[0].text) for one in refusing if not any((one.wire, found.text) in quoted for found in one.violations)]


def _explain_obstacle(file: FileReport) -> list[str]:
    """Why no client can resume it, and the right move; empty where that is a matter of rows."""
    for found in file.diagnostics + file.accepted:
        if found.code == "AD602":
            why, _, move = found.message.partition(": ")[2].partition("; ")
            return [f"not resumable: {neutralise(why)}", neutralise(move)]
    return []


def _list_errors(file: FileReport) -> list[Diagnostic]:
    """What the engine calls an error, whatever a configuration or a baseline made of it: the verdict goes by the same."""
    return [found for found in file.diagnostics + file.accepted if (found.judged or found.severity) is Severity.ERROR]


def _needs_unsafe(file: FileReport) -> bool:
    """Whether an error is left that only an unsafe fix cures."""
    return any(found.fix is not None and found.fix.safety is Safety.UNSAFE for found in _list_errors(file))


def _name_unfixed(file: FileReport) -> str:
    codes = sorted({found.code for found in _list_errors(file) if found.fix is None})
    return f"no fix for {', '.join(codes)}" if codes else ""


def choose_output(file: FileReport, options: Options) -> list[str]:
    """`-o FILE` where there is no file that a fix could replace: a platform's own log, a store, an archive, a session never saved."""
    if "--output" in options.carried or "--in-place" in options.carried:
        return []
    if file.format in RECORDS:
        return ["-o", name_view(name_path(file.path))]
    if "#ses_" in file.path:
        return ["-o", "repaired.json"]
    is_unsaved = file.rows == 0 and "--recover" in options.carried
    return ["-o", "repaired.jsonl"] if is_unsaved or "!/" in file.path or file.path.endswith(PACKED) else []


def suggest_next(file: FileReport, options: Options) -> str:
    """The exact command to run next after a check, "" when there is nothing to do."""
    if file.verdict == "live" or file.path == "-" or file.format == "request":
        return ""
    if file.format in RECORDS:
        return _suggest_view(file, options)
    if count_fixes(file.diagnostics, Safety.SAFE) and not _needs_unsafe(file):
        return write_command("fix", "--dry-run", *options.carried, name_path(file.path))
    # What can be resumed as it is should not be made worse: nobody is sent to a fix that changes what was recorded.
    if count_fixes(file.diagnostics, Safety.UNSAFE) and file.verdict != "resumable":
        return write_command("fix", "--dry-run", "--unsafe", *options.carried, name_path(file.path))
    if any(found.fix is not None and found.fix.recoverable for found in file.diagnostics):
        return write_command("fix", "--dry-run", "--recover", *options.carried, name_path(file.path))
    return _suggest_explain(file)


def _suggest_view(file: FileReport, options: Options) -> str:
    unsafe = bool(count_fixes(file.diagnostics, Safety.UNSAFE))
    if not unsafe and not count_fixes(file.diagnostics, Safety.SAFE):
        return _suggest_explain(file)
    words = ["--unsafe"] if unsafe and "--unsafe" not in options.carried else []
    return write_command("fix", *words, *choose_output(file, options), *options.carried, name_path(file.path))


def _suggest_explain(file: FileReport) -> str:
    worst = max(file.diagnostics, key=lambda found: found.severity.rank, default=None)
    if worst is None or worst.severity is Severity.INFO:
        return ""
    return write_command("explain", worst.code)
