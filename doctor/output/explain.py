"""A rule as text, Markdown or JSON, and the catalogue of all rules. All of it comes from the rule itself: nothing is written twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.findings import Fix, Safety
from doctor.output.prose import NARROWEST, fold, refill
from doctor.output.text import escape_in_json, neutralise
from doctor.rulekit import Example, Rule, RuleOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMATS = ("text", "markdown", "json")

PASSES = {
    "1": "bytes and lines",
    "2": "rows",
    "3": "calls and results",
    "4": "turns",
    "5": "events",
    "6": "sessions",
    "7": "identity and chain",
}
"""What the hundreds digit of a code stands for; fixes are applied in this order."""


def write_rule(rule: Rule, format: str, width: int | None = None) -> str:
    """One rule in one of FORMATS; as text it is filled to `width` columns, None for lines as they are."""
    if format == "json":
        return _write_json(_build_rule(rule))
    if format == "markdown":
        return "\n".join(_write_markdown(rule, level=1))
    return "\n".join(_write_text(rule, width))


def write_rules(rules: Sequence[Rule], format: str, width: int | None = None) -> str:
    """All rules in one of FORMATS, as text filled to `width` columns; the Markdown is the file `rules/README.md`."""
    if format == "json":
        return _write_json({"rules": [_build_rule(rule) for rule in rules]})
    if format == "markdown":
        return "\n".join(_write_catalogue(rules)) + "\n"
    longest = max((len(rule.name) for rule in rules), default=0)
    heads = [f"{rule.code}  {rule.severity.value:<7}  {rule.name:<{longest}}" for rule in rules]
    indent = len(heads[0]) + 2 if heads else 0
    if width is not None and width - indent < NARROWEST:
        # No room beside the names: below them there is.
        lines = [part for head, rule in zip(heads, rules, strict=True) for part in (head.rstrip(), *fold(f"    {rule.summary}", width, 4))]
    else:
        lines = [part for head, rule in zip(heads, rules, strict=True) for part in fold(f"{head}  {rule.summary}", width, indent)]
    return "\n".join(lines)


def try_fix(rule: Rule) -> Fix | None:
    """What the rule would do to its own bad example; None when it has no fix, or the example is more than a transcript."""
    from doctor.analysis.engine import diagnose
    from doctor.sources.session import read_session
    from doctor.sources.source import MemorySource

    if isinstance(rule.bad, Mapping):
        return None
    data = rule.bad.encode("utf-8", "surrogatepass") if isinstance(rule.bad, str) else rule.bad
    session = read_session("example", events=False, now=0.0, source=MemorySource(data))
    found = diagnose(session, (rule,), excerpts=False).diagnostics
    return next((diagnostic.fix for diagnostic in found if diagnostic.fix is not None), None)


def _describe_fix(fix: Fix) -> str:
    kind = {Safety.SAFE: "safe", Safety.UNSAFE: "only with --unsafe", Safety.MANUAL: "shown only"}[fix.safety]
    return f"{kind}: {fix.title}"


def _write_text(rule: Rule, width: int | None) -> list[str]:
    lines = [f"{rule.code} {rule.name} ({rule.severity.value})", ""]
    lines += [line.removeprefix("## ") for line in refill(rule.documentation.strip().splitlines(), width)]
    for title, example in (("Reported", rule.bad), ("Not reported", rule.good)):
        lines += ["", title]
        for name, body in _list_example(example):
            lines += [f"  {name}:"] if name else []
            lines += [f"    {line}" for line in body] or ["    (empty)"]
    fix = try_fix(rule)
    if fix is not None:
        lines += ["", "What the fix does to the first example", *fold(f"    {_describe_fix(fix)}", width, 4)]
    if rule.options:
        lines += ["", f"Options, in [rules.{rule.code}] of the configuration"]
        for option in rule.options:
            lines += fold(f"    {option.name} = {_write_default(option)}    {option.help}{_list_choices(option)}", width, 8)
    return lines


def _write_markdown(rule: Rule, level: int) -> list[str]:
    """The heading is the bare code, so that its anchor is `#ad301` whatever the name becomes."""
    lines = [f"{'#' * level} {rule.code}", "", f"**{rule.name}** · {rule.severity.value}", ""]
    for line in rule.documentation.strip().splitlines():
        lines.append("#" * (level - 1) + line if line.startswith("## ") else line)
    for title, example in (("Reported", rule.bad), ("Not reported", rule.good)):
        for name, body in _list_example(example):
            lines += ["", f"{title}, `{name}`:" if name else f"{title}:", "", "```json", *(body or ["(empty)"]), "```"]
    fix = try_fix(rule)
    if fix is not None:
        lines += ["", f"What the fix does to the first example: {_describe_fix(fix)}."]
    if rule.options:
        lines += ["", f"Options, in the table `rules.{rule.code}` of the configuration:", ""]
        lines += [f"* `{option.name} = {_write_default(option)}`: {option.help}{_list_choices(option)}" for option in rule.options]
    return lines


def _write_default(option: RuleOption) -> str:
    """As TOML, which writes these values as JSON does."""
    import json

    return json.dumps(option.default)


def _list_choices(option: RuleOption) -> str:
    return f" One of: {', '.join(option.choices)}." if option.choices else ""


def _write_catalogue(rules: Sequence[Rule]) -> list[str]:
    lines = [
        "# Rules",
        "",
        "Written by `amplifier-doctor rules --format markdown`; edit the rule files, not this page.",
        "The hundreds digit of a code says what is looked at, and in which order fixes are applied.",
        "",
    ]
    for digit, title in PASSES.items():
        members = [rule for rule in rules if rule.code[2] == digit]
        if members:
            lines += [f"**AD{digit}: {title}**", "", "| code | name | severity | |", "|---|---|---|---|"]
            lines += [
                f"| [{rule.code}](#{rule.code.lower()}) | {rule.name} | {rule.severity.value} | {_in_cell(rule.summary)} |"
                for rule in members
            ]
            lines.append("")
    for rule in rules:
        lines += [*_write_markdown(rule, level=2), ""]
    return lines[:-1]


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _list_example(example: Example) -> list[tuple[str, list[str]]]:
    """(file name, lines) of each file of an example; a lone transcript has no name."""
    if isinstance(example, Mapping):
        return [(name, _list_lines(body)) for name, body in example.items()]
    return [("", _list_lines(example))]


def _list_lines(body: str | bytes) -> list[str]:
    text = body.decode("utf-8", "backslashreplace") if isinstance(body, bytes) else body
    lines = text.split("\n")
    return [neutralise(line) for line in (lines[:-1] if lines[-1] == "" else lines)]


def _build_rule(rule: Rule) -> dict[str, Any]:
    fix = try_fix(rule)
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "documentation": rule.documentation.strip(),
        "bad": _build_example(rule.bad),
        "good": _build_example(rule.good),
        "fix": {"safety": fix.safety.name.lower(), "summary": fix.title} if fix is not None else None,
        "options": [{"name": one.name, "type": one.kind, "default": one.default, "help": one.help} for one in rule.options],
    }


def _build_example(example: Example) -> dict[str, str]:
    files = example if isinstance(example, Mapping) else {"transcript.jsonl": example}
    return {name: "\n".join(_list_lines(body)) for name, body in files.items()}


def _write_json(value: Any) -> str:
    import json

    return escape_in_json(json.dumps(value, ensure_ascii=False, indent=2))
