"""Every rule keeps its own promises: its examples, its name, its documentation, and the fix of its bad example."""

from __future__ import annotations

import pytest

from doctor.analysis.engine import diagnose
from doctor.analysis.registry import load_rules
from doctor.rulekit import Rule
from tests.support.cases import open_example

RULES = load_rules()
SECTIONS = ("## Why it matters", "## How it happens", "## How it is fixed")


def find_codes(example: object, tmp_path: object, rules: tuple[Rule, ...] = RULES) -> list[str]:
    diagnosis = diagnose(open_example(example, tmp_path), rules)
    assert not diagnosis.failures
    return [found.code for found in diagnosis.diagnostics]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_bad_example_is_reported_and_good_one_is_not(rule: Rule, tmp_path) -> None:
    assert rule.code in find_codes(rule.bad, tmp_path / "bad")
    assert rule.code not in find_codes(rule.good, tmp_path / "good")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_documentation_has_its_sections(rule: Rule) -> None:
    assert rule.summary.endswith(".")
    positions = [rule.documentation.find(section) for section in SECTIONS]
    assert positions == sorted(positions) and positions[0] > 0


def test_codes_are_in_the_known_passes() -> None:
    assert {rule.code[2] for rule in RULES} <= set("123456789")
    assert len({rule.code for rule in RULES}) == len(RULES) >= 25
