"""What the checks need of each stored message, in one shape for both generations. Small and kept; the message itself is let go."""

from __future__ import annotations

from doctor.placeholders import find_maker
from doctor.records import Record
from doctor.sources.formats.opencode.values import get_list, get_object, get_text, get_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN = ("pending", "running", "streaming")
LONGEST_PROMPT = 2_000
COPIED = 1_000
"""A message that is older than its session by more than this many milliseconds was copied into it by a fork."""
SWEPT = ("Tool execution aborted", "Tool execution interrupted")
"""How both generations word an open call that was ended without its tool: by an abort, or by a sweep behind a crash."""


class Tool(Record):
    """One call with its outcome. Times are milliseconds, 0 for none. `place` is its index among the parts.

    `is_swept`: somebody ended it in its tool's stead, which is no sign that its execution lived. `is_hosted`: the provider ran it.
    """

    call_id: str
    name: str
    status: str
    ran: int
    ended: int
    place: int
    is_hosted: bool
    is_swept: bool
    maker: str

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


class Entry(Record):
    """One stored message. `kind`: user, synthetic, assistant, summary, compaction, idle, system, shell, other.

    `parent` is the message that it answers (V1). `completed` is 0 while it is open; `error` is what the client noted, with `refusal` the
    provider's own words. `parts` are the types of its parts ("empty-text" for a text without any), `root` the folder that its process
    worked in. `tail` of a V1 compaction: the message from which on the old conversation stays. `status`: that of a compaction or a shell,
    the outcome of an idle mark, "compaction" for a V1 message that asks for one, "moved" for a change of place.
    """

    line: int
    id: str
    session_id: str
    kind: str
    parent: str
    created: int
    completed: int
    finish: str
    error: str
    refusal: str
    tools: tuple[Tool, ...]
    parts: tuple[str, ...]
    prompt: str
    root: str
    provider: str
    model: str
    status: str
    tail: str
    last: int
    """The last time that any of its parts bears; 0 for none."""

    @property
    def is_assistant(self) -> bool:
        return self.kind in ("assistant", "summary")

    @property
    def last_time(self) -> int:
        """The last time that it bears anywhere; 0 for none."""
        return max([self.created, self.completed, self.last, *(max(tool.ran, tool.ended) for tool in self.tools)])

    @property
    def is_aborted(self) -> bool:
        return self.error in ("MessageAbortedError", "aborted")

    @property
    def is_final(self) -> bool:
        """An answer that ends its turn."""
        return self.kind == "assistant" and self.finish not in ("", "tool-calls", "unknown", "error") and not self.error


def read_entry(value: Any, generation: int, line: int) -> Entry:
    """The entry of one message; of anything that is no message, one of kind "other"."""
    return _read_first(value, line) if generation == 1 else _read_second(value, line)


def _read_first(value: Any, line: int) -> Entry:
    info, parts = get_object(value, "info"), [part for part in get_list(value, "parts") if isinstance(part, dict)]
    time, error = get_object(info, "time"), get_object(info, "error")
    kinds = tuple(_name_part(part) for part in parts)
    role = get_text(info, "role")
    kind = {"user": "user", "assistant": "summary" if info.get("summary") is True else "assistant"}.get(role, "other")
    texts = [part for part in parts if part.get("type") == "text"]
    prompt = "\n".join(get_text(part, "text") for part in texts if not part.get("synthetic") and not part.get("ignored"))
    if kind == "user" and ("compaction" in kinds or "subtask" in kinds or (texts and all(part.get("synthetic") for part in texts))):
        kind = "synthetic"
    compaction = next((part for part in parts if part.get("type") == "compaction"), {})
    model = get_object(info, "model")
    data = get_object(error, "data")
    tools = tuple(_read_first_tool(part, place) for place, part in enumerate(parts) if part.get("type") == "tool")
    return Entry(
        line=line,
        id=get_text(info, "id"),
        session_id=get_text(info, "sessionID"),
        kind=kind,
        parent=get_text(info, "parentID"),
        created=get_time(time, "created"),
        completed=get_time(time, "completed"),
        finish=get_text(info, "finish") or ("" if error else _guess_finish(time, kinds, tools)),
        error=get_text(error, "name"),
        refusal=get_text(data, "responseBody") or get_text(data, "message"),
        tools=tools,
        parts=kinds,
        prompt=prompt[:LONGEST_PROMPT] if role == "user" else "",
        root=get_text(get_object(info, "path"), "root"),
        provider=get_text(info, "providerID") or get_text(model, "providerID"),
        model=get_text(info, "modelID") or get_text(model, "modelID"),
        status="compaction" if compaction else "",
        tail=get_text(compaction, "tail_start_id"),
        last=max((get_time(get_object(part, "time"), end) for part in parts for end in ("start", "end")), default=0),
    )


