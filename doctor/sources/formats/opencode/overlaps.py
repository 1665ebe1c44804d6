"""From signs of life to executions, tool runs, requests, and proof that two executions ran at once.

One coordinator keeps one execution a session, and a step joins every local tool before the next message is begun. So a sign of life of an
older assistant message behind the beginning of a newer one proves two executions. Messages that don't overlap share a lane; an execution
is what one lane holds of one turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from doctor.eventlog import Execution, Overlap, ToolRun
from doctor.records import Record
from doctor.sources.formats.opencode.entries import COPIED, Entry, Tool
from doctor.sources.formats.opencode.signs import BEGIN, END, FAIL, LIFE, RAN, RESULT, Sign
from doctor.sources.formats.opencode.values import write_clock, write_time

SHORTEST_ID = 4
"""A shorter id may stand in an error text by chance."""


class Story(Record):
    """All that is told by signs. `by_clock`: they are ordered by times. `born`: when the session was created, in milliseconds."""

    entries: Sequence[Entry]
    signs: Sequence[Sign]
    generation: int
    by_clock: bool
    born: int


class Part(Record):
    """One execution and the indexes of its assistant messages."""

    execution: Execution
    members: tuple[int, ...]


class Table(Record):
    """Signs by message. `last` is the order of the last sign of life, or of the beginning."""

    begins: dict[int, Sign]
    lives: dict[int, list[Sign]]
    rans: dict[tuple[int, str], Sign]
    last: dict[int, int]


def tabulate(story: Story) -> Table:
    begins: dict[int, Sign] = {}
    lives: dict[int, list[Sign]] = {}
    rans: dict[tuple[int, str], Sign] = {}
    for sign in story.signs:
        if sign.kind == BEGIN:
            begins.setdefault(sign.index, sign)
        elif sign.kind == RAN:
            rans.setdefault((sign.index, sign.call), sign)
        elif sign.kind in LIFE:
            lives.setdefault(sign.index, []).append(sign)
    last = {index: max([begin.order, *(sign.order for sign in lives.get(index, ()))]) for index, begin in begins.items()}
    return Table(begins, lives, rans, last)


def find_parts(story: Story, table: Table) -> list[Part]:
    """All executions, in the order in which they began."""
    lanes: list[list[int]] = []
    # The last sign of life of each lane, kept beside it: a long session has one lane of thousands.
    busy: list[int] = []
    for index in sorted(table.begins, key=lambda at: (table.begins[at].order, at)):
        order = table.begins[index].order
        free = [number for number, until in enumerate(busy) if until <= order]
        # A request that is refused for a call which this lane had answered by then was made by somebody who did not know that.
        free = [number for number in free if not _is_refused_for(story.entries, lanes[number], index)] or free
        own = [number for number in free if story.entries[lanes[number][-1]].parent == story.entries[index].parent]
        chosen = max(own or free, key=lambda number: table.last[lanes[number][-1]], default=None)
        if chosen is None:
            lanes.append([index])
            busy.append(table.last[index])
        else:
            lanes[chosen].append(index)
            busy[chosen] = max(busy[chosen], table.last[index])
    parts = [_build_part(story, table, members) for lane in lanes for members in _cut_lane(story.entries, lane)]
    return sorted(parts, key=lambda part: part.execution.start_line)


def _is_refused_for(entries: Sequence[Entry], lane: Sequence[int], index: int) -> bool:
    refusal = entries[index].refusal
    if not refusal:
        return False
    # What the doctor itself put in the place of a result answered nothing at that time.
    answered = (tool for member in lane for tool in entries[member].tools if not tool.is_open and not tool.maker)
    return any(names(refusal, tool) for tool in answered)


def names(refusal: str, tool: Tool) -> bool:
    """Whether an error text names a call."""
    return len(tool.call_id) >= SHORTEST_ID and tool.call_id in refusal


def _cut_lane(entries: Sequence[Entry], lane: Sequence[int]) -> list[list[int]]:
    turns: list[list[int]] = []
    for index in lane:
        if turns and not _is_new_turn(entries, turns[-1][-1], index):
            turns[-1].append(index)
        else:
            turns.append([index])
    return turns


def _is_new_turn(entries: Sequence[Entry], before: int, index: int) -> bool:
    """By the message that is answered (V1), else by the marks of idleness and by prompts behind an answer that ended its turn (V2)."""
    if entries[before].parent or entries[index].parent:
        return entries[before].parent != entries[index].parent
    between = entries[before + 1 : index]
    ended = entries[before].is_final or bool(entries[before].error)
    return any(entry.kind == "idle" or (ended and entry.kind == "user") for entry in between)


def _build_part(story: Story, table: Table, members: Sequence[int]) -> Part:
    entries = story.entries
    first, final = entries[members[0]], entries[members[-1]]
    begin = table.begins[members[0]]
    own = sorted([begin, *(sign for index in members for sign in table.lives.get(index, ()))], key=lambda sign: (sign.order, sign.line))
    stops = [sign for sign in table.lives.get(members[-1], ()) if sign.kind in (END, FAIL)]
    status = tell_status(final)
    # An abort gives no sign of life, but it is an end: it stands where the message was last seen.
    end = stops[-1] if stops else own[-1] if status else None
    end_time = max(final.completed, *(sign.time for sign in own))
    return Part(
        Execution(
            start_line=begin.line,
            start_time=write_time(first.created or begin.time),
            prompt=_find_prompt(entries, members[0]),
            # Without a key no rule looks for the prompt among the rows: here the store itself says what answers what.
            text_key=0,
            end_line=end.line if end is not None else -1,
            end_time=write_time(end_time) if end is not None else "",
            status=status,
            last_line=own[-1].line,
            last_time=write_time(own[-1].time or final.completed or final.created),
            response="",
        ),
        tuple(members),
    )


def tell_status(entry: Entry) -> str:
    """How a message ended: success, error, cancelled, incomplete (it stopped for its tools), or "" when it did not end."""
    if entry.error:
        return "cancelled" if entry.is_aborted else "error"
    if not entry.completed or not entry.finish:
        return ""
    return "success" if entry.finish not in ("tool-calls", "unknown") else "incomplete"


def _find_prompt(entries: Sequence[Entry], index: int) -> str:
    parent = entries[index].parent
    for place in range(index - 1, -1, -1):
        entry = entries[place]
        if entry.kind == "user" and (not parent or entry.id == parent):
            return entry.prompt
    return ""


def find_runs(story: Story, table: Table, parts: Sequence[Part]) -> dict[str, ToolRun]:
    """Every local call as the store saw it run, by its id."""
    runs: dict[str, ToolRun] = {}
    for part in parts:
        for index in part.members:
            entry, begin = story.entries[index], table.begins[index]
            for tool in entry.tools:
                if tool.is_hosted or not tool.call_id:
                    continue
                ran = table.rans.get((index, tool.call_id), begin)
                result = find_result(table, index, tool)
                runs[tool.call_id] = ToolRun(
                    tool.call_id, tool.name, ran.line, write_time(tool.ran or ran.time), result.line if result is not None else -1,
                    write_time(tool.ended or result.time) if result is not None else "",
                    ("tool:error" if tool.status == "error" else "tool:post") if result is not None else "",
                    part.execution.start_line, entry.id, False, -1, 0,
                )  # fmt: skip
    return runs


def find_result(table: Table, index: int, tool: Tool) -> Sign | None:
    return next((sign for sign in table.lives.get(index, ()) if sign.kind == RESULT and sign.call == tool.call_id), None)


def find_overlaps(story: Story, table: Table, parts: Sequence[Part]) -> list[Overlap]:
    """For each two executions that ran at once the best proof; for calls that never ended, which a crash leaves behind too, a doubt."""
    owner = {index: part for part in parts for index in part.members}
    best: dict[tuple[int, int], Overlap] = {}
    active: list[int] = []
    ordered = sorted(owner, key=lambda at: (table.begins[at].order, at))
    for newer in ordered:
        active = [index for index in active if table.last[index] > table.begins[newer].order]
        for older in active:
            one, other = owner[older].execution, owner[newer].execution
            key = (one.start_line, other.start_line)
            if one is not other and key not in best and not (story.by_clock and _is_hearsay(story, older, newer)):
                best[key] = _prove(story, table, owner, older, newer)
        active.append(newer)
    known = {line for key in best for line in key}
    return [*best.values(), *_find_doubts(story, table, owner, ordered, known)]


def _prove(story: Story, table: Table, owner: dict[int, Part], older: int, newer: int) -> Overlap:
    begin = table.begins[newer]
    signs = [sign for sign in table.lives[older] if sign.order > begin.order]
    sign = next((sign for sign in signs if sign.kind == RESULT), signs[0])
    one, other = story.entries[older], story.entries[newer]
    tool = next((tool for tool in one.tools if tool.call_id == sign.call), None)
    what = f"{tool.name} ({tool.call_id}) of {one.id}" if tool is not None and sign.kind == RESULT else one.id
    did = {RESULT: "finished", END: "ended", FAIL: "failed"}[sign.kind]
    if story.by_clock:
        proof = f"{what} {did} at {write_clock(sign.time)}, but {other.id} had begun at {write_clock(begin.time)}"
    else:
        times = [f" ({write_clock(sign.time)})" if sign.time else "" for sign in (sign, begin)]
        proof = f"{what} {did} at event {sign.line + 1}{times[0]}, but {other.id} had begun at event {begin.line + 1}{times[1]}"
    return Overlap(owner[older].execution, owner[newer].execution, "confirmed", proof, (begin.line, sign.line))


def _is_hearsay(story: Story, older: int, newer: int) -> bool:
    """Whether times prove nothing here: a fork copied the messages from another session, or they ran in different places, whose clocks
    may differ."""
    one, other = story.entries[older], story.entries[newer]
    if min(one.created, other.created) < story.born - COPIED or (one.root and other.root and one.root != other.root):
        return True
    return any(entry.status == "moved" for entry in story.entries[older:newer])


def _find_doubts(story: Story, table: Table, owner: dict[int, Part], ordered: Sequence[int], known: set[int]) -> list[Overlap]:
    """A local call without an end, and a newer message: an overlap that still goes on, or a crash. A message that its successor closed was
    abandoned."""
    found: list[Overlap] = []
    for older, newer in pairwise(ordered):
        entry = story.entries[older]
        tool = next((tool for tool in entry.tools if tool.is_open and not tool.is_hosted), None)
        one, other = owner[older].execution, owner[newer].execution
        if tool is None or entry.completed or one is other or {one.start_line, other.start_line} & known:
            continue
        begin = table.begins[newer]
        proof = (
            f"{tool.name} ({tool.call_id}) of {entry.id} has no end, and {story.entries[newer].id} began behind it, its request with that "
            "call open; a crash leaves the same"
        )
        found.append(Overlap(one, other, "possible", proof, (begin.line,)))
    return found
