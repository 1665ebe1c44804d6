"""One row of a chat log as a message: which rows ask, which answer, and which do neither."""

from __future__ import annotations

from doctor.model import SHOWS_PROGRESS, SPELLED_AS_BLOCK, SPELLED_IN_LIST, Message, ToolCall
from doctor.notes import FAILED, HIDDEN, HUMAN, PROACTIVE, TIME_KEYS, RowNote
from doctor.sources.formats.amplifier import LONGEST_PROGRESS_TEXT, has_counter
from doctor.sources.formats.amplifier_rows import view_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "operator": "assistant", "human_agent": "assistant",
         "human-agent": "assistant", "support": "assistant", "staff": "assistant"}  # fmt: skip
"""Roles by other names. People who take over from the model answer in its place."""
_BOTH = SPELLED_AS_BLOCK | SPELLED_IN_LIST


def is_chat_row(row: Any) -> bool:
    """Whether a parsed value is a row of a chat log: a role, an id and a time of its own. Amplifier keeps its times in the metadata."""
    return isinstance(row, dict) and isinstance(row.get("role"), str) and has_id(row) and has_time(row)


def has_id(row: dict[str, Any]) -> bool:
    value = row.get("id", row.get("messageId", row.get("message_id", row.get("uuid"))))
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def has_time(row: dict[str, Any]) -> bool:
    return any(isinstance(row.get(key), (str, int, float)) for key in TIME_KEYS)


def find_turn_event(row: dict[str, Any]) -> str:
    """`start`, `end` or `process` for a row that tells of a turn, or of a restart of the process; "" for any other."""
    kind = row.get("type", row.get("event"))
    if not isinstance(kind, str) or "role" in row:
        return ""
    subject, _, what = kind.lower().replace("_", ".").replace("-", ".").rpartition(".")
    if subject.endswith("turn"):
        return "start" if what in ("start", "started", "begin") else "end" if what in _ENDS else ""
    return "process" if subject in ("process", "server", "worker") and what in ("start", "started", "restart", "restarted") else ""


_ENDS = ("end", "ended", "complete", "completed", "finished", "failed", "cancelled", "canceled", "interrupted", "aborted")


def read_text(row: dict[str, Any]) -> str:
    """What a row says, in any spelling of its content."""
    content = row.get("content", row.get("text", row.get("parts")))
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(text for block in blocks if isinstance(text := block.get("text") if isinstance(block, dict) else block, str))


def read_chat_row(row: dict[str, Any], line: int, note: RowNote, text: str) -> Message:
    """The message of a row with a role."""
    role = ROLES.get(row["role"], row["role"]) if isinstance(row.get("role"), str) else ""
    message = view_row({**row, "role": role, "content": row.get("content", text)}, line)
    if message.role == "tool" and not any(result.call_id for result in message.results):
        # A receipt for people: it answers no call.
        message = message._replace(role="system", kind="system", results=())
    calls = tuple(ToolCall(call.id, call.name, _BOTH) for call in message.calls)
    message = message._replace(calls=calls, kind=_find_kind(message, note), text_key=find_text_key(note, text) if role == "user" else 0)
    if message.kind == "aside" and note.marks & HIDDEN:
        return message._replace(role="", calls=(), results=(), flags=0)
    if message.kind == "reply" and len(text) <= LONGEST_PROGRESS_TEXT and has_counter(text):
        return message._replace(flags=message.flags | SHOWS_PROGRESS)
    return message


def find_text_key(note: RowNote, text: str) -> int:
    """What tells one user message from another: its id, since people say the same thing again and again."""
    return hash((note.thread, note.id)) if note.id else hash(text)


def _find_kind(message: Message, note: RowNote) -> str:
    if note.marks & HIDDEN:
        return "aside"
    if note.marks & FAILED and not message.results:
        return "failure"
    if note.marks & HUMAN:
        return "reply"
    if note.marks & PROACTIVE:
        return "aside" if message.kind in ("prompt", "reply", "invented") else message.kind
    if message.kind in ("reminder", "hook", "invented"):
        return "prompt" if message.role == "user" else "reply"
    return message.kind
