"""Which rules look at a file, and what becomes of what they say: selectors of two layers, rules left out by path, options, severities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from doctor.analysis.registry import select_rules
from doctor.errors import DoctorError
from doctor.findings import Confidence, Diagnostic, FileReport, Severity
from doctor.rulekit import Rule, set_options
from doctor.settings.choosing import covers
from doctor.settings.globs import compile_pattern
from doctor.settings.model import Settings, Tuning
from doctor.settings.schema import EVERYTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def expand(selectors: Sequence[str], rules: Sequence[Rule]) -> tuple[str, ...]:
    """The codes of all rules that the selectors name; none for none. Raises DoctorError: one names no rule."""
    return tuple(rule.code for rule in select_rules(rules, selectors, ())) if selectors else ()


def choose_codes(
    rules: Sequence[Rule], settings: Settings, select: Sequence[str], extend: Sequence[str], ignore: Sequence[str]
) -> tuple[str, ...]:
    """The codes that are in force. The command line (`select`, `extend`, `ignore`) is a layer over the configuration: what it selects
    replaces the configuration's choice, what else it names is added to or taken from that choice.

    Raises DoctorError: a selector names no rule, or no rule is left.
    """
    if select:
        chosen = select_rules(rules, (*select, *extend), ignore)
    else:
        base = {rule.code for rule in choose_configured(rules, settings)}
        added = {rule.code for rule in select_rules(rules, extend, ignore)} if extend else set()
        taken = set(expand(ignore, rules)) - added
        chosen = tuple(rule for rule in rules if rule.code in (base | added) - taken)
    if not chosen:
        blame = f"{settings.name_key()} and the options" if settings.file else "the options"
        raise DoctorError("usage", f"no rule is left: {blame} leave all of them out")
    return tuple(rule.code for rule in chosen)


def choose_configured(rules: Sequence[Rule], settings: Settings) -> tuple[Rule, ...]:
    """The rules that the configuration alone selects."""
    select = (*(settings.select or (EVERYTHING,)), *settings.extend_select) if settings.extend_select else settings.select
    return select_rules(rules, select, settings.ignore)


def list_idle(rules: Sequence[Rule], settings: Settings, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of settings about rules that the same configuration leaves out anyway: `severity.AD308`."""
    chosen = {rule.code for rule in choose_configured(rules, settings)}
    unignored = {rule.code for rule in choose_configured(rules, settings._replace(ignore=()))}

    def is_idle(selectors: Sequence[str], codes: set[str]) -> bool:
        return codes.isdisjoint(expand(selectors, rules))

    idle = [f"ignore: {selector}" for selector in settings.ignore if is_idle((selector,), unignored)]
    idle += [f"severity.{selector}" for selector in values.get("severity", {}) if is_idle((selector,), chosen)]
    for pattern, selectors in values.get("per-file-ignores", {}).items():
        idle += [f'per-file-ignores."{pattern}": {selector}' for selector in selectors if is_idle((selector,), chosen)]
    return (*idle, *(f"rules.{code}" for code in values.get("rules", {}) if code not in chosen))


def tune_rules(rules: Sequence[Rule], tuning: Tuning, path: str) -> Sequence[Rule]:
    """The rules for one file, with their options set; `path` is absolute, "" for what lies on no disk."""
    if path and tuning.per_file_ignores:
        ignored = {code for text, codes in tuning.per_file_ignores if covers(compile_pattern(text, tuning.folder), path) for code in codes}
        rules = [rule for rule in rules if rule.code not in ignored] if ignored else rules
    options = dict(tuning.options)
    if not options:
        return rules
    return [
        set_options(
            rule, {option.keyword: value for option in rule.options for name, value in options.get(rule.code, ()) if name == option.name}
        )
        for rule in rules
    ]


def restamp(file: FileReport, severities: Sequence[tuple[str, Severity]]) -> FileReport:
    """The report with the configured severities. The verdict stays: it is about what a client and its providers take, not about a gate.

    A finding that is only possible stays a warning at most. What a rule itself plays down, such as damage that is history by now, gets
    the configured severity like all that it finds.
    """
    table = dict(severities)
    if not table or not any(found.code in table for found in _list_found(file)):
        return file

    def stamp(found: Diagnostic) -> Diagnostic:
        severity = table.get(found.code, found.severity)
        if found.confidence is Confidence.POSSIBLE:
            severity = min(severity, Severity.WARNING, key=lambda value: value.rank)
        return found if severity is found.severity else found._replace(severity=severity, judged=found.severity)

    return change_found(file, lambda many: tuple(map(stamp, many)))


def change_found(file: FileReport, change: Callable[[tuple[Diagnostic, ...]], tuple[Diagnostic, ...]]) -> FileReport:
    """The report with both its lists of findings changed: what is found (or left), and what was found before a fix."""
    fix = file.fix
    return file._replace(diagnostics=change(file.diagnostics), fix=fix._replace(before=change(fix.before)) if fix is not None else None)


def _list_found(file: FileReport) -> tuple[Diagnostic, ...]:
    return file.diagnostics + (file.fix.before if file.fix is not None else ())