def _name_part(part: dict[str, Any]) -> str:
    """The type of a part; "empty-text" for a text that says nothing."""
    kind = get_text(part, "type")
    return "empty-text" if kind == "text" and not get_text(part, "text") else kind


def _guess_finish(time: dict[str, Any], kinds: tuple[str, ...], tools: tuple[Tool, ...]) -> str:
    """How a message of V1 ended that does not say so: those of versions before `finish`, and commands that the user ran with `!`. One with
    a call that somebody else ended was completed by somebody else, too."""
    said = [kind for kind in kinds if kind in ("text", "tool", "step-start")]
    if not get_time(time, "completed") or not said or any(tool.is_swept or tool.is_open for tool in tools):
        return ""
    return "tool-calls" if said[-1] == "tool" and "step-start" in said else "stop"


def _read_first_tool(part: dict[str, Any], place: int) -> Tool:
    state = get_object(part, "state")
    time, maker = get_object(state, "time"), find_maker(None, get_object(state, "metadata"))
    return Tool(
        get_text(part, "callID"),
        get_text(part, "tool"),
        get_text(state, "status"),
        get_time(time, "start"),
        get_time(time, "end"),
        place,
        get_object(part, "metadata").get("providerExecuted") is True,
        bool(maker) or is_swept_state(state),
        maker,
    )


def _read_second(value: Any, line: int) -> Entry:
    kind = get_text(value, "type")
    time, error, model = get_object(value, "time"), get_object(value, "error"), get_object(value, "model")
    content = [part for part in get_list(value, "content") if isinstance(part, dict)]
    kinds = {"user": "user", "assistant": "assistant", "synthetic": "synthetic", "skill": "synthetic", "system": "system", "idle": "idle"}
    retry = get_object(get_object(value, "retry"), "error")
    return Entry(
        line=line,
        id=get_text(value, "id"),
        session_id="",
        kind=kinds.get(kind, kind if kind in ("compaction", "shell") else "other"),
        parent="",
        created=get_time(time, "created"),
        completed=get_time(time, "completed"),
        finish=get_text(value, "finish"),
        error=get_text(error, "type") or ("error" if error else ""),
        refusal=get_text(error, "message") or get_text(retry, "message"),
        tools=tuple(_read_second_tool(part, place) for place, part in enumerate(content) if part.get("type") == "tool"),
        parts=tuple(get_text(part, "type") for part in content),
        prompt=get_text(value, "text")[:LONGEST_PROMPT] if kind == "user" else "",
        root="",
        provider=get_text(model, "providerID"),
        model=get_text(model, "id"),
        status="moved" if kind == "location-switched" else get_text(value, "status") or get_text(value, "outcome"),
        tail="",
        last=0,
    )


def _read_second_tool(part: dict[str, Any], place: int) -> Tool:
    state, time = get_object(part, "state"), get_object(part, "time")
    maker = find_maker(None, get_object(state, "metadata"))
    return Tool(
        get_text(part, "id"),
        get_text(part, "name"),
        get_text(state, "status"),
        get_time(time, "ran"),
        get_time(time, "completed"),
        place,
        part.get("executed") is True,
        bool(maker) or is_swept_error(get_object(state, "error")),
        maker,
    )


def is_swept_state(state: dict[str, Any]) -> bool:
    """Whether a call of V1 was ended in its tool's stead."""
    return get_text(state, "status") == "error" and (
        get_text(state, "error").startswith(SWEPT) or get_object(state, "metadata").get("interrupted") is True
    )


def is_swept_error(error: dict[str, Any]) -> bool:
    """The same of the error of a call of V2."""
    return get_text(error, "type") == "aborted" or get_text(error, "message").startswith(SWEPT)
