"""Damage to whole rows: lost, doubled, moved, mixed, or with a field gone.

Every function changes the draft in place and returns whether it found something to damage.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.support.sessions import PIECES, Draft, build_session

PLACEHOLDER = json.dumps({"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."})


def results_of(draft: Draft) -> list[tuple[int, dict[str, Any]]]:
    return [(index, row) for index, row in draft.rows() if row.get("role") == "tool"]


def calls_of(draft: Draft) -> list[tuple[int, dict[str, Any]]]:
    return [(index, row) for index, row in draft.rows() if row.get("role") == "assistant" and row.get("tool_calls")]


def drop_result(draft: Draft, random: Random) -> bool:
    if not (found := results_of(draft)):
        return False
    del draft.lines[random.choice(found)[0]]
    return True


def drop_call_row(draft: Draft, random: Random) -> bool:
    if not (found := calls_of(draft)):
        return False
    del draft.lines[random.choice(found)[0]]
    return True


def duplicate_result(draft: Draft, random: Random) -> bool:
    """The same bytes again, at once or anywhere later."""
    if not (found := results_of(draft)):
        return False
    index, _ = random.choice(found)
    draft.lines.insert(random.choice((index + 1, random.randrange(index + 1, len(draft.lines) + 1))), draft.lines[index])
    return True


def contradict_result(draft: Draft, random: Random) -> bool:
    """A second result for the same id that says something else."""
    if not (found := results_of(draft)):
        return False
    index, row = random.choice(found)
    line = draft.style.dump({**row, "content": json.dumps({"error": None, "output": f"other {random.choice(PIECES)}", "success": True})})
    draft.lines.insert(random.choice((index + 1, random.randrange(index + 1, len(draft.lines) + 1))), line)
    return True


def delay_result(draft: Draft, random: Random) -> bool:
    if not (found := results_of(draft)):
        return False
    index, _ = random.choice(found)
    line = draft.lines.pop(index)
    draft.lines.insert(random.randrange(index, len(draft.lines) + 1), line)
    return True


def hasten_result(draft: Draft, random: Random) -> bool:
    if not (found := results_of(draft)):
        return False
    index, _ = random.choice(found)
    line = draft.lines.pop(index)
    draft.lines.insert(random.randrange(0, index + 1), line)
    return True


def swap_rows(draft: Draft, random: Random) -> bool:
    if len(draft.lines) < 2:
        return False
    first = random.randrange(len(draft.lines) - 1)
    second = random.choice((first + 1, random.randrange(len(draft.lines))))
    draft.lines[first], draft.lines[second] = draft.lines[second], draft.lines[first]
    return True


def write_placeholder(draft: Draft, row: dict[str, Any]) -> bytes:
    return draft.style.dump({"role": "tool", "tool_call_id": row["tool_call_id"], "name": row.get("name", ""), "content": PLACEHOLDER})


def shadow_result(draft: Draft, random: Random) -> bool:
    """A repair's placeholder in the result's place, the real one somewhere later."""
    found = [(index, row) for index, row in results_of(draft) if "tool_call_id" in row]
    if not found:
        return False
    index, row = random.choice(found)
    real = draft.lines[index]
    draft.lines[index] = write_placeholder(draft, row)
    draft.lines.insert(random.randrange(index + 1, len(draft.lines) + 1), real)
    return True


def forget_result(draft: Draft, random: Random) -> bool:
    """A placeholder in the result's place, the real one only in the event log."""
    found = [(index, row) for index, row in results_of(draft) if "tool_call_id" in row]
    if not found or draft.events is None:
        return False
    index, row = random.choice(found)
    draft.lines[index] = write_placeholder(draft, row)
    return True


def interpose_row(draft: Draft, random: Random) -> bool:
    """A reminder or a user's prompt between a call and its result."""
    if not (found := results_of(draft)):
        return False
    index, _ = random.choice(found)
    text = random.choice(("<system-reminder>mind the gap</system-reminder>", "are you still there?"))
    draft.lines.insert(index, draft.style.dump({"role": "user", "content": f"{text} {random.randrange(1000)}"}))
    return True


