"""Results and replies that no tool and no model wrote: how each maker words them, and how ours are written.

Sources: Amplifier's native repair, its fork helper and its loop's immediate cancel; checked against sessions that they wrote.
A provider's own `[SYSTEM ERROR: Tool result missing` stand-in is made for one request and never stored, but costs nothing to know.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "amplifier-doctor"
"""Key under `metadata` that marks a row which the doctor wrote: {"code": "AD301", "from": "placeholder" | "events.jsonl:29"}."""

CONTENT = '{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}'
"""The native repair's own wording, so that the client and its model know the placeholder for what it is."""

LONGEST = 2_000
"""No maker writes a longer placeholder; longer contents are real without a look."""

# Strings, compiled at first use: compiling these at import would cost a tenth of the start-up.
_REPAIR = r'^\{"error": ?"unknown_error"(?:, ?"message": ?"(?:[^"\\]|\\.)*")?\}$'
_FORK = r'(?is)^\{.*"error": ?"[^"]*\bfork'
_CANCEL = r'(?is)^\{(?=.*"cancelled": ?true)(?=.*"tool":)(?=.*"error": ?"[^"]*cancel)'
_CLOSINGS = (
    r"^The previous tool calls? (?:were|was) interrupted\. This response was automatically repaired",
    r"(?i)session (?:was )?fork",
    r"^The previous operation was cancelled",
)


def find_maker(content: Any, metadata: Any) -> str:
    """Who made this result content: repair, fork, cancel, provider or doctor; "" when a tool did.

    Whole shapes are compared, not single words: a real result may well speak of an interruption.
    """
    if isinstance(metadata, dict) and metadata:
        mark = metadata.get(MARK)
        if isinstance(mark, dict):
            return "doctor" if mark.get("from") == "placeholder" else ""
    if not isinstance(content, str) or len(content) > LONGEST:
        return ""
    if content.startswith("{"):
        if "unknown_error" in content and re.match(_REPAIR, content):
            return "repair"
        if '"forked"' in content and re.match(_FORK, content):
            return "fork"
        if '"cancelled"' in content and re.match(_CANCEL, content):
            return "cancel"
    elif content.startswith("[SYSTEM ERROR: Tool result missing"):
        return "provider"
    return ""


def is_invented_reply(text: str) -> bool:
    """Whether an assistant text is the closing row of a repair, a fork or a cancel rather than the model's own."""
    return len(text) <= LONGEST and any(re.search(shape, text) for shape in _CLOSINGS)


def build_row(call_id: str, name: str, code: str, content: str = CONTENT, source: str = "placeholder") -> dict[str, Any]:
    """A tool row in Amplifier's shape and key order, marked as the doctor's."""
    return {"role": "tool", "name": name, "tool_call_id": call_id, "content": content, "metadata": {MARK: {"code": code, "from": source}}}
