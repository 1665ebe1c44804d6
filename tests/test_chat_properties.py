"""Chat logs drawn at random, sound and damaged: nothing crashes, a view loses no row, and what can't be proved is never an error."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.analysis.engine import diagnose
from doctor.analysis.registry import load_rules
from doctor.findings import Safety, Severity
from doctor.repair.planner import plan_fix
from doctor.session import Session
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.support.cases import NOW

RULES = load_rules()
START = 1767250800.0
TEXTS = ("Rain.", "Run 47bf3703 is at step 3/40.", "It is at step 1/40.", "thanks", "", "Error: 400 Overloaded", "?")
ODD = st.sampled_from([None, 5, True, [], {}, ["x"], {"type": "human"}, {"id": []}, [None], "error"])
"""Whatever a platform may have put where another one has a word."""
ODD_TIMES = ("never", None, "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", 10**30, -1, [], {"created": []})
IDS = st.sampled_from([f"m{number}" for number in range(8)])


@st.composite
def bare_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows in their smallest shape, in the order of time, with ids of their own."""
    rows, time = [], START
    for number in range(draw(st.integers(1, 10))):
        time += draw(st.sampled_from([0.0, 0.5, 3.0, 40.0]))
        role = draw(st.sampled_from(["user", "assistant", "system"]))
        rows.append({"id": f"m{number}", "timestamp": time, "role": role, "content": draw(st.sampled_from(TEXTS))})
    return rows


@st.composite
def rich_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The same with links, turns, threads and rows about turns, right and wrong ones."""
    rows: list[dict[str, Any]] = []
    for row in draw(bare_rows()):
        row |= draw(st.fixed_dictionaries({}, optional={
            "replyTo": st.one_of(IDS, st.lists(IDS, max_size=2)), "turnId": st.sampled_from(["t1", "t2"]), "contextThrough": IDS,
            "threadId": st.sampled_from(["a", "b"]), "id": IDS, "deleted": st.booleans(), "source": st.sampled_from(["loop", "human"]),
            "timestamp": st.sampled_from([START + 5, "2026-01-01T07:00:09Z", "2026-01-01 07:00:11", 1767250807000, *ODD_TIMES]),
            "status": ODD, "author": ODD, "role": st.one_of(st.sampled_from(["user", "assistant"]), ODD),
            "content": st.one_of(st.just("hi"), ODD),
        }))  # fmt: skip
        rows.append(row)
        if draw(st.booleans()):
            kind = draw(st.sampled_from(["turn.start", "turn.end", "process.start"]))
            time = START + draw(st.integers(0, 60))
            turn = {"turnId": draw(st.sampled_from(["t1", "t2"])), "trigger": draw(IDS), "messages": [draw(IDS)]}
            rows.append({"type": kind, "at": time, **turn})
    return rows


def open_rows(rows: list[dict[str, Any]], damage: int = -1) -> Session:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return read_session("chat.jsonl", source=MemorySource(data[:damage] if damage >= 0 else data), events=False, now=NOW)


@given(bare_rows())
@settings(max_examples=150)
def test_bare_rows_prove_nothing_about_turns(rows: list[dict[str, Any]]) -> None:
    diagnosis = diagnose(open_rows(rows), RULES)
    assert not diagnosis.failures
    for found in diagnosis.diagnostics:
        if found.code == "AD501":
            assert found.severity is Severity.INFO and found.confidence == "possible"
        if found.code in ("AD402", "AD403"):
            assert found.severity is not Severity.ERROR


@given(rich_rows(), st.integers(-1, 400))
@settings(max_examples=200)
def test_nothing_crashes_and_views_keep_every_row(rows: list[dict[str, Any]], damage: int) -> None:
    first = {"id": "m0", "timestamp": START, "role": "user", "content": "Hello, is somebody there?"}
    session = open_rows([first, *rows], damage + 100 if damage >= 0 else -1)
    assert session.transcript.format == "chat-log"
    for safety in (Safety.SAFE, Safety.UNSAFE):
        plan = plan_fix(session, RULES, safety)
        assert plan.failure is None, plan.failure
        before = session.transcript.source.read(0, session.transcript.source.size)
        after = plan.source.read(0, plan.source.size)
        gone = {one.line for one in plan.quarantined}
        kept = [line for number, line in enumerate(before.splitlines(), 1) if number not in gone]
        assert sorted(after.splitlines()) == sorted(kept)
        again = plan_fix(plan.after_session, RULES, safety)
        assert again.failure is None and not again.changed
