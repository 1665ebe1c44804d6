"""Finds the rules, checks that each is well formed, and resolves selectors such as `AD3`, `missing-tool-result` or `ALL`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from doctor.errors import DoctorError
from doctor.rulekit import Rule

CODE = r"(?i)^AD\d{0,3}$"
STORES = "stores"


@lru_cache(maxsize=1)
def load_common_rules() -> tuple[Rule, ...]:
    """The rules that have something to say about every format. Those in `stores/` do so only where a format notes StoreProblems: loading
    them for each check of a transcript of lines would cost what a tenth of its start does.

    Raises DoctorError: as load_rules.
    """
    return tuple(_load_folder(_import_rules()))


@lru_cache(maxsize=1)
def load_rules() -> tuple[Rule, ...]:
    """All rules, by code.

    Raises DoctorError: when a rule file is not well formed, or the package is not installed (a bare checkout has no `doctor.rules`).
    """
    rules = [*load_common_rules(), *_load_folder(_import_rules(), STORES)]
    codes = [rule.code for rule in rules] + [rule.name for rule in rules]
    twice = sorted({code for code in codes if codes.count(code) > 1})
    if twice:
        raise DoctorError("internal", f"two rules share a code or a name: {', '.join(twice)}")
    return tuple(sorted(rules, key=lambda rule: rule.code))


def _load_folder(package: ModuleType, folder: str = "") -> list[Rule]:
    # Not pkgutil, whose import costs more than the listing; rules are files of an unpacked package.
    entries = os.listdir(os.path.join(package.__path__[0], folder))
    names = {entry.partition(".")[0] for entry in entries if entry.startswith("ad") and entry[2:5].isdigit()}
    return [_load_rule(f"{package.__name__}.{folder}".rstrip("."), name) for name in sorted(names)]


def _import_rules() -> ModuleType:
    """The package `doctor.rules`: as it is installed, else the folder `rules` of the checkout that this file lies in."""
    try:
        return import_module("doctor.rules")
    except ImportError as error:
        from importlib.util import module_from_spec, spec_from_file_location

        folder = os.path.join(os.path.dirname(__file__), "..", "..", "rules")
        spec = spec_from_file_location("doctor.rules", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
        if spec is None or spec.loader is None or not os.path.isdir(folder):
            raise DoctorError("internal", f"the rules are not installed ({error}); run: pip install -e .") from error
        package = module_from_spec(spec)
        sys.modules["doctor.rules"] = package
        spec.loader.exec_module(package)
        return package


def _load_rule(package: str, name: str) -> Rule:
    module = import_module(f"{package}.{name}")
    rules = [value for value in vars(module).values() if isinstance(value, Rule)]
    if len(rules) != 1:
        raise DoctorError("internal", f"rules/{name}.py must hold exactly one rule, it holds {len(rules)}")
    rule = rules[0]
    if f"{rule.code}_{rule.name}".lower().replace("-", "_") != name:
        raise DoctorError("internal", f"rules/{name}.py holds {rule.code} {rule.name}; the file must be named after them")
    return rule


def select_rules(rules: Sequence[Rule], select: Sequence[str], ignore: Sequence[str]) -> tuple[Rule, ...]:
    """The rules that `select` names (all when empty) less those that `ignore` names; of two selectors the longer match wins.

    Raises DoctorError: a selector that matches no rule.
    """
    chosen = []
    wanted = [(selector, _expand(selector, rules)) for selector in select] or [("", {rule.code for rule in rules})]
    unwanted = [(selector, _expand(selector, rules)) for selector in ignore]
    for rule in rules:
        best = max((_weight(selector) for selector, codes in wanted if rule.code in codes), default=-1)
        worst = max((_weight(selector) for selector, codes in unwanted if rule.code in codes), default=-1)
        if best > worst:
            chosen.append(rule)
    return tuple(chosen)


def find_rule(rules: Sequence[Rule], code_or_name: str) -> Rule:
    """The one rule of a code or a name.

    Raises DoctorError: there is none.
    """
    for rule in rules:
        if code_or_name.upper() == rule.code or code_or_name.lower() == rule.name:
            return rule
    raise DoctorError("usage", f"there is no rule {code_or_name!r}; `amplifier-doctor rules` lists them")


def _weight(selector: str) -> int:
    if not selector or selector.upper() == "ALL":
        return 0
    return len(selector) if re.match(CODE, selector) else 5


def _expand(selector: str, rules: Sequence[Rule]) -> set[str]:
    if selector.upper() == "ALL":
        return {rule.code for rule in rules}
    prefix = selector.upper() if re.match(CODE, selector) else None
    codes = {rule.code for rule in rules if rule.name == selector.lower() or (prefix and rule.code.startswith(prefix))}
    if not codes:
        raise DoctorError("usage", f"no rule matches {selector!r}; `amplifier-doctor rules` lists them")
    return codes
