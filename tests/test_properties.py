"""Promises for every session, on sessions that hypothesis draws and shrinks. `python -m tests.properties` runs them by the thousand."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.properties import MOVING_NAMES
from tests.support.damage import damage_session
from tests.support.properties import TRANSCRIPT, examine_damaged, examine_sound, list_expected
from tests.support.sessions import build_session, sessions

sized = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@settings(sized, max_examples=400)
@given(sessions())
def test_sound_session_has_no_finding_and_stays_as_it_is(draft) -> None:
    assert examine_sound(draft.files()) == []


@settings(sized, max_examples=500)
@given(st.randoms(use_true_random=False))
def test_damaged_session_keeps_every_promise(random: Random) -> None:
    files, damage = damage_session(build_session(random), random)
    note(f"damage: {damage}")
    assert examine_damaged(files) == []


@settings(sized, max_examples=300)
@given(st.randoms(use_true_random=False))
def test_no_recorded_result_is_missing_afterwards(random: Random) -> None:
    draft = build_session(random)
    sound = draft.files()[TRANSCRIPT]
    files, damage = damage_session(draft, random, kinds=MOVING_NAMES)
    note(f"damage: {damage}")
    assert examine_damaged(files, list_expected(sound, files)) == []
