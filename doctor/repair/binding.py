"""Warns of thinking that a model has bound to the conversation in front of it, which a fix has changed."""

from __future__ import annotations

from doctor.model import SIGNED_THINKING
from doctor.refusals import ANTHROPIC
from doctor.repair.plans import Plan

MOST_NAMED = 6


def warn_of_bound_thinking(plan: Plan) -> str:
    """What to say when signed thinking stands behind the first change, and the session may go to Anthropic; "" otherwise."""
    session = plan.after_session
    if ANTHROPIC not in session.targets:
        return ""
    kept = plan.changes.kept
    first = kept[0].count if kept and kept[0].old == kept[0].new == 0 else 0
    rows = [message.line + 1 for message in session.transcript.messages if message.flags & SIGNED_THINKING and message.line >= first]
    if not rows:
        return ""
    named = ", ".join(map(str, rows[:MOST_NAMED])) + (", …" if len(rows) > MOST_NAMED else "")
    return (
        f"signed thinking stands behind the change (row {named} of the fixed file): Claude models that bind thinking to the exact "
        'conversation before it (Opus, Sonnet and Haiku 5.5, Fable 5.1, Mythos 5.1 and later) may refuse it now with "Invalid `signature` '
        'in `thinking` block. The block is bound to a different conversation."; if they do, send '
        'thinking.block_binding.prefix_mismatch_behavior="drop_block", or take that thinking out'
    )
