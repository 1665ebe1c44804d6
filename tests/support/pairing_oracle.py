"""A second opinion on calls and results, written from the providers' published rules and sharing no code with the package.

`find_pairing_errors(transcript bytes)` lowers the stored rows to what each API would be sent and lists what it would refuse:

- Anthropic (AN-01 to AN-04): neighbours of one role are merged, tool rows belong to the user. Every call of an assistant turn is answered
  in the leading run of results of the turn that follows, once each, and nothing else is answered there; no id twice in one turn.
- Chat Completions (OC-01 to OC-03): the raw list. Behind an assistant row with calls come tool rows for all its ids, once each, before
  any other row; a tool row stands nowhere else.

Rows that are no JSON object, or have no known role, are never sent: the loader refuses the file first. They are left out.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

ROLES = ("system", "developer", "user", "assistant", "function", "tool")


class PairingError(NamedTuple):
    """`rule` is the provider contract's name for it; `line` is 0-based; `id` the call or result that it is about."""

    rule: str
    line: int
    id: str


class Row(NamedTuple):
    """One sent row: the ids that it calls (in order, a repeated id twice), and its content parts as "text" or the id of a result."""

    line: int
    role: str
    calls: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]


def find_pairing_errors(data: bytes) -> list[PairingError]:
    rows = [row for line, raw in enumerate(data.split(b"\n")) if (row := read_row(raw, line)) is not None]
    return judge_merged(rows) + judge_raw(rows)


def read_row(raw: bytes, line: int) -> Row | None:
    try:
        row = json.loads(raw.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(row, dict) or row.get("role") not in ROLES:
        return None
    role = row["role"]
    if role == "tool":
        return Row(line, role, (), (("result", read_id(row.get("tool_call_id"))),))
    content = row.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    calls = read_calls(row, blocks) if role == "assistant" else ()
    parts = []
    for block in blocks:
        if block.get("type") == "tool_result" and role != "assistant":
            parts.append(("result", read_id(block.get("tool_call_id", block.get("tool_use_id")))))
        elif block.get("type") not in ("tool_call", "tool_use"):
            parts.append(("text", ""))
    if not parts and not calls:
        parts.append(("text", ""))
    return Row(line, role, calls, tuple(parts))


def read_id(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def read_calls(row: dict[str, Any], blocks: list[dict[str, Any]]) -> tuple[str, ...]:
    """Ids in both spellings: those of the blocks, then what only the list has. A call without id answers to "null" and to nobody."""
    in_blocks = [read_id(block.get("id")) for block in blocks if block.get("type") in ("tool_call", "tool_use")]
    listed = row.get("tool_calls")
    in_list = [read_id(item.get("id")) for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    rest = list(in_list)
    for id in in_blocks:
        if id in rest:
            rest.remove(id)
    return (*in_blocks, *rest)


def judge_merged(rows: list[Row]) -> list[PairingError]:
    turns: list[tuple[str, list[Row]]] = []
    for row in rows:
        if row.role in ("system", "developer"):
            continue
        role = "assistant" if row.role == "assistant" else "user"
        if turns and turns[-1][0] == role:
            turns[-1][1].append(row)
        else:
            turns.append((role, [row]))
    errors: list[PairingError] = []
    asked: dict[str, int] = {}
    for number, (role, members) in enumerate(turns):
        if role == "assistant":
            asked = {}
            for row in members:
                for id in row.calls:
                    if id in asked:
                        errors.append(PairingError("AN-04", row.line, id))
                    asked[id] = row.line
            if number + 1 == len(turns):
                errors += [PairingError("AN-01", line, id) for id, line in asked.items()]
            continue
        errors += judge_answers(members, asked)
        asked = {}
    return errors


def judge_answers(members: list[Row], asked: dict[str, int]) -> list[PairingError]:
    errors = []
    answered: set[str] = set()
    leading = True
    for row in members:
        for kind, id in row.parts:
            if kind == "text":
                leading = False
            elif id not in asked:
                errors.append(PairingError("AN-02", row.line, id))
            elif id in answered:
                errors.append(PairingError("AN-03", row.line, id))
            elif leading:
                answered.add(id)
    return errors + [PairingError("AN-01", line, id) for id, line in asked.items() if id not in answered]


def judge_raw(rows: list[Row]) -> list[PairingError]:
    errors: list[PairingError] = []
    owner = -1
    waiting: set[str] = set()
    answered: set[str] = set()
    for row in rows:
        results = [id for kind, id in row.parts if kind == "result"]
        if results:
            for id in results:
                if id in waiting:
                    waiting.discard(id)
                    answered.add(id)
                else:
                    errors.append(PairingError("OC-03" if id in answered else "OC-02", row.line, id))
            continue
        errors += [PairingError("OC-01", owner, id) for id in sorted(waiting)]
        owner, waiting, answered = row.line, set(row.calls), set()
    return errors + [PairingError("OC-01", owner, id) for id in sorted(waiting)]
