"""The JSON Schema of a configuration, for editors and for the doctor itself: one document, made from the rules that there are.

`configuration.schema.json` beside this file is the same document, written by `pytest --update`.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.findings import Severity
from doctor.refusals import WIRES
from doctor.rulekit import Rule, RuleOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    JsonObject = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
EVERYTHING = "ALL"
MOST_JOBS = 256
PATTERNS = (
    "Patterns for paths relative to the configuration: * stays within a name, ** crosses folders, a name without a slash means it anywhere."
)


def build_schema(rules: Sequence[Rule]) -> JsonObject:
    """What may stand in `[tool.amplifier-doctor]`, or in an amplifier-doctor.toml."""
    return {
        "$schema": DIALECT,
        "title": "amplifier-doctor configuration",
        "description": "The table [tool.amplifier-doctor] of a pyproject.toml, or all of an amplifier-doctor.toml.",
        "type": "object",
        "properties": {**_describe_selection(), **_describe_paths(), **_describe_gate(), "rules": _describe_rules(rules)},
        "additionalProperties": False,
        "$defs": {
            "selector": {
                "description": "A rule's code or name, a prefix of codes such as AD3, or ALL. The longer selector wins.",
                "enum": list_selectors(rules),
            },
            "selectors": {"type": "array", "items": {"$ref": "#/$defs/selector"}},
            "severity": {"enum": [severity.value for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)]},
            "pattern": {"type": "string", "minLength": 1},
            "patterns": {"type": "array", "description": PATTERNS, "items": {"$ref": "#/$defs/pattern"}},
        },
    }


def list_selectors(rules: Sequence[Rule]) -> list[str]:
    """All that selects a rule: ALL, prefixes of codes, codes and names."""
    prefixes = {rule.code[:length] for rule in rules for length in range(2, len(rules[0].code) + 1)}
    return [EVERYTHING, *sorted(prefixes), *(rule.name for rule in rules)]


def _describe_selection() -> JsonObject:
    return {
        "select": {"description": "Only these rules. Default: all.", "$ref": "#/$defs/selectors"},
        "extend-select": {"description": "These rules too, beside those that select or the default name.", "$ref": "#/$defs/selectors"},
        "ignore": {"description": "Leave these rules out.", "$ref": "#/$defs/selectors"},
        "severity": {
            "description": "Another severity for the findings of a rule. A finding that is only possible stays a warning at most.",
            "type": "object",
            "propertyNames": {"$ref": "#/$defs/selector"},
            "additionalProperties": {"$ref": "#/$defs/severity"},
        },
    }


def _describe_paths() -> JsonObject:
    return {
        "per-file-ignores": {
            "description": f"Leave rules out for some files. {PATTERNS}",
            "type": "object",
            "propertyNames": {"$ref": "#/$defs/pattern"},
            "additionalProperties": {"$ref": "#/$defs/selectors"},
        },
        "include": {
            "description": "What a walk through a folder takes. A pattern whose last part is a file's name, such as *.jsonl, takes files of"
            " that name; any other takes the transcripts in the folders that it matches. Default: all transcripts.",
            "$ref": "#/$defs/patterns",
        },
        "exclude": {
            "description": "What a walk through a folder leaves out. A file that is named on the command line is checked all the same.",
            "$ref": "#/$defs/patterns",
        },
        "baseline": {
            "description": "A file of accepted findings, relative to the configuration; amplifier-doctor baseline PATH writes it.",
            "type": "string",
            "minLength": 1,
        },
    }


def _describe_gate() -> JsonObject:
    return {
        "for": {
            "description": "Whom the next request goes to. Default: what each session recorded.",
            "type": "array",
            "items": {"enum": list(WIRES)},
        },
        "fail-on": {"description": "The lowest severity that makes the exit code 1. Default: warning.", "$ref": "#/$defs/severity"},
        "jobs": {
            "description": "How many processes share the work. auto: all processors where it pays.",
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_JOBS}, {"enum": ["auto"]}],
        },
    }


def _describe_rules(rules: Sequence[Rule]) -> JsonObject:
    return {
        "description": "Options of single rules.",
        "type": "object",
        "properties": {
            rule.code: {
                "description": f"{rule.name}: {rule.summary}",
                "type": "object",
                "properties": {option.name: _describe_option(option) for option in rule.options},
                "additionalProperties": False,
            }
            for rule in rules
            if rule.options
        },
        "additionalProperties": False,
    }


def _describe_option(option: RuleOption) -> JsonObject:
    default = list(option.default) if isinstance(option.default, tuple) else option.default
    kind: JsonObject = {"enum": list(option.choices)} if option.choices else {"type": "string"}
    if option.kind == "strings":
        kind = {"type": "array", "items": kind}
    elif option.kind != "string":
        kind = {"type": option.kind} | ({"minimum": option.minimum} if option.minimum is not None else {})
    return {"description": option.help, **kind, "default": default}
