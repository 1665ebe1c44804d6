"""Random sessions that lose rows while the event log keeps all of them: with --recover every prompt, call and result is back in order."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from doctor.repair.planner import plan_fix
from doctor.sources.session import read_session
from tests.repair.recovering import RULES, find_mark, list_errors, read_rows, tell
from tests.support.properties import Room, flatten
from tests.support.sessions import NOW, Draft, build_session


def drop_turns(draft: Draft, random: Random) -> set[int]:
    """Lines of whole turns; the first one stays, since a session that lost its beginning may have been cleared on purpose."""
    return {line for turn in list_turns(draft)[1:] if random.randrange(2) for line in turn}


def drop_prompts(draft: Draft, random: Random) -> set[int]:
    return {turn[0] for turn in list_turns(draft)[1:] if random.randrange(2)}


def drop_replies(draft: Draft, random: Random) -> set[int]:
    return {turn[-1] for turn in list_turns(draft) if random.randrange(2)}


def drop_calls(draft: Draft, random: Random) -> set[int]:
    return {line for line, row in draft.rows() if row.get("tool_calls") and random.randrange(2)}


def drop_groups(draft: Draft, random: Random) -> set[int]:
    called = drop_calls(draft, random)
    ids = {item["id"] for line, row in draft.rows() if line in called for item in row["tool_calls"]}
    return called | {line for line, row in draft.rows() if row.get("tool_call_id") in ids}


def drop_everything(draft: Draft, random: Random) -> set[int]:
    return set(range(len(draft.lines)))


def list_turns(draft: Draft) -> list[list[int]]:
    turns: list[list[int]] = []
    for line, row in draft.rows():
        if tell(row).startswith("user please"):
            turns.append([])
        turns[-1].append(line)
    return turns


@pytest.mark.parametrize("drop", [drop_turns, drop_prompts, drop_replies, drop_calls, drop_groups, drop_everything])
@settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), max_examples=60)
@given(random=st.randoms(use_true_random=False))
def test_whatever_the_log_holds_comes_back_in_order(drop: Any, random: Random) -> None:
    draft = build_session(random)
    if draft.events is None:
        return
    sound = [row for _, row in draft.rows()]
    gone = drop(draft, random)
    note(f"dropped lines: {sorted(gone)}")
    kept = [line for index, line in enumerate(draft.lines) if index not in gone]
    draft.lines = list(kept)
    with Room(draft.files()) as room:
        plan = plan_fix(read_session(room.path, now=NOW, recover=True), RULES)
        rows = read_rows(plan)
        again = plan_fix(plan.after_session, RULES)
        data = plan.source.read(0, plan.source.size)
    assert plan.failure is None and again.failure is None and not again.changed
    assert list_errors(plan) == []
    assert list_wanted(rows) == list_wanted(sound)
    assert {row["tool_call_id"]: flatten(row) for row in rows if row["role"] == "tool"} == {
        row["tool_call_id"]: flatten(row) for row in sound if row["role"] == "tool"
    }
    remaining = iter(data.split(draft.style.eol))
    assert all(line in remaining for line in kept), "rows that were there changed or moved"
    assert sum(find_mark(row) is not None for row in rows) == len(rows) - len(kept)


def list_wanted(rows: list[dict[str, Any]]) -> list[str]:
    """Prompts, calls and replies in order. What reminders say no log holds, and blanks around a reply are not compared."""
    told = [tell(row) for row in rows if row["role"] != "tool" and not _is_reminder(row)]
    return [" ".join(text.split()) for text in told]


def _is_reminder(row: Mapping[str, Any]) -> bool:
    return row["role"] == "user" and not tell(row).startswith(("user please", "user rather"))
