"""Damage that real sessions have met, done to a sound one: `damage_session(draft, random)` returns the files and the names of the damage.

Damage to rows comes before damage to bytes, since a row that can't be read can't be moved either.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.support import damage_bytes as to_bytes
from tests.support import damage_rows as to_rows
from tests.support.sessions import Draft, build_session

Damage = Callable[[Draft, Random], bool]

MOVING: tuple[Damage, ...] = (
    to_rows.drop_result,
    to_rows.duplicate_result,
    to_rows.delay_result,
    to_rows.hasten_result,
    to_rows.shadow_result,
    to_rows.forget_result,
    to_rows.interpose_row,
    to_rows.insert_orphan,
    to_rows.repeat_row,
    to_bytes.insert_blank_lines,
    to_bytes.write_byte_order_mark,
)
"""After these alone, every result that the session or its events still hold must be back at its call."""
SPOILING: tuple[Damage, ...] = (
    to_rows.drop_call_row,
    to_rows.contradict_result,
    to_rows.swap_rows,
    to_rows.reuse_id,
    to_rows.blank_role,
    to_rows.void_content,
    to_rows.remove_id,
    to_rows.interleave_executions,
    to_bytes.damage_events,
    to_bytes.glue_lines,
    to_bytes.write_nul_run,
    to_bytes.write_invalid_byte,
    to_bytes.write_lone_surrogate,
    to_bytes.truncate_last_line,
)
KINDS: dict[str, Damage] = {
    damage.__name__: damage for damage in sorted((*MOVING, *SPOILING), key=lambda damage: damage.__module__ == to_bytes.__name__)
}


def damage_session(
    draft: Draft, random: Random, most: int = 5, kinds: tuple[str, ...] = tuple(KINDS)
) -> tuple[dict[str, bytes], list[str]]:
    """Does one to `most` kinds of damage to the draft. Returns the files by name and the names of the damage that was done."""
    chosen = {random.choice(kinds) for _ in range(random.randrange(1, most + 1))}
    done = [name for name in KINDS if name in chosen and KINDS[name](draft, random)]
    return draft.files(), done


def damaged_sessions() -> Any:
    """Hypothesis strategy for (files by name, names of the damage)."""
    from hypothesis import strategies

    return strategies.randoms(use_true_random=False).map(lambda random: damage_session(build_session(random), random))
