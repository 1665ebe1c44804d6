"""What findings mean for OpenCode, and its own fixes: spans of the export's text are replaced, everything else keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from doctor.findings import Confidence, Edit, Finding, Fix, Safety, Severity
from doctor.jsontext import read_json
from doctor.model import Transcript
from doctor.placeholders import MARK
from doctor.records import Record
from doctor.session import Session
from doctor.sources.formats.opencode.contents import Contents
from doctor.sources.formats.opencode.document import Member, measure_bytes, scan_list, scan_object
from doctor.sources.formats.opencode.entries import OPEN, Entry, Tool
from doctor.sources.formats.opencode.values import get_list, get_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING_RESULT = "AD301"
PREFILL = "AD401"
TWICE = "AD403"
HISTORY = ("AD501", "AD505")
UNREADABLE = "AD103"
OF_OTHERS = frozenset({"AD107", "AD108", "AD110", "AD503", "AD504", "AD507", "AD508", "AD601", "AD602", "AD603", "AD604"})
"""Rules about files and habits that OpenCode does not have."""
INTERRUPTED = "Tool execution was interrupted"
"""How the client words it: in brackets inside V1's requests, and at the beginning of what V2 stores."""


class Splice(Record):
    """The bytes [start, stop) of the file, and what stands there instead."""

    start: int
    stop: int
    text: bytes


def adapt(contents: Contents, session: Session, code: str, finding: Finding) -> Finding | None:
    """The finding as it holds here. Fixes that move or write rows of lines can't be used: an open call is ended in its own part."""
    if code in OF_OTHERS:
        return None
    if code == PREFILL and finding.confidence is Confidence.POSSIBLE and not session.as_request:
        # Which reply answers which prompt is known here, and prompts that come in meanwhile are answered together.
        return None
    if code == TWICE and _answers_others(contents, finding):
        return None
    if code == UNREADABLE and contents.belongings is not None:
        fix = Fix("`fix -o FILE` writes the session as an export without this record", Safety.MANUAL)
        place = contents.find(finding.line) if finding.line is not None else None
        # A message that is lost as a whole has no row: the one that stands there now is another.
        line = finding.line if place is not None and contents.entries[place].id in finding.message else None
        return finding._replace(message=finding.message.removeprefix("the line is not JSON: "), fix=fix, line=line)
    if code in HISTORY:
        # What is left of it on disk does not keep the client from going on.
        finding = finding._replace(at_most=finding.at_most or Severity.WARNING)
    if code != MISSING_RESULT or finding.where != "transcript" or finding.line is None:
        return finding._replace(fix=None)
    place = contents.find(finding.line)
    if place is None or finding.at_most is Severity.INFO:
        return finding._replace(fix=None)
    entry = contents.entries[place]
    tool = next((tool for tool in entry.tools if tool.call_id in finding.ids and tool.is_open), None)
    fix = end_call(contents, session.transcript, place, tool) if tool is not None else None
    message = finding.message.removesuffix(": the turn was interrupted")
    said = f"{message}: it is still marked as {tool.status}; the client tells the model that it was interrupted" if tool else message
    return finding._replace(message=said, fix=fix, at_most=Severity.WARNING)


def _answers_others(contents: Contents, finding: Finding) -> bool:
    """Whether a message that the client wrote itself stands between the replies of a finding (V2): the same words then prove nothing."""
    lines = [row.line for row in finding.related if row.where == "transcript"] + ([finding.line] if finding.line is not None else [])
    places = sorted({place for place in map(contents.find, lines) if place is not None and contents.entries[place].is_assistant})
    between = contents.entries[places[0] : places[-1]] if places else ()
    return contents.document.generation == 2 and any(entry.kind in ("synthetic", "shell", "compaction") for entry in between)


def end_call(contents: Contents, transcript: Transcript, place: int, tool: Tool) -> Fix | None:
    """A fix that ends an open call as an error, in the client's words and marked, and its message with it where that is open too."""
    entry, record = contents.entries[place], contents.document.records[place]
    generation = contents.document.generation
    text = transcript.source.read(record.start, record.stop - record.start).decode("utf-8", "surrogateescape")
    moment = entry.last_time
    try:
        spans = _find_spans(text, tool, generation)
        value = read_json(text)
    except (ValueError, LookupError):
        return None
    part = [one for one in get_list(value, "parts" if generation == 1 else "content") if isinstance(one, dict)][tool.place]
    changes: list[tuple[Member, Any]] = [(spans["state"], end_state(part, generation, moment, entry))]
    if generation == 2 and not isinstance(part.get("time"), dict):
        return None
    if generation == 2:
        changes.append((spans["tool.time"], {**part["time"], "completed": part["time"].get("completed", moment)}))
    if not entry.completed and "time" in spans and isinstance(spans["time"].value, dict):
        time = get_object(get_object(value, "info") if generation == 1 else value, "time")
        changes.append((spans["time"], {**time, "completed": time.get("completed", moment)}))
    try:
        splices = _write(transcript, record.start, text, changes)
    except ValueError:
        # A number that JSON can spell and JavaScript takes for infinite: it can't be written again.
        return None
    title = f"end {tool.name} ({tool.call_id}) in row {entry.line + 1} as interrupted, marked, in the client's words"
    return Fix(title, Safety.SAFE, tuple(_cut_edits(transcript, splices)), (), "placeholder")


