"""What is sent to a provider, in one compact form for all five APIs, and what an API would say to it.

A wire's history is a list of Sent messages that hold Blocks. It is made from a stored transcript (`stored.py`) or from a raw request
body (`bodies/`); the contracts (`anthropic.py` and its neighbours) know nothing else. Rule ids (AN-01, OC-02, …) are stable handles.
"""

from __future__ import annotations

from collections.abc import Iterable

from doctor.records import Record
from doctor.refusals import ANTHROPIC, CONVERSE, ERROR, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES, WARNING, WIRES, Violation

__all__ = [
    "ANTHROPIC", "ARGUMENTS_NOT_JSON", "ARGUMENTS_NOT_OBJECT", "BLANK", "CALL", "CONVERSE", "EMPTY", "EMPTY_LIST", "EMPTY_SIGNATURE",
    "ENDS_BLANK", "ERROR", "FAILED", "GEMINI", "NO_SIGNATURE", "NULL_SIGNATURE", "OPENAI_CHAT", "OPENAI_RESPONSES", "OTHER",
    "REDACTED", "RESULT", "SERVER_CALL", "SERVER_RESULT", "TEXT", "THINKING", "UNKNOWN_TYPE", "WARNING", "WIRES", "Block", "History",
    "Sent", "Settings", "Turn", "Violation", "merge_turns", "order_violations",
]  # fmt: skip

TEXT = "text"
CALL = "call"
RESULT = "result"
THINKING = "thinking"
REDACTED = "redacted"
SERVER_CALL = "server-call"
"""A call that the provider itself ran. Its result stands in the assistant's own turn."""
SERVER_RESULT = "server-result"
OTHER = "other"
"""Anything that no rule looks at: images, documents, cache points, and block types that are not known."""

EMPTY = 1
"""A text, a thinking text or a result without content. Of a message: its content is an empty string or list."""
BLANK = 2
"""A text of nothing but white space."""
ENDS_BLANK = 4
NO_SIGNATURE = 8
"""A thinking block without the field."""
NULL_SIGNATURE = 16
"""A thinking block whose signature is not a string."""
EMPTY_SIGNATURE = 32
ARGUMENTS_NOT_OBJECT = 64
ARGUMENTS_NOT_JSON = 128
FAILED = 256
"""A result with an error status."""
EMPTY_LIST = 512
"""Of a message: its content is an empty list."""
UNKNOWN_TYPE = 1024
"""A block whose type the API is known not to have; `name` holds the type."""


class Block(Record):
    """One content block. `line` is the stored line (0-based), or the index in the request's own list; `name` is the tool's."""

    kind: str
    id: str = ""
    name: str = ""
    flags: int = 0
    line: int = -1


class Sent(Record):
    """One message as the API counts them: `index` is its place in the list that is sent. `id` is the item's own (Responses only)."""

    role: str
    blocks: tuple[Block, ...]
    index: int
    flags: int = 0
    line: int = -1
    id: str = ""


class Settings(Record):
    """What is known beside the messages. Empty means not known.

    `as_request`: judge the bare list; else one user text is taken to follow. `thinking`: the request's thinking mode (enabled, adaptive,
    disabled). `stored`: the Responses `store` parameter. `chained`: the request continues a stored response or conversation.
    """

    model: str = ""
    host: str = ""
    as_request: bool = False
    thinking: str = ""
    stored: bool | None = None
    chained: bool = False


class History(Record):
    """All that a contract needs. `problems` are violations that only the raw body shows, found while it was lowered."""

    messages: tuple[Sent, ...]
    settings: Settings = Settings()
    problems: tuple[Violation, ...] = ()


class Turn(Record):
    """Neighbouring messages of one role, as the APIs that merge them see them."""

    role: str
    messages: tuple[Sent, ...]

    @property
    def index(self) -> int:
        return self.messages[0].index


def merge_turns(messages: Iterable[Sent]) -> list[Turn]:
    """Neighbours of one role as one turn."""
    turns: list[Turn] = []
    members: list[Sent] = []
    role = ""
    for sent in messages:
        if members and sent[0] != role:
            turns.append(Turn(role, tuple(members)))
            members = []
        role = sent[0]
        members.append(sent)
    if members:
        turns.append(Turn(role, tuple(members)))
    return turns


def order_violations(violations: Iterable[Violation]) -> list[Violation]:
    """Errors first, then by the place in the request: the first one is the API's answer."""
    return sorted(violations, key=lambda found: (found.severity != ERROR, found.index))
