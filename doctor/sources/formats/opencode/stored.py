"""A session that a store holds in many records, written out as the export that the client would make of it: bytes to read, and what else
the store knows. So one reader serves exports, databases and the older store of files."""

from __future__ import annotations

import json
from collections.abc import Iterable

from doctor.jsontext import describe_mistake, read_json
from doctor.model import LineProblem
from doctor.records import Record
from doctor.sources.formats.opencode.signs import StoredEvent
from doctor.sources.source import MemorySource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ORPHANS = "parts-without-message"
FOREIGN = "foreign-session-id"


class Flaw(Record):
    """A StoreProblem before lines are known: `row` is the index of a message, None for the session as a whole."""

    kind: str
    row: int | None
    message: str
    ids: tuple[str, ...] = ()
    is_doubtful: bool = False
    is_note: bool = False


class Belongings(Record):
    """What a store knows of a session beside its messages."""

    events: tuple[StoredEvent, ...] = ()
    flaws: tuple[Flaw, ...] = ()
    damage: tuple[LineProblem, ...] = ()
    """Records that are no JSON, on the line of their message."""


class StoreSource(MemorySource):
    """The written out session. Every message stands on a line of its own, so that lines count messages."""

    __slots__ = ("belongings",)

    def __init__(self, data: bytes, belongings: Belongings) -> None:
        super().__init__(data)
        self.belongings = belongings


def write_out(info: dict[str, Any], messages: Iterable[str]) -> bytes:
    """The document, one message a line. `messages` are JSON texts, which keep the spelling that the store has."""
    head = '{"info":' + json.dumps(info, ensure_ascii=False, separators=(",", ":")) + ',"messages":['
    return (head + ",\n".join(messages) + "]}\n").encode("utf-8", "surrogateescape")


def join_message(head: str, parts: Iterable[str]) -> str:
    """An entry of V1's exports: a message with its parts."""
    return '{"info":' + head + ',"parts":[' + ",".join(parts) + "]}"


def graft(text: str, **added: str) -> str:
    """The text of a JSON object with members added at its end; those that it has already are replaced, for the place is what counts."""
    value = read_json(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    if value.keys() & added.keys():
        text = json.dumps({key: one for key, one in value.items() if key not in added}, ensure_ascii=False, separators=(",", ":"))
    body = text.rstrip()[:-1].rstrip()
    members = ",".join(f"{json.dumps(key)}:{json.dumps(one, ensure_ascii=False)}" for key, one in added.items())
    return f"{body}{'' if body.endswith('{') else ','}{members}}}"


def spell(data: Any, name: str, row: int, damage: list[LineProblem], **ids: str) -> str | None:
    """A record's JSON text with the ids of its columns; None for one that is no JSON, which is noted."""
    if not isinstance(data, str):
        said = "is empty (NULL)" if data is None else "is stored as bytes or a number, where the client looks for text"
        damage.append(LineProblem(row, "invalid", f"{name} {said}", 0))
        return None
    try:
        return graft(data, **ids)
    except (ValueError, RecursionError) as error:
        said = "is empty (0 bytes)" if not data.strip() else "is no object" if str(error) == "not an object" else "is no JSON"
        mistake = describe_mistake(error) if isinstance(error, json.JSONDecodeError) else None
        detail = f": {mistake.message} (character {mistake.place + 1})" if mistake is not None and data.strip() else ""
        damage.append(LineProblem(row, "invalid", f"{name} {said}{detail}", 0))
        return None