def end_state(part: dict[str, Any], generation: int, moment: int, entry: Entry) -> dict[str, Any]:
    """The state of a call that nobody will end any more. All that was recorded stays, what has no place in such a state in the mark."""
    state = get_object(part, "state")
    given = state.get("input")
    ended: dict[str, Any] = {"status": "error", "input": given if isinstance(given, dict) else _parse(given)}
    if generation == 1:
        time = get_object(state, "time")
        ended |= {"error": INTERRUPTED, "time": time | {"start": time.get("start") or entry.created, "end": moment}}
    else:
        ended["error"] = {"type": "aborted", "message": INTERRUPTED}
        ended |= {key: state[key] for key in state if key not in (*ended, "metadata", "raw", "title") and state[key] != []}
    was = {key: value for key, value in state.items() if key != "metadata" and not _keeps(key, ended.get(key), value) and value != []}
    if not isinstance(state.get("metadata", {}), dict):
        was["metadata"] = state["metadata"]
    return ended | {"metadata": get_object(state, "metadata") | {MARK: {"code": MISSING_RESULT, "from": "placeholder", "was": was}}}


def _keeps(key: str, new: Any, old: Any) -> bool:
    """Whether a member holds all that it did: the same, or, of times and metadata, more."""
    if key in ("time", "metadata") and isinstance(old, dict) and isinstance(new, dict):
        return all(name in new and new[name] == one for name, one in old.items())
    return type(old) is type(new) and old == new


def _parse(given: Any) -> dict[str, Any]:
    try:
        parsed = read_json(given)
    except (ValueError, TypeError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _find_spans(text: str, tool: Tool, generation: int) -> dict[str, Member]:
    """Where in a message's text the state of a call stands, and the times of the call (V2) and of the message."""
    members = {member.key: member for member in scan_object(text, 0)[0]}
    parts = scan_list(text, members["parts" if generation == 1 else "content"].start)[0]
    part = [member for member in parts if isinstance(member.value, dict)][tool.place]
    own = {member.key: member for member in scan_object(text, part.start)[0]}
    found = {"state": own["state"]}
    if generation == 2:
        found["tool.time"] = own["time"]
    outer = {member.key: member for member in scan_object(text, members["info"].start)[0]} if generation == 1 else members
    return found | ({"time": outer["time"]} if "time" in outer else {})


def _write(transcript: Transcript, start: int, text: str, changes: Sequence[tuple[Member, Any]]) -> list[Splice]:
    """New values in the style of the text around them: indented where the document is, else without white space."""
    splices = []
    for member, value in sorted(changes, key=lambda change: change[0].start):
        first, stop = measure_bytes(text, [member.start, member.stop])
        if "\n" in text[member.start : member.stop]:
            head = text[: member.start].rpartition("\n")[2]
            indent = head[: len(head) - len(head.lstrip())]
            written = _spell(value, indent=2).replace("\n", "\n" + indent)
        else:
            written = _spell(value, separators=(",", ":"))
        eol = transcript.eol.decode() or "\n"
        splices.append(Splice(start + first, start + stop, written.replace("\n", eol).encode()))
    return splices


def _spell(value: Any, **style: Any) -> str:
    """JSON text; lone surrogates, which have no UTF-8 form, make it ASCII with escapes."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **style)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, **style)
    return text


def _cut_edits(transcript: Transcript, splices: Sequence[Splice]) -> list[Edit]:
    """Splices as edits of whole lines: the lines that they touch, with everything else on those as it was."""
    from bisect import bisect_right

    starts, source = transcript.starts, transcript.source
    groups: list[tuple[int, int, list[Splice]]] = []
    for splice in splices:
        first, last = bisect_right(starts, splice.start) - 1, bisect_right(starts, splice.stop - 1) - 1
        if groups and first <= groups[-1][1]:
            groups[-1] = (groups[-1][0], max(last, groups[-1][1]), [*groups[-1][2], splice])
        else:
            groups.append((first, last, [splice]))
    edits = []
    for first, last, members in groups:
        written, place = b"", starts[first]
        for splice in members:
            written += source.read(place, splice.start - place) + splice.text
            place = splice.stop
        written += source.read(place, starts[last + 1] - place)
        end = b"\r\n" if written.endswith(b"\r\n") else b"\n" if written.endswith(b"\n") else b""
        edits.append(Edit(first, last + 1, (written[: len(written) - len(end)],)))
    return edits


def find_loss(before: Transcript, after: Transcript) -> str:
    """Why the planned export would not hold all that the old one does: only open calls may be ended, and times added."""
    old, new = (
        json.loads(one.source.read(0, one.source.size).decode("utf-8", "surrogateescape").lstrip("\ufeff")) for one in (before, after)
    )
    if {key: old[key] for key in old if key != "messages"} != {key: new.get(key) for key in old if key != "messages"}:
        return "what it says about the session would change"
    if len(old["messages"]) != len(new["messages"]):
        return "a message would come or go"
    for number, (one, other) in enumerate(zip(old["messages"], new["messages"], strict=True)):
        if one != other and not _holds(one, other):
            return f"message {number + 1} would lose something"
    return ""


def _holds(old: Any, new: Any) -> bool:
    """Whether a value still holds all that it did. An open call's state may become an error that keeps what it was in its mark."""
    if isinstance(old, dict) and isinstance(new, dict):
        if old.get("status") in OPEN and new.get("status") == "error":
            return _holds_state(old, new)
        return all(key in new and _holds(value, new[key]) for key, value in old.items()) and new.keys() - old.keys() <= {"completed"}
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(_holds(one, other) for one, other in zip(old, new, strict=True))
    return type(old) is type(new) and old == new


def _holds_state(old: dict[str, Any], new: dict[str, Any]) -> bool:
    mark = get_object(get_object(new, "metadata"), MARK)
    was = get_object(mark, "was")
    held = all(_keeps(key, new.get(key), value) or _keeps(key, was.get(key), value) or value == [] for key, value in old.items())
    return held and mark.get("from") == "placeholder"