def reuse_id(draft: Draft, random: Random) -> bool:
    """One call and its result take the id of another call."""
    calls = [call["id"] for _, row in calls_of(draft) for call in row["tool_calls"] if "id" in call]
    if len(set(calls)) < 2:
        return False
    old, new = random.sample(sorted(set(calls)), 2)
    draft.lines = [line.replace(json.dumps(old).encode(), json.dumps(new).encode()) for line in draft.lines]
    return True


def edit_row(draft: Draft, index: int, row: dict[str, Any]) -> bool:
    draft.lines[index] = draft.style.dump(row)
    return True


def blank_role(draft: Draft, random: Random) -> bool:
    if not (found := draft.rows()):
        return False
    index, row = random.choice(found)
    row = dict(row)
    role = random.choice(("", None, "robot", 7, "absent"))
    if role == "absent":
        row.pop("role", None)
    else:
        row["role"] = role
    return edit_row(draft, index, row)


def void_content(draft: Draft, random: Random) -> bool:
    if not (found := draft.rows()):
        return False
    index, row = random.choice(found)
    row = dict(row)
    content = random.choice((None, {}, 3, ["text"], [{"type": "tool_use"}], "absent"))
    if content == "absent":
        row.pop("content", None)
    else:
        row["content"] = content
    return edit_row(draft, index, row)


def remove_id(draft: Draft, random: Random) -> bool:
    """A result without tool_call_id, or a call that lost its id in one spelling or in both."""
    results, calls = results_of(draft), calls_of(draft)
    if results and (not calls or random.randrange(2)):
        index, row = random.choice(results)
        return edit_row(draft, index, {key: value for key, value in row.items() if key != "tool_call_id"})
    if not calls:
        return False
    index, row = random.choice(calls)
    places = (
        [row["tool_calls"], [block for block in row["content"] if isinstance(block, dict) and block.get("type") == "tool_call"]]
        if isinstance(row.get("content"), list)
        else []
    )
    if not places or not all(places):
        return False
    for place in random.choice((places, places[:1], places[1:])):
        place[-1].pop("id", None)
    return edit_row(draft, index, row)


def insert_orphan(draft: Draft, random: Random) -> bool:
    row = {"role": "tool", "name": "bash", "tool_call_id": f"toolu_orphan{random.randrange(100)}", "content": "from nowhere"}
    draft.lines.insert(random.randrange(len(draft.lines) + 1), draft.style.dump(row))
    return True


def interleave_executions(draft: Draft, random: Random) -> bool:
    """The rows of two runs mixed, each run's own order kept; their events too, where both have some."""
    other = build_session(random)
    renamed = [draft.style.dump(rename_ids(row, "toolu_", "toolu_b")) for _, row in other.rows()]
    draft.lines = mix_lines(draft.lines, renamed, random)
    if draft.events is not None and other.events is not None:
        events = [json.dumps(rename_ids(json.loads(line), "toolu_", "toolu_b"), ensure_ascii=False).encode() for line in other.events]
        draft.events = mix_lines(draft.events, events, random)
    return True


def mix_lines(left: list[bytes], right: list[bytes], random: Random) -> list[bytes]:
    left, right = list(left), list(right)
    mixed: list[bytes] = []
    while left or right:
        source = left if left and (not right or random.randrange(2)) else right
        mixed.append(source.pop(0))
    return mixed


def rename_ids(value: Any, old: str, new: str) -> Any:
    """A row whose ids start differently, wherever they stand."""
    if isinstance(value, dict):
        return {
            key: new + item[len(old) :] if key in ("id", "tool_call_id") and isinstance(item, str) else rename_ids(item, old, new)
            for key, item in value.items()
        }
    return [rename_ids(item, old, new) for item in value] if isinstance(value, list) else value


def repeat_row(draft: Draft, random: Random) -> bool:
    if not draft.lines:
        return False
    index = random.randrange(len(draft.lines))
    draft.lines.insert(index + 1, draft.lines[index])
    return True
