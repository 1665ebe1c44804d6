"""A small model of the client's own repair, which runs before each turn typed by hand: what it takes for broken, and what it writes.

One call and one result are kept for each id, the last of each. A call without a result, or with one behind a real user message or behind
an assistant row without calls, gets a placeholder right behind its row, and all results of that id elsewhere are dropped. A call that
stands in content blocks only is not seen, nor are results without a call. An assistant message is invented where a turn of results is
followed by a real user message or by nothing; behind new placeholders only if they stand for all calls of the row.
"""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
CLOSING_TEXT = "The previous tool calls were interrupted. This response was automatically repaired."
CLOSING = {"role": "assistant", "content": [{"type": "text", "text": CLOSING_TEXT}]}
PLACEHOLDER = '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}'


def repair_rows(rows: list[Row]) -> tuple[bool, list[Row]]:
    """(whether the rows count as broken, the rows after the repair)."""
    broken_ids = find_broken_ids(rows)
    unfinished = find_unfinished_turns(rows)
    if not broken_ids and not unfinished:
        return False, rows
    repaired: list[Row] = []
    closes = False
    for index, row in enumerate(rows):
        if row["role"] == "tool" and row.get("tool_call_id") in broken_ids:
            continue
        if closes and row["role"] != "tool":
            if is_real_user(row):
                repaired.append(CLOSING)
            closes = False
        repaired.append(row)
        mended = [call for call in list_calls(row) if call["id"] in broken_ids]
        for call in mended:
            repaired.append({"role": "tool", "tool_call_id": call["id"], "name": call.get("tool", ""), "content": PLACEHOLDER})
        closes = closes or (bool(mended) and len(mended) == len(list_calls(row))) or index in unfinished
    return True, [*repaired, CLOSING] if closes else repaired


def find_broken_ids(rows: list[Row]) -> set[str]:
    calls = {call["id"]: index for index, row in enumerate(rows) for call in list_calls(row)}
    results = {row.get("tool_call_id"): index for index, row in enumerate(rows) if row["role"] == "tool"}
    return {id for id, index in calls.items() if id not in results or any(disturbs(row) for row in rows[index + 1 : results[id]])}


def find_unfinished_turns(rows: list[Row]) -> set[int]:
    """Indexes of the result rows that close a turn of calls and that a real user message, or the end, follows."""
    called = {call["id"] for row in rows for call in list_calls(row)}
    return {
        index
        for index, row in enumerate(rows)
        if row.get("tool_call_id") in called and (index + 1 == len(rows) or is_real_user(rows[index + 1]))
    }


def list_calls(row: Row) -> list[Row]:
    return [call for call in row.get("tool_calls") or () if call.get("id")] if row["role"] == "assistant" else []


def disturbs(row: Row) -> bool:
    return is_real_user(row) or (row["role"] == "assistant" and "tool_calls" not in row)


def is_real_user(row: Row) -> bool:
    return row["role"] == "user" and not str(row["content"]).startswith("<system-reminder>")
