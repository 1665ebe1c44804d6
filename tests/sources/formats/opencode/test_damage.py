"""Random damage to stored values: whatever stands where, a check says something or nothing, and never crashes; a fix loses nothing."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from doctor.analysis.engine import diagnose
from doctor.analysis.registry import load_rules
from doctor.errors import DoctorError
from doctor.repair.planner import plan_fix
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.support.cases import NOW
from tests.test_fixtures import FIXTURES

RULES = load_rules()
ODD: list[Any] = [None, True, 0, -1, 1.5, 1e300, "", " ", "msg_1", [], {}, [None], {"a": None}, "\ud800", 2**70, ["x", {"type": "text"}]]
EXPORTS = sorted(FIXTURES.glob("*opencode*/input/session.json"))


def list_places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        list_places(inner, found)
    return found


def damage(document: Any, draw: random.Random) -> Any:
    changed = copy.deepcopy(document)
    for _ in range(draw.randint(1, 6)):
        container, key = draw.choice(list_places(changed["messages"], []) or [(changed, "messages")])
        kind = draw.random()
        if kind < 0.6:
            container[key] = copy.deepcopy(draw.choice(ODD))
        elif kind < 0.8:
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(draw.choice(container)))
    return changed


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.parent.parent.name)
def test_damaged_exports_are_judged(path: Path) -> None:
    document = json.loads(path.read_bytes())
    for seed in range(20):
        changed = damage(document, random.Random(seed))
        text = json.dumps(changed, indent=seed % 3 or None).encode()
        try:
            session = read_session("export.json", source=MemorySource(text), now=NOW)
        except DoctorError:
            continue
        diagnosis = diagnose(session, RULES)
        assert not diagnosis.failures, (seed, diagnosis.failures)
        plan = plan_fix(session, RULES)
        assert plan.failure is None, (seed, plan.failure)
        if plan.changed:
            assert not plan_fix(plan.after_session, RULES).changed
