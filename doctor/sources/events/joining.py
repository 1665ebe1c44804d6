"""Joins the runs of old logs, whose tool events carry no call id (before 2026), to the calls of the transcript."""

from __future__ import annotations

from doctor.eventlog import EventLog, ToolRun
from doctor.model import Transcript
from doctor.pairing import Pairing
from doctor.sources.events.boiling import hash_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Likeness = tuple[str, int]
"""A tool's name and the hash of its arguments."""


def join_unnamed_runs(log: EventLog, transcript: Transcript, pairing: Pairing) -> None:
    """Gives runs without an id that of the call which they are of, and enters them into `log.runs`.

    Calls and runs are alike when tool and arguments are the same. As many calls as runs of a kind are joined in their order; where the
    numbers differ nothing is, since which call the log knows can't be told. Only asked when a call lacks its result.
    """
    names = {pair.call.name for pair in pairing.pairs if not any(not site.result.maker for site in (*pair.placed, *pair.early, *pair.late))}
    runs: dict[Likeness, list[ToolRun]] = {}
    for tool, arguments_key, run in log.unnamed:
        if tool in names:
            runs.setdefault((tool, arguments_key), []).append(run)
    if not runs:
        return
    calls = _list_calls(transcript, names)
    seen = [call_id for ids in calls.values() for call_id in ids]
    for likeness, alike in runs.items():
        ids = calls.get(likeness, [])
        if len(ids) == len(alike) and all(seen.count(call_id) == 1 for call_id in ids):
            log.runs |= {call_id: run._replace(call_id=call_id) for call_id, run in zip(ids, alike, strict=True) if call_id not in log.runs}


def _list_calls(transcript: Transcript, names: set[str]) -> dict[Likeness, list[str]]:
    """Ids of all calls of some tools, in order."""
    calls: dict[Likeness, list[str]] = {}
    for message in transcript.messages:
        wanted = [call for call in message.calls if call.id and call.name in names]
        arguments = _read_arguments(transcript.read_row(message.line)) if wanted else {}
        for call in wanted:
            calls.setdefault((call.name, hash_arguments(arguments.get(call.id))), []).append(call.id)
    return calls


def _read_arguments(row: Any) -> dict[str, Any]:
    """The arguments of a row's calls by id, from either spelling."""
    content, listed = (row.get("content"), row.get("tool_calls")) if isinstance(row, dict) else (None, None)
    items = [item for part in (content, listed) if isinstance(part, list) for item in part if isinstance(item, dict)]
    return {str(item["id"]): item.get("arguments", item.get("input")) for item in items if isinstance(item.get("id"), (str, int))}
