"""The messages of one session in a database, as the texts of an export's entries. A row that is no JSON is left out and named."""

from __future__ import annotations

from doctor.model import LineProblem
from doctor.records import Record
from doctor.sources.formats.opencode.database import Database
from doctor.sources.formats.opencode.stored import FOREIGN, ORPHANS, Flaw, join_message, spell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Messages(Record):
    """`texts` in the order in which the client reads them; `damage` names records that are no JSON, by the message's index."""

    texts: tuple[str, ...]
    flaws: tuple[Flaw, ...]
    damage: tuple[LineProblem, ...]


def read_first(database: Database, session_id: str) -> Messages:
    """V1: messages by time and id, as the client reads them; parts by id alone."""
    order = "time_created, id" if "time_created" in database.columns["message"] else "id"
    rows = database.ask(f"SELECT id, data FROM message WHERE session_id = ? ORDER BY {order}", session_id)
    parts: dict[str, list[tuple[str, Any, str]]] = {}
    owner = "session_id" if "session_id" in database.columns["part"] else "''"
    own_messages = "SELECT id FROM message WHERE session_id = ?"
    query = f"SELECT id, message_id, data, {owner} AS owner FROM part WHERE message_id IN ({own_messages}) ORDER BY id"
    for row in database.ask(query, session_id):
        parts.setdefault(str(row["message_id"]), []).append((str(row["id"]), row["data"], str(row["owner"])))
    texts: list[str] = []
    flaws: list[Flaw] = []
    damage: list[LineProblem] = []
    for row in rows:
        message_id, own = str(row["id"]), []
        for part_id, data, other in parts.get(message_id, []):
            if other and other != session_id:
                flaws.append(Flaw(FOREIGN, len(texts), f"part {part_id} of {message_id} says that it is of session {other}", is_note=True))
            text = spell(
                data, f"part {part_id} of {message_id}", len(texts), damage, id=part_id, sessionID=session_id, messageID=message_id
            )
            own += [text] if text is not None else []
        head = spell(row["data"], f"message {message_id}", len(texts), damage, id=message_id, sessionID=session_id)
        if head is not None:
            texts.append(join_message(head, own))
    flaws += _find_orphans(database, session_id, owner)
    return Messages(tuple(texts), tuple(flaws), tuple(damage))


def _find_orphans(database: Database, session_id: str, owner: str) -> list[Flaw]:
    if owner == "''":
        return []
    rows = database.ask("SELECT id, message_id FROM part WHERE session_id = ? AND message_id NOT IN (SELECT id FROM message)", session_id)
    if not rows:
        return []
    missing = sorted({str(row["message_id"]) for row in rows})
    what = "a part belongs" if len(rows) == 1 else f"{len(rows)} parts belong"
    more = f" and {len(missing) - 2} more" if len(missing) > 2 else ""
    return [Flaw(ORPHANS, None, f"{what} to no message: {', '.join(missing[:2])}{more} is not in the database ({rows[0]['id']})")]


def read_second(database: Database, session_id: str) -> Messages:
    """V2: messages by their place in the event order."""
    columns = database.columns["session_message"]
    order = "seq" if "seq" in columns else "time_created, id" if "time_created" in columns else "id"
    texts: list[str] = []
    damage: list[LineProblem] = []
    for row in database.ask(f"SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY {order}", session_id):
        text = spell(row["data"], f"message {row['id']}", len(texts), damage, id=str(row["id"]), type=str(row["type"]))
        texts += [text] if text is not None else []
    return Messages(tuple(texts), (), tuple(damage))
