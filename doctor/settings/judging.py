"""From the values of a configuration to Settings; what is wrong with them is said in one line that names file and key."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from doctor.errors import DoctorError
from doctor.findings import Severity
from doctor.rulekit import Rule
from doctor.settings.model import OptionValue, Settings, Tuning
from doctor.settings.schema import EVERYTHING, MOST_JOBS, build_schema
from doctor.settings.selecting import expand, list_idle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from jsonschema import ValidationError

_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
_TYPE_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


def judge_settings(values: Mapping[str, Any], rules: Sequence[Rule], *, file: str, table: str, folder: str, shadowed: str = "") -> Settings:
    """`file` is what people are told, `folder` (absolute) what paths are relative to.

    Raises DoctorError: an unknown key, a wrong type or an unknown code.
    """
    schema = build_schema(rules)
    if not is_plainly_sound(values, schema, schema["$defs"]):
        _explain(values, schema, Settings(file=file, table=table))

    def read_list(key: str) -> tuple[str, ...]:
        return tuple(values.get(key, ()))

    baseline = values.get("baseline", "")
    settings = Settings(
        file=file,
        table=table,
        shadowed=shadowed,
        given=tuple(values),
        select=read_list("select"),
        extend_select=read_list("extend-select"),
        ignore=read_list("ignore"),
        severity=read_severities(values.get("severity", {}), rules),
        wires=tuple(dict.fromkeys(read_list("for"))),
        fail_on=Severity(values["fail-on"]) if "fail-on" in values else None,
        include=read_list("include"),
        exclude=read_list("exclude"),
        baseline=os.path.normpath(os.path.join(folder, baseline)) if baseline else "",
        jobs=None if "jobs" not in values else 0 if values["jobs"] == "auto" else int(values["jobs"]),
        tuning=Tuning(
            folder,
            tuple((pattern, expand(selectors, rules)) for pattern, selectors in values.get("per-file-ignores", {}).items()),
            tuple((code, _read_options(table)) for code, table in sorted(values.get("rules", {}).items())),
        ),
    )
    return settings._replace(idle=list_idle(rules, settings, values))


def read_severities(values: Mapping[str, str], rules: Sequence[Rule]) -> tuple[tuple[str, Severity], ...]:
    """By code; where several selectors name a rule, the longest one counts."""
    table: dict[str, Severity] = {}
    for selector in sorted(values, key=lambda selector: len(expand((selector,), rules)), reverse=True):
        table.update(dict.fromkeys(expand((selector,), rules), Severity(values[selector])))
    return tuple(sorted(table.items()))


def _read_options(table: Mapping[str, Any]) -> tuple[tuple[str, OptionValue], ...]:
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in sorted(table.items()))


def is_plainly_sound(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    """Whether a value surely fits a schema of `build_schema`. A yes spares the import of jsonschema, which takes longer than the check of
    many a transcript; a no means nothing yet."""
    if "$ref" in schema and not is_plainly_sound(value, definitions[schema["$ref"].rpartition("/")[2]], definitions):
        return False
    if "anyOf" in schema and not any(is_plainly_sound(value, one, definitions) for one in schema["anyOf"]):
        return False
    if "enum" in schema and not (isinstance(value, str) and value in schema["enum"]):
        return False
    if "type" in schema and type(value) is not _TYPES[schema["type"]]:
        return False
    if value.__class__ is list:
        return all(is_plainly_sound(item, schema.get("items", {}), definitions) for item in value)
    if value.__class__ is dict:
        return all(_is_sound_entry(key, entry, schema, definitions) for key, entry in value.items())
    if value.__class__ is str:
        return len(value) >= schema.get("minLength", 0)
    return schema.get("minimum", value) <= value <= schema.get("maximum", value)


def _is_sound_entry(key: str, value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> bool:
    known = schema.get("properties", {}).get(key)
    rest = known if known is not None else schema.get("additionalProperties", {})
    return (
        rest is not False
        and is_plainly_sound(key, schema.get("propertyNames", {}), definitions)
        and is_plainly_sound(value, rest, definitions)
    )


def _explain(values: Mapping[str, Any], schema: Mapping[str, Any], settings: Settings) -> None:
    """Raises DoctorError about the first mistake, if jsonschema finds one."""
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(schema).iter_errors(values))
    if errors:
        first = min(errors, key=lambda error: (error.validator != "additionalProperties", len(error.absolute_path)))
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise DoctorError("usage", _word(first, settings) + more)


def _word(error: ValidationError, settings: Settings) -> str:
    """One mistake for people: `pyproject.toml: tool.amplifier-doctor.severity.AD308: 'fatal' is not one of error, warning, info`."""
    keys = [key for key in error.absolute_path if isinstance(key, str)]
    if error.validator == "additionalProperties":
        return _word_unknown_key(error, keys, settings)
    if "propertyNames" in error.absolute_schema_path:
        keys.append(str(error.instance))
    number = "".join(f"item {key + 1}: " for key in error.absolute_path if isinstance(key, int))
    place = f"{settings.name_key(*keys)}: {number}"
    if error.validator == "type":
        return f"{place}it must be {_TYPE_NAMES[_TYPES[error.validator_value]]}, not {_name_type(error.instance)}"
    if error.validator == "minimum":
        return f"{place}{error.instance} is too small; it must be at least {error.validator_value}"
    if error.validator == "anyOf":
        return f"{place}it must be auto or a number from 1 to {MOST_JOBS}, not {error.instance!r}"
    if error.validator == "minLength":
        return f"{place}it must not be empty"
    return place + (_word_choice(error.instance, error.validator_value) if error.validator == "enum" else error.message)


def _word_unknown_key(error: ValidationError, keys: Sequence[str], settings: Settings) -> str:
    known = list(error.schema.get("properties", {})) if isinstance(error.schema, Mapping) else []
    unknown = sorted(set(error.instance) - set(known))[0]
    if keys == ["rules"]:
        return f"{settings.name_key(*keys, unknown)}: there is no rule {unknown} with options; there are {', '.join(known)}"
    return f"{settings.name_key(*keys, unknown)}: there is no such key{_suggest(unknown, known)}"


def _word_choice(value: Any, choices: Sequence[str]) -> str:
    if not isinstance(value, str):
        return f"it must be a string, not {_name_type(value)}"
    if EVERYTHING in choices:
        return f"no rule matches {value!r}{_suggest(value, choices)}; `amplifier-doctor rules` lists them"
    return f"{value!r} is not one of {', '.join(choices)}"


def _name_type(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), "a date or time")


def _suggest(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    if word.upper() in known:
        return f" (did you mean {word.upper()}?)"
    close = get_close_matches(word, known, 1)
    return f" (did you mean {close[0]}?)" if close else f"; there are {', '.join(known)}" if known and len(known) < 20 else ""
