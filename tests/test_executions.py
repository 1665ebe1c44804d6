"""The event cross-check against played sessions that know what really happened. `python -m tests.executions` plays them by the thousand."""

from __future__ import annotations

import pytest

from tests.executions import examine_seed
from tests.support.execution_stage import KINDS
from tests.support.executions import play_history
from tests.support.pairing_oracle import find_pairing_errors

SEEDS = 300
GROUP = 20


@pytest.mark.parametrize("first", range(0, SEEDS, GROUP))
def test_played_sessions_are_told_as_they_were(first: int) -> None:
    failed = {one.number: one.violations for one in map(examine_seed, range(first, first + GROUP)) if one.violations}
    assert failed == {}


def test_the_plays_are_worth_it() -> None:
    """Every kind comes, and what they are about happens in them: overlaps, crashes, repairs, broken transcripts."""
    histories = [play_history(seed) for seed in range(SEEDS)]
    happened = {what for history in histories for what in history.happened}
    assert {history.kind for history in histories} == set(KINDS)
    assert happened >= {"killed", "repair", "refused", "second process", "saves fail", "torn event", "cleared", "compacted", "rewound"}
    assert sum(bool(history.overlaps) for history in histories) > SEEDS // 5
    assert sum(bool(find_pairing_errors(history.files.get("transcript.jsonl", b""))) for history in histories) > SEEDS // 20


def test_a_seed_always_plays_the_same_session() -> None:
    assert play_history(7).files == play_history(7).files
