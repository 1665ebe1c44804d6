"""The few rows that matter to a finding, as short texts that a person can read. Rows are read again from disk, one at a time."""

from __future__ import annotations

import json

from doctor.findings import Excerpt, Finding, Related
from doctor.rulekit import short_id
from doctor.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_TEXT = 96
MOST_ROWS = 12


def build_excerpts(session: Session, finding: Finding) -> tuple[Excerpt, ...]:
    """The finding's own row and its related rows, in the order of their files."""
    related = list(finding.related[:MOST_ROWS])
    own = Related(finding.line, "", finding.where) if finding.line is not None else None
    if own is not None and not any(row.line == own.line and row.where == own.where for row in related):
        related.append(own)
    related.sort(key=lambda row: (row.where != "transcript", row.where, row.line))
    return tuple(_build_excerpt(session, row, row.line == finding.line and row.where == finding.where) for row in related)


def _build_excerpt(session: Session, row: Related, primary: bool) -> Excerpt:
    if row.where == "events" and session.events is not None and not session.events.rows:
        return Excerpt(session.events.path, row.line + 1, "event", "", row.label, primary)
    transcript = session.transcript
    if row.where == "backup" and session.backup is not None:
        transcript = session.backup.transcript
    if not 0 <= row.line < transcript.line_count:
        return Excerpt(transcript.path, row.line + 1, "", "", row.label, primary)
    value = transcript.read_row(row.line)
    if isinstance(value, dict):
        role, text = str(value.get("role") or value.get("type") or "?"), summarise_row(value)
    else:
        role, text = "", transcript.read_line(row.line)[:LONGEST_TEXT].decode("utf-8", "replace")
    return Excerpt(transcript.path, row.line + 1, cut(role, 12), text, row.label, primary)


def summarise_row(row: dict[str, Any]) -> str:
    """What a row says, in one line: `calls bash toolu_01…9f2c`, `↳ bash  {"error":null,…`, or its text."""
    calls = _list_calls(row)
    if calls:
        return cut("calls " + ", ".join(f"{name} {short_id(call_id)}".strip() for name, call_id in calls))
    content = row.get("content")
    if row.get("role") == "tool":
        name = row.get("name") if isinstance(row.get("name"), str) else short_id(str(row.get("tool_call_id", "")))
        return cut(f"↳ {name}  {_flatten(content)}")
    return cut(_flatten(content)) if "role" in row else ""


def _list_calls(row: dict[str, Any]) -> list[tuple[str, str]]:
    listed = row.get("tool_calls")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not items and isinstance(row.get("content"), list):
        items = [block for block in row["content"] if isinstance(block, dict) and block.get("type") == "tool_call"]
    calls = []
    for item in items:
        function = item.get("function") if isinstance(item.get("function"), dict) else {}
        name = item.get("tool") or item.get("name") or function.get("name") or "?"
        calls.append((str(name), str(item.get("id", ""))))
    return calls


def _flatten(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = []
        for block in content:
            if not isinstance(block, dict):
                texts.append(json.dumps(block))
            elif block.get("type") == "tool_result":
                output = block.get("output", block.get("content", ""))
                texts.append(f"↳ {short_id(str(block.get('tool_call_id', block.get('tool_use_id', ''))))}  {_flatten(output)}")
            else:
                texts.append(str(block.get("text") or block.get("thinking") or f"[{block.get('type', '?')}]"))
        return " ".join(texts)
    return json.dumps(content, ensure_ascii=False)[: 4 * LONGEST_TEXT]


def cut(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text in one line of at most `longest` characters."""
    line = " ".join(text[: 8 * longest].split())
    return line if len(line) <= longest and len(text) <= 8 * longest else line[: longest - 1] + "…"
