"""Sessions in OpenCode's databases of both generations: their messages as an export holds them, their events, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from doctor.errors import DoctorError
from doctor.jsontext import read_json
from doctor.records import Record
from doctor.sources.formats.opencode.database import SESSIONS, Database
from doctor.sources.formats.opencode.messages import read_first, read_second
from doctor.sources.formats.opencode.signs import StoredEvent
from doctor.sources.formats.opencode.stored import Belongings, Flaw, StoreSource, write_out
from doctor.sources.formats.opencode.values import get_object, get_time, write_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLAIMS = ("execution_claimed_at", "time_suspended")
JSON_COLUMNS = ("metadata", "revert", "permission", "model")


class SessionRow(Record):
    """One session as the list of a database shows it. Times in milliseconds."""

    id: str
    directory: str
    updated: int


def list_sessions(database: Database) -> list[SessionRow]:
    """All sessions, by id. The names of their columns are those that this version has."""
    table = find_table(database)
    columns = database.columns[table]
    directory = "directory" if "directory" in columns else "''"
    updated = "time_updated" if "time_updated" in columns else "0"
    rows = database.ask(f"SELECT id, {directory}, {updated} FROM {table} ORDER BY id")
    return [SessionRow(str(row[0]), str(row[1] or ""), row[2] if isinstance(row[2], int) else 0) for row in rows]


def find_table(database: Database) -> str:
    return next(table for table in SESSIONS if database.has(table, "id"))


def load_session(database: Database, session_id: str) -> StoreSource:
    """One session as the export that holds all of it, unsettled messages too. Raises DoctorError: it is not there."""
    rows = database.ask(f"SELECT * FROM {find_table(database)} WHERE id = ?", session_id)
    if not rows:
        raise DoctorError("unreadable", f"{database.path} holds no session {session_id}", database.path)
    session = dict(rows[0])
    generation = find_generation(database, session_id)
    info = build_info(session, generation)
    messages = read_first(database, session_id) if generation == 1 else read_second(database, session_id)
    events = tuple(read_events(database, session_id))
    flaws = (*messages.flaws, *_find_flaws(database, session), *_find_discarded(events))
    belongings = Belongings(events, flaws, messages.damage)
    return StoreSource(write_out(info, messages.texts), belongings)


def find_generation(database: Database, session_id: str) -> int:
    """1 where the session's messages are in `message`, 2 where they are in `session_message`. A database of V2 may hold both."""
    holds = {}
    for table in ("message", "session_message"):
        holds[table] = table in database.columns and bool(database.ask(f"SELECT 1 FROM {table} WHERE session_id = ? LIMIT 1", session_id))
    if holds["message"] and holds["session_message"]:
        return 2 if "session_v2" in database.columns else 1
    return 2 if holds["session_message"] or "message" not in database.columns else 1


def build_info(session: dict[str, Any], generation: int) -> dict[str, Any]:
    """The session's record in the shape of an export. SQLite lets a column hold anything; what has no place in JSON is left out."""
    session = {key: value for key, value in session.items() if not isinstance(value, bytes) and value not in (inf, -inf)}
    names = {"project_id": "projectID", "parent_id": "parentID", "workspace_id": "workspaceID"}
    plain = ("id", "slug", "directory", "path", "title", "agent", "version", "cost")
    info = {key: session[key] for key in plain if session.get(key) is not None}
    info |= {name: session[key] for key, name in names.items() if session.get(key) is not None}
    info |= {key: value for key in JSON_COLUMNS if (value := _parse(session.get(key))) is not None}
    if generation == 2:
        info["location"] = {"directory": info.pop("directory", "")}
    if session.get("summary_files") is not None:
        info["summary"] = {name: session.get(f"summary_{name}") or 0 for name in ("additions", "deletions", "files")}
    if "tokens_input" in session:
        cache = {"read": session.get("tokens_cache_read") or 0, "write": session.get("tokens_cache_write") or 0}
        info["tokens"] = {name: session.get(f"tokens_{name}") or 0 for name in ("input", "output", "reasoning")} | {"cache": cache}
    times = ("created", "updated", "compacting", "archived")
    info["time"] = {name: session[f"time_{name}"] for name in times if session.get(f"time_{name}") is not None}
    return info


def _parse(text: Any) -> Any:
    try:
        return read_json(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def read_events(database: Database, session_id: str) -> Iterator[StoredEvent]:
    if not database.has("event", "aggregate_id", "seq", "type", "data"):
        return
    moment = next((column for column in ("created", "time_created") if column in database.columns["event"]), "0")
    query = f"SELECT type, data, {moment} AS moment FROM event WHERE aggregate_id = ? ORDER BY seq"
    for line, row in enumerate(database.ask(query, session_id)):
        data = _parse(row["data"])
        time = row["moment"] if isinstance(row["moment"], int) else 0
        time = time or _find_time(data)
        yield StoredEvent(line, str(row["type"]), time, data)


def _find_time(data: Any) -> int:
    """The time that an event's own data bears; early tables have no column for it."""
    if not isinstance(data, dict):
        return 0
    times = get_object(get_object(data, "info"), "time")
    return get_time(data, "time") or get_time(times, "completed") or get_time(times, "created")


def _find_flaws(database: Database, session: dict[str, Any]) -> Iterator[Flaw]:
    """What is wrong around a session: the file, its project, and a claim on it."""
    if database.complaint:
        yield Flaw("damaged-database", None, f"SQLite's own check of this database fails: {database.complaint}")
    if database.dangling:
        said = f"rows of {', '.join(database.dangling)} in this database refer to rows that are not there; a clean-up may stop at them"
        yield Flaw("damaged-database", None, said, is_doubtful=True)
    project = session.get("project_id")
    if database.has("project", "id", "worktree") and project:
        rows = database.ask("SELECT worktree FROM project WHERE id = ?", project)
        if not rows:
            yield Flaw("hidden-session", None, f"its project {project} is not in the database: no list of sessions shows it")
        else:
            twins = database.ask("SELECT id FROM project WHERE worktree = ? AND id <> ?", rows[0][0], project)
            if twins and project != "global":
                others = ", ".join(str(row[0]) for row in twins[:3])
                said = (
                    f"its project {project} is one of several for the same folder (also {others}): a list that goes by the other lacks it"
                )
                yield Flaw("hidden-session", None, said, is_doubtful=True)
    claim = next((session[column] for column in CLAIMS if isinstance(session.get(column), int) and session[column]), None)
    if claim is not None:
        said = (
            f"an execution of this session is claimed since {write_time(claim)}; by whom is not recorded, and a claim outlives its process"
        )
        yield Flaw("claimed-session", None, said, is_note=True)


def _find_discarded(events: Iterable[StoredEvent]) -> Iterator[Flaw]:
    """Calls with two ends in the event order: the row holds the first, the second one is lost to it."""
    ends: dict[str, list[str]] = {}
    for event in events:
        name = event.type.rpartition(".")[0]
        if name in ("session.tool.success", "session.tool.failed") and isinstance(event.data, dict):
            ends.setdefault(str(event.data.get("callID", "")), []).append(name)
    for call_id, names in ends.items():
        if call_id and names[0] == "session.tool.failed" and "session.tool.success" in names[1:]:
            said = f"{call_id} was ended as failed while its tool still ran; the result that came later is in the event table only"
            yield Flaw("discarded-result", None, said, ())
