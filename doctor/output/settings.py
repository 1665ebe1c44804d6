"""The settings that are in force, each with where it comes from: as text for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from doctor.findings import Severity
from doctor.output.text import count_of, escape_in_json, neutralise
from doctor.records import Record
from doctor.rulekit import Rule
from doctor.settings.model import Settings
from doctor.settings.selecting import choose_configured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


FORMATS = ("text", "json")
DEFAULT = "default"


class Row(Record):
    """One key with its value as JSON has it, the words for people, and its source."""

    key: str
    value: Any
    words: str
    source: str


def write_settings(settings: Settings, rules: Sequence[Rule], format: str) -> str:
    """In one of FORMATS."""
    rows = list_rows(settings, rules)
    chosen = [rule.code for rule in choose_configured(rules, settings)]
    if format == "json":
        values = {row.key: {"value": row.value, "source": row.source} for row in rows}
        document = {"file": settings.file or None, "table": settings.table or None, "settings": values, "rules_in_force": chosen}
        return escape_in_json(json.dumps(document, indent=2))
    return "\n".join(neutralise(line) for line in [*_write_heading(settings), "", *_write_table(rows), "", _count_rules(chosen, rules)])


def list_rows(settings: Settings, rules: Sequence[Rule]) -> list[Row]:
    """Every key, the options of rules among them."""

    def make(key: str, value: Any, absent: str) -> Row:
        return Row(key, value, _word(value) or absent, settings.file if key in settings.given else DEFAULT)

    ignores = {pattern: list(codes) for pattern, codes in settings.tuning.per_file_ignores}
    rows = [
        make("select", list(settings.select), "all rules"),
        make("extend-select", list(settings.extend_select), "none"),
        make("ignore", list(settings.ignore), "none"),
        make("severity", {code: severity.value for code, severity in settings.severity}, "as each rule says"),
        make("per-file-ignores", ignores, "none"),
        make("for", list(settings.wires), "what each session recorded"),
        make("fail-on", (settings.fail_on or Severity.WARNING).value, ""),
        make("include", list(settings.include), "all transcripts"),
        make("exclude", list(settings.exclude), "none"),
        make("baseline", settings.baseline or None, "none"),
        make("jobs", settings.jobs or "auto", ""),
    ]
    return rows + list(_list_options(settings, rules))


def _list_options(settings: Settings, rules: Sequence[Rule]) -> Iterable[Row]:
    given = {code: dict(values) for code, values in settings.tuning.options}
    for rule in rules:
        for option in rule.options:
            is_set = option.name in given.get(rule.code, {})
            value = given[rule.code][option.name] if is_set else option.default
            value = list(value) if isinstance(value, tuple) else value
            yield Row(f"rules.{rule.code}.{option.name}", value, _word(value) or "none", settings.file if is_set else DEFAULT)


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} = {_word(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _write_heading(settings: Settings) -> list[str]:
    if not settings.file:
        return [
            "no configuration: no amplifier-doctor.toml and no pyproject.toml with [tool.amplifier-doctor] here or above, or --isolated"
        ]
    lines = [f"{settings.file}{f' [{settings.table}]' if settings.table else ''}"]
    return [*lines, f"{settings.shadowed} has a configuration too, which this one hides"] if settings.shadowed else lines


def _write_table(rows: Sequence[Row]) -> list[str]:
    """Key, where it comes from, value; a table has a line for each of its entries."""
    keys, sources = (max(len(row[place]) for row in rows) for place in (0, 3))
    lines = []
    for row in rows:
        words = row.words.split("; ") if isinstance(row.value, dict) else [row.words]
        lines.append(f"{row.key:<{keys}}  {row.source:<{sources}}  {words[0]}")
        lines += [f"{'':<{keys}}  {'':<{sources}}  {more}" for more in words[1:]]
    return lines


def _count_rules(chosen: Sequence[str], rules: Sequence[Rule]) -> str:
    out = [rule.code for rule in rules if rule.code not in chosen]
    return f"{count_of(len(chosen), 'rule')} in force" + (f", without {', '.join(out)}" if out else "")
