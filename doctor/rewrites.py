"""Edits inside a recorded row, all of them unsafe: the row in the client's own spelling, with string ids, with content.

A row is read with the standard library, which keeps big integers and key order, and written in the style of its own line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

from doctor.findings import Edit, Fix, Rewritten, Safety
from doctor.model import Transcript
from doctor.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]
else:
    Row = dict


STYLE_BYTES = 1 << 16
EMPTY_NOTE = "(empty)"
THINKING_NOTE = "(thinking of another provider, taken out)"
"""What stands where a message would be left without content: every provider refuses that somewhere."""


def read_style(transcript: Transcript, line: int) -> bytes:
    """As much of a line as tells how its client writes: one row may hold thousands of calls, each of which asks."""
    start = transcript.starts[line]
    return transcript.source.read(start, min(transcript.starts[line + 1] - start, STYLE_BYTES))


def write_row(row: Mapping[str, Any], like: bytes) -> bytes:
    """One row as JSON in the style of a neighbouring line (`read_style`): its separators, and ASCII only where the neighbour is.

    Lone surrogates are written as escapes, since they have no UTF-8 form.
    """
    compact = b'": ' not in like[:200] and b'":' in like[:200]
    separators = (",", ":") if compact else (", ", ": ")
    # A neighbour that is ASCII though it holds \u escapes was written ASCII-only (amplifier-agent does that).
    ascii_only = like.isascii() and b"\\u" in like
    text = json.dumps(row, ensure_ascii=ascii_only, separators=separators)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(row, ensure_ascii=True, separators=separators).encode("ascii")


def rewrite_line(session: Session, line: int, title: str, change: Callable[[Row], Row | None]) -> Fix | None:
    """A fix that replaces a row by what `change` makes of it; None when there is nothing to change. The old bytes go to the quarantine."""
    body = session.transcript.read_line(line)
    row = session.transcript.read_row(line)
    changed = change(row) if isinstance(row, dict) else None
    if changed is None:
        return None
    written = write_row(changed, body)
    return None if written == body else Fix(title, Safety.UNSAFE, (Edit(line, line + 1, (written,)),), (line,))


def rewrite_lines(session: Session, lines: Iterable[int], title: str, change: Callable[[Row], Row | None]) -> Fix | None:
    """As rewrite_line for several rows in one fix; rows in which there is nothing to change stay out."""
    fixes = [fix for line in lines if (fix := rewrite_line(session, line, title, change)) is not None]
    if not fixes:
        return None
    edits = tuple(edit for fix in fixes for edit in fix.edits)
    return Fix(title, Safety.UNSAFE, edits, tuple(line for fix in fixes for line in fix.quarantined))


def rewrite_later(lines: Iterable[int], title: str, change: Callable[[Row], Row | None]) -> Fix:
    """As rewrite_lines, but the rows are read and written only when the fix is applied: for many rows, which all need the change."""
    chosen = tuple(lines)
    return Fix(title, Safety.UNSAFE, tuple(Edit(line, line + 1, (Rewritten(line, change),)) for line in chosen), chosen)


def rewrite_row(transcript: Transcript, content: Rewritten) -> bytes:
    """The bytes of a row as `change` makes it; those that it has where there is nothing to change."""
    body = transcript.read_line(content.line)
    row = transcript.read_row(content.line)
    changed = content.change(row) if isinstance(row, dict) else None
    return body if changed is None else write_row(changed, body)


def spell_calls(row: Row) -> Row | None:
    """The row with each call in both of Amplifier's spellings: a `tool_call` block and a `{id, tool, arguments}` item."""
    calls = _read_calls(row)
    if not calls or len({call_id for call_id, _, _ in calls}) != len(calls) or any(not call_id or not name for call_id, name, _ in calls):
        return None
    content = row.get("content")
    if isinstance(content, str):
        blocks = [{"type": "text", "text": content}] if content else []
    else:
        blocks = [block for block in content or [] if not (isinstance(block, dict) and block.get("type") in ("tool_call", "tool_use"))]
    blocks += [{"type": "tool_call", "id": call_id, "name": name, "input": given} for call_id, name, given in calls]
    changed = dict(row)
    changed["content"] = blocks
    changed["tool_calls"] = [{"id": call_id, "tool": name, "arguments": given} for call_id, name, given in calls]
    return changed


def _read_calls(row: Row) -> list[tuple[str, str, Row]]:
    """(id, name, arguments) of the calls, from the list where there is one, else from the blocks."""
    listed = row.get("tool_calls")
    items = listed if isinstance(listed, list) and listed else row.get("content")
    found = []
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or (items is not listed and item.get("type") not in ("tool_call", "tool_use")):
            continue
        function = item.get("function") if isinstance(item.get("function"), dict) else {}
        given = next((source[key] for source in (item, function) for key in ("arguments", "input") if key in source), {})
        name = item.get("tool") or item.get("name") or function.get("name") or ""
        found.append((item.get("id") if isinstance(item.get("id"), str) else "", str(name), _parse_arguments(given)))
    return found


