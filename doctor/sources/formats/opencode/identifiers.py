"""Ids that hold a time: what they say, and where they run against the times that are stored beside them.

`<prefix>_` and 12 hexadecimal digits: the low 48 bits of milliseconds × 4096 + counter; 14 more characters are random. So the time in an id
wraps every 2^36 ms, last at 2026-08-14T11:19:55.136Z. Newer ids have 16 digits. Session ids hold the complement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doctor.forms import StoreProblem
from doctor.sources.formats.opencode.entries import COPIED, Entry
from doctor.sources.formats.opencode.values import get_object, get_time, write_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AGAINST_TIME = "ids-against-time"
SILENCED = "has no reply"
SPAN = 1 << 36
TOLERATED = 2_000
"""A message is stored a moment after its id was made, on a slow machine two seconds later."""
_SHORT = re.compile(r"[a-z]+_([0-9a-f]{12})[0-9A-Za-z]{14}\Z")


def read_stamp(name: str) -> int | None:
    """The milliseconds in an id, modulo 2^36; None for an id of another kind."""
    found = _SHORT.match(name)
    return (int(found[1], 16) >> 12) % SPAN if found is not None else None


def measure_skew(name: str, created: int) -> int | None:
    """How many milliseconds an id is ahead of the time beside it."""
    stamp = read_stamp(name)
    if stamp is None or not created:
        return None
    return (stamp - created + SPAN // 2) % SPAN - SPAN // 2


def find_id_problems(entries: Sequence[Entry], info: Any) -> Iterator[StoreProblem]:
    """Prompts whose ids sort on the wrong side of the answers before them. Versions that go by ids then never answer, or without end."""
    born = get_time(get_object(info, "time"), "created")
    entries = [entry for entry in entries if entry.id and entry.created and entry.created >= born - COPIED]
    answered = {entry.parent for entry in entries if entry.is_assistant}
    prompts = {entry.id: entry for entry in reversed(entries) if entry.kind == "user"}
    silent: list[tuple[Entry, Entry]] = []
    endless: list[tuple[Entry, Entry]] = []
    highest: Entry | None = None
    for entry in sorted(entries, key=lambda one: one.created):
        if entry.kind == "user" and highest is not None and entry.id < highest.id:
            silent.append((entry, highest))
        if entry.is_assistant:
            prompt = prompts.get(entry.parent)
            if prompt is not None and prompt.id > entry.id and prompt.created < entry.created and entry.is_final:
                endless.append((prompt, entry))
            if highest is None or entry.id > highest.id:
                highest = entry
    yield from _describe_silent(silent, answered)
    if endless:
        prompt, reply = endless[0]
        why = _explain(prompt, reply)
        said = f"the id of {prompt.id} sorts behind the answer to it, {reply.id}{why}: versions that go by ids never stop"
        related = ((prompt.line, "the prompt"), (reply.line, "its answer"))
        yield StoreProblem(AGAINST_TIME, prompt.line, said, related, is_doubtful=len([one for one in endless if one[0] is prompt]) < 2)


def _describe_silent(silent: Sequence[tuple[Entry, Entry]], answered: set[str]) -> Iterator[StoreProblem]:
    mute = [pair for pair in silent if pair[0].id not in answered]
    if mute:
        prompt, reply = mute[0]
        why = _explain(prompt, reply)
        more = f", and so do {len(mute) - 1} more" if len(mute) > 1 else ""
        said = (
            f"the id of {prompt.id} sorts before the answer {reply.id}, which is older{why}{more}: this version takes the "
            "prompt for answered, stores it and stays silent; go on in a new session or a fork, or with a newer version"
        )
        yield StoreProblem(AGAINST_TIME, prompt.line, said, ((reply.line, "the older answer"), (prompt.line, SILENCED)))
    elif silent:
        prompt, reply = silent[0]
        why = _explain(prompt, reply)
        said = f"the id of {prompt.id} sorts before the answer {reply.id}, which is older{why}; it was answered all the same"
        yield StoreProblem(AGAINST_TIME, prompt.line, said, ((reply.line, "the older answer"), (prompt.line, "the prompt")), is_note=True)


def _explain(prompt: Entry, reply: Entry) -> str:
    """Why: the times in ids began anew in between, or a clock was wrong."""
    if prompt.created // SPAN != reply.created // SPAN:
        wrapped = max(prompt.created, reply.created) // SPAN * SPAN
        return f" (the times in ids began anew at {write_time(wrapped)})"
    for entry in (prompt, reply):
        skew = measure_skew(entry.id, entry.created)
        if skew is not None and abs(skew) > TOLERATED:
            return f" ({entry.id} was made by a clock {abs(skew) / 1000:,.1f} s {'ahead' if skew > 0 else 'behind'})"
    return ""
