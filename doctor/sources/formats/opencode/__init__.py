"""OpenCode sessions: exports of both generations, and what its databases and its older store of files hold, read the same way.

V1 stores messages with parts, V2 (opencode2) projects events into messages. Facts about the stores are in the modules that read them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import partial

from doctor.forms import Form, StoreProblem
from doctor.model import BROKEN_SHAPE, LineProblem, Source, Transcript
from doctor.sources.formats.opencode.contents import Contents, read_value
from doctor.sources.formats.opencode.document import Record, read_document
from doctor.sources.formats.opencode.entries import read_entry
from doctor.sources.formats.opencode.lowering import build_row, list_sent, lower_value
from doctor.sources.formats.opencode.stored import StoreSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "opencode"


def read_transcript(source: Source, path: str) -> Transcript:
    """Reads an export. Its lines are those of the file; where several messages share one, each message counts as a line.

    Raises DoctorError: it is cut short, or is no export after all.
    """
    from doctor.sources.formats.opencode.chains import find_problems, find_shape_problems
    from doctor.sources.formats.opencode.mending import adapt, find_loss

    data = source.read(0, source.size)
    document = read_document(data, path)
    transcript = Transcript(path, NAME, source)
    lines = _set_lines(transcript, data, document.records)
    entries = [read_entry(value, document.generation, line) for value, line in zip(document.values, lines, strict=True)]
    for value, entry in zip(document.values, entries, strict=True):
        problems = find_shape_problems(value, entry, document.generation)
        transcript.shape_problems += problems
        for view in lower_value(value, entry, document.generation):
            if problems:
                view = view._replace(flags=view.flags | BROKEN_SHAPE)
            if view.flags:
                transcript.unusual.append(len(transcript.messages))
            transcript.messages.append(view)
    transcript.shape_problem_count = len(transcript.shape_problems)
    belongings = source.belongings if isinstance(source, StoreSource) else None
    contents = Contents(document._replace(values=()), lines, entries, belongings)
    transcript.store_problems = find_problems(contents)
    if belongings is not None:
        transcript.store_problems += [_place_flaw(flaw, lines) for flaw in belongings.flaws]
        transcript.line_problems += [
            LineProblem(lines[min(one.line, len(lines) - 1)] if lines else 0, *one[1:]) for one in belongings.damage
        ]
    transcript.form = Form(
        partial(_read_row, contents), partial(_name_row, contents), partial(_place_row, contents), lambda _: len(contents.entries),
        partial(_build_sent, contents), partial(adapt, contents), find_loss, document.generation == 1,
    )  # fmt: skip
    return transcript


def describe_session(transcript: Transcript, path: str) -> dict[str, Any]:
    """What the store itself knows of a session: its id, and what ran when. An export is a copy that nobody is in."""
    from doctor.sources.formats.opencode.history import build_history
    from doctor.sources.formats.opencode.values import get_object, get_text, get_time

    contents: Contents = transcript.form.name_row.args[0]
    info, belongings = contents.document.info, contents.belongings
    session_id = get_text(info, "id")
    events = belongings.events if belongings is not None else ()
    log = build_history(path, contents.entries, contents.document.generation, get_time(get_object(info, "time"), "created"), events,
                        f"{path}:events")  # fmt: skip
    known: dict[str, Any] = {"events": log, "session_id": session_id, "folder": None, "load_backup": None, "load_pending": None}
    metadata = {"provider": log.provider, "model": log.model}
    return known | {"find_sibling": None, "metadata": metadata, "metadata_problem": "", "read_recorded": None, "read_turn": None}


def _set_lines(transcript: Transcript, data: bytes, records: Sequence[Record]) -> list[int]:
    """Fills in where lines begin, and says on which of them each message does."""
    starts = array("q", [0])
    place = data.find(b"\n")
    while place >= 0:
        starts.append(place + 1)
        place = data.find(b"\n", place + 1)
    if starts[-1] != len(data):
        starts.append(len(data))
        transcript.ends_with_eol = False
    lines = [bisect_right(starts, record.start) - 1 for record in records]
    if len(set(lines)) < len(lines):
        starts = array("q", [0, *(record.start for record in records[1:]), len(data)])
        transcript.eol, transcript.ends_with_eol = b"", True
        lines = list(range(len(records)))
    elif data.find(b"\r\n") == starts[1] - 2:
        transcript.eol = b"\r\n"
    transcript.starts = starts
    return lines


def _place_flaw(flaw: Any, lines: Sequence[int]) -> StoreProblem:
    line = lines[flaw.row] if flaw.row is not None and flaw.row < len(lines) else None
    return StoreProblem(flaw.kind, line, flaw.message, (), flaw.ids, flaw.is_doubtful, flaw.is_note)


def _read_row(contents: Contents, transcript: Transcript, line: int) -> Any:
    """The message that begins on a line, else the one that reaches over it."""
    place = max(0, bisect_right(contents.lines, line) - 1)
    if not contents.lines:
        return None
    return build_row(read_value(contents, transcript, place), contents.entries[place], contents.document.generation)


def _name_row(contents: Contents, _: Transcript, line: int) -> str:
    place = contents.find(line)
    return contents.entries[place].id if place is not None else ""


def _place_row(contents: Contents, transcript: Transcript, line: int) -> int:
    place = contents.find(line)
    return contents.document.records[place].start if place is not None else transcript.starts[line]


def _build_sent(contents: Contents, transcript: Transcript) -> Transcript:
    sent = Transcript(transcript.path, transcript.format, transcript.source)
    sent.starts = transcript.starts
    sent.form = transcript.form._replace(read_row=partial(_read_sent_row, contents)) if transcript.form is not None else None
    sent.messages = list_sent(transcript.messages, contents.entries, contents.document.generation)
    sent.unusual = [index for index, message in enumerate(sent.messages) if message.flags]
    return sent


def _read_sent_row(contents: Contents, transcript: Transcript, line: int) -> Any:
    """The row without texts that say nothing: the client leaves them out."""
    row = _read_row(contents, transcript, line)
    if not isinstance(row, dict) or not isinstance(row["content"], list):
        return row
    return row | {"content": [block for block in row["content"] if block["type"] != "text" or block["text"]]}