def _parse_arguments(given: Any) -> Row:
    """Arguments as an object; a string is parsed (chat clients store JSON text), and kept under `raw` where that fails."""
    if isinstance(given, dict):
        return given
    if isinstance(given, str):
        from doctor.jsontext import read_json

        try:
            parsed = read_json(given or "{}")
        except (ValueError, RecursionError):
            parsed = None
        return parsed if isinstance(parsed, dict) else {"raw": given}
    return {} if given is None else {"raw": given}


def parse_arguments(row: Row) -> Row | None:
    """The row with the arguments of all its calls as objects, in both spellings."""
    changed = json.loads(json.dumps(row))
    touched = False
    for key, kinds, names in (("content", ("tool_call", "tool_use"), ("input",)), ("tool_calls", None, ("arguments", "input"))):
        items = changed.get(key)
        for item in items if isinstance(items, list) else []:
            if not isinstance(item, dict) or (kinds is not None and item.get("type") not in kinds) or "function" in item:
                continue
            for name in names:
                if name in item and not isinstance(item[name], dict):
                    item[name] = _parse_arguments(item[name])
                    touched = True
    return changed if touched else None


def rename_ids(row: Row, names: Mapping[str, str]) -> Row | None:
    """The row with ids of calls and results replaced, in every spelling."""
    return _change_ids(row, ("id", "tool_call_id", "tool_use_id"), lambda value: names.get(value) if isinstance(value, str) else None)


def stringify_ids(row: Row) -> Row | None:
    """The row with numeric ids of calls and results written as strings."""
    return _change_ids(row, ("id", "tool_call_id"), lambda value: str(value) if value.__class__ is int else None)


def _change_ids(row: Row, keys: Iterable[str], change: Callable[[Any], str | None]) -> Row | None:
    """The row with what `change` makes of its ids, in every spelling; one of which it makes None stays."""
    changed = json.loads(json.dumps(row))
    places = [(changed, "tool_call_id")]
    for part in ("tool_calls", "content"):
        items = changed.get(part)
        places += [(item, key) for item in items if isinstance(item, dict) for key in keys] if isinstance(items, list) else []
    touched = False
    for item, key in places:
        value = change(item.get(key))
        if value is not None:
            item[key] = value
            touched = True
    return changed if touched else None


def fill_empty_text(row: Row) -> Row | None:
    """The row without empty text blocks; where nothing to read would be left, with EMPTY_NOTE in their place."""
    content = row.get("content")
    if isinstance(content, str):
        return {**row, "content": EMPTY_NOTE} if not content.strip() else None
    if not isinstance(content, list):
        return None
    kept = [block for block in content if not (_is_text(block) and not block["text"])]
    if all(_is_text(block) and not block["text"].strip() for block in kept) and not row.get("tool_calls"):
        kept = [{"type": "text", "text": EMPTY_NOTE}]
    return {**row, "content": kept} if kept != content else None


def strip_unsigned_thinking(row: Row) -> Row | None:
    """The row without thinking that carries no signature; where nothing is left, with THINKING_NOTE in its place."""
    content = row.get("content")
    if not isinstance(content, list):
        return None
    kept = [block for block in content if not _is_unsigned(block)]
    if len(kept) == len(content):
        return None
    return {**row, "content": kept or [{"type": "text", "text": THINKING_NOTE}]}


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _is_unsigned(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") in ("thinking", "reasoning")
        and not (isinstance(block.get("signature"), str) and block["signature"])
    )


def merge_repeated_calls(row: Row) -> Row | None:
    """The row with calls that it spells twice, word for word, spelled once; None when the copies differ."""
    changed = dict(row)
    touched = False
    for key in ("content", "tool_calls"):
        items = row.get(key)
        if not isinstance(items, list):
            continue
        kept: list[Any] = []
        for item in items:
            is_call = isinstance(item, dict) and item.get("id") is not None
            twin = next((other for other in kept if is_call and isinstance(other, dict) and other.get("id") == item["id"]), None)
            if twin is None:
                kept.append(item)
            elif twin == item:
                touched = True
            else:
                return None
        changed[key] = kept
    return changed if touched else None


def replace_constants(row: Row) -> Row | None:
    """The row with NaN and infinite numbers, which JSON does not have, as null."""
    found: list[str] = []
    changed = json.loads(json.dumps(row), parse_constant=found.append)
    return changed if found else None


def replace_surrogates(row: Row) -> Row | None:
    """The row with each lone surrogate as U+FFFD, the character for something that can't be shown."""
    text = json.dumps(row, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
