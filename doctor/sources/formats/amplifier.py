"""Amplifier's transcript.jsonl: one message a line, every spelling of calls and results that its hosts have written.

The loop is the hot path of every check: one parse a line, plain type tests, and nothing kept but the view. A row that is not plainly
fine goes to `amplifier_rows`, which takes its time and says what is wrong.
"""

from __future__ import annotations

import re

import orjson

from doctor.model import (
    DAMAGED_LINE,
    SHARED_LINE,
    SHOWS_PROGRESS,
    SIGNED_THINKING,
    SPELLED_AS_BLOCK,
    SPELLED_IN_LIST,
    UNSIGNED_THINKING,
    Message,
    Source,
    ToolCall,
    ToolResult,
    Transcript,
)
from doctor.placeholders import LONGEST, find_maker, is_invented_reply
from doctor.sources.formats import amplifier_rows
from doctor.sources.formats.amplifier_content import LINE_SEPARATOR, find_end_flags, has_huge_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "amplifier"
PROGRESS = r"(?i)\b(?:step|task|progress|iteration)\b[^\n]{0,12}?\d+\s?(?:/|of )\d+"
LONGEST_PROGRESS_TEXT = 1_500
"""Who reports progress is brief; longer replies are not searched for counters."""
MOST_BYTES_FOR_KEYS = 512
"""Longer rows are not searched for keys that stand twice: the search would cost as much as the parsing."""
NUMBERS_INSIDE = frozenset((float, dict, list))
"""Types of values that may be, or hold, what the fast parser made of an integer beyond 64 bits."""
SUCCESS = '{"error": null'
_NEW = tuple.__new__
_BOTH = SPELLED_AS_BLOCK | SPELLED_IN_LIST
_NOTABLE = ~SIGNED_THINKING
"""Thinking with its signature is no reason to look at a row again."""


def read_transcript(source: Source, path: str) -> Transcript:  # one loop on purpose: a function call a row would cost a tenth
    """Reads a transcript in one streaming pass.

    Returns views of all readable rows; unreadable lines are in `line_problems`, rows that the client's loader refuses in `shape_problems`.
    """
    transcript = Transcript(path, NAME, source)
    append_start = transcript.starts.append
    append_message = transcript.messages.append
    append_unusual = transcript.unusual.append
    append_crlf = transcript.crlf_lines.append
    suspects: list[Any] = []
    # Locals, since the loop looks each of them up in every row.
    loads, new, read_assistant = orjson.loads, tuple.__new__, _read_plain_assistant
    longest, most_bytes, success, numbers_inside = LONGEST, MOST_BYTES_FOR_KEYS, SUCCESS, NUMBERS_INSIDE
    offset = 0
    line = -1
    previous = raw = b""
    row: Any = None
    with source.open() as stream:
        for line, raw in enumerate(stream):
            length = len(raw)
            offset += length
            append_start(offset)
            message = None
            try:
                row = loads(raw)
                if raw[-2] == 13:
                    append_crlf(line)
                role = row["role"]
                content = row["content"]
                metadata = row.get("metadata")
                if (
                    metadata
                    and (len(metadata) != 1 or "timestamp" not in metadata)
                    and metadata.__class__ is dict
                    and not numbers_inside.isdisjoint(map(type, metadata.values()))
                ):
                    suspects.append(metadata)
                if role == "tool":
                    call_id = row["tool_call_id"]
                    name = row.get("name", "")
                    if (
                        content.__class__ is str
                        and call_id.__class__ is str
                        and name.__class__ is str
                        and (metadata.__class__ is dict or metadata is None)
                        and call_id
                        and "tool_calls" not in row
                    ):
                        # What a tool that succeeded stores starts like this and carries nothing but a time stamp.
                        if (content[:14] == success and (metadata is None or len(metadata) == 1)) or len(content) > longest:
                            maker = ""
                        else:
                            maker = find_maker(content, metadata)
                        message = new(Message, (line, role, "result", (), (new(ToolResult, (call_id, name, maker)),), 0, 0))
                        if maker:
                            append_unusual(len(transcript.messages))
                elif role == "assistant":
                    if (metadata.__class__ is dict or metadata is None) and "name" not in row:
                        message = read_assistant(row, content, metadata, line, suspects)
                        if message is not None and (message[6] & _NOTABLE or message[2] == "invented"):
                            append_unusual(len(transcript.messages))
                else:
                    message = read_plain_row(row, metadata, line)
            except ValueError:
                _read_refused_line(transcript, raw, line, offset >= source.size)
                previous, row = raw, None
                continue
            except (KeyError, TypeError, AttributeError, IndexError):
                pass
            if message is None:
                suspects.append((row,))
                message = amplifier_rows.read_odd_row(transcript, row, line)
                if message is not None:
                    append_unusual(len(transcript.messages))
            if message is not None:
                append_message(message)
                if raw == previous and not message[3] and not message[4]:
                    transcript.repeated_lines.append(line)
                if length < most_bytes:
                    _note_duplicate_key(transcript, raw, line)
            # One byte first: looking for three at once costs half of what the parsing does. The rarer separators are told where this one
            # stands too: looking for each of them would cost another fiftieth of the check.
            if (suspects and has_huge_number(suspects)) or (0xA8 in raw and 0x80 in raw and LINE_SEPARATOR in raw):
                _note_bytes(transcript, raw, line)
            previous = raw
    if transcript.messages and (last := transcript.messages[-1]).line == line and last.role == "assistant":
        transcript.messages[-1] = last._replace(flags=last.flags | find_end_flags(row))
    transcript.ends_with_eol = raw.endswith(b"\n") or line < 0
    transcript.eol = _find_line_end(transcript)
    return transcript


def read_plain_row(row: Any, metadata: Any, line: int) -> Message | None:
    """The view of a user or system row that is plainly fine; None for one that needs a closer look.

    Raises KeyError, TypeError, AttributeError: for rows that need it too.
    """
    role = row["role"]
    content = row["content"]
    if (metadata is not None and metadata.__class__ is not dict) or "name" in row:
        return None
    if "tool_calls" in row:
        return None
    if role == "user" and content.__class__ is str:
        if not content or content.isspace():
            return None
        kind = amplifier_rows.find_user_kind(content, metadata)
        return _NEW(Message, (line, role, kind, (), (), hash(content), 0))
    if (role == "system" or role == "developer") and content.__class__ is str:
        return _NEW(Message, (line, role, "system", (), (), 0, 0))
    return None


def _read_plain_assistant(row: dict[str, Any], content: Any, metadata: Any, line: int, suspects: list[Any]) -> Message | None:
    """The view of an assistant row that is plainly fine: both spellings of its calls agree, one by one. None for any other.

    Raises KeyError, TypeError, AttributeError, IndexError: for rows that need a closer look too.
    """
    listed = row.get("tool_calls")
    if content.__class__ is not list:
        if (
            content.__class__ is not str
            or listed
            or not content
            or content.isspace()
            or (listed is not None and listed.__class__ is not list)
        ):
            return None
        return _read_reply(content, metadata, line, 0)
    calls: list[ToolCall] = []
    text = ""
    flags = 0
    for block in content:
        kind = block["type"]
        if kind == "tool_call":
            call_id, name, item = block["id"], block["name"], listed[len(calls)]
            if not (
                call_id.__class__ is name.__class__ is str
                and call_id
                and name
                and block["input"].__class__ is item["arguments"].__class__ is dict
                and item["id"] == call_id
                and item["tool"] == name
            ):
                return None
            calls.append(_NEW(ToolCall, (call_id, name, _BOTH)))
            for value in item["arguments"].values():
                if value.__class__ is not str and value.__class__ in NUMBERS_INSIDE:
                    suspects.append(item["arguments"])
                    break
        elif kind == "text":
            text = block["text"]
            if text.__class__ is not str or not text or calls or text.isspace():
                return None
        elif kind == "thinking":
            signature = block.get("signature", "")
            if block["thinking"].__class__ is not str or signature.__class__ is not str:
                return None
            flags |= SIGNED_THINKING if signature else UNSIGNED_THINKING
        else:
            return None
    if not calls:
        return _read_reply(text, metadata, line, flags) if content and (listed is None or listed == []) else None
    if listed.__class__ is not list or len(listed) != len(calls):
        return None
    return _NEW(Message, (line, "assistant", "call", tuple(calls), (), 0, flags))


def _read_reply(text: str, metadata: Any, line: int, flags: int) -> Message:
    if len(text) > LONGEST_PROGRESS_TEXT:
        return _NEW(Message, (line, "assistant", "reply", (), (), 0, flags))
    kind = "invented" if not metadata and len(text) < 300 and is_invented_reply(text) else "reply"
    return _NEW(Message, (line, "assistant", kind, (), (), 0, flags | SHOWS_PROGRESS if has_counter(text) else flags))


def has_counter(text: str) -> bool:
    """Whether a text holds something like "step 3/40" or "step 3 of 40". The bare search for a digit pair is 30 times the regex's speed."""
    for sign, width in (("/", 1), (" of ", 4)):
        place = text.find(sign)
        while place > 0:
            if text[place - 1].isdigit() and text[place + width : place + width + 1].isdigit():
                return re.search(PROGRESS, text) is not None
            place = text.find(sign, place + width)
    return False


def _note_bytes(transcript: Transcript, raw: bytes, line: int) -> None:
    from doctor.sources.unusual_bytes import find_unusual_bytes

    transcript.byte_notes += find_unusual_bytes(raw, line)


def _read_refused_line(transcript: Transcript, raw: bytes, line: int, is_last: bool) -> None:
    if raw.endswith(b"\r\n"):
        transcript.crlf_lines.append(line)
    if not raw.strip():
        transcript.blank_lines.append(line)
        return
    from doctor.sources.lines import judge_line

    judged = judge_line(raw, line, is_last)
    if judged.problem is not None:
        transcript.line_problems.append(judged.problem)
    flags = 0 if judged.problem is None or judged.problem.kind == "bom" else DAMAGED_LINE
    if len(judged.rows) > 1 or (judged.problem is not None and judged.problem.kind == "glued"):
        flags |= SHARED_LINE
    if judged.rows:
        _note_bytes(transcript, raw, line)
    for row in judged.rows:
        message = amplifier_rows.read_odd_row(transcript, row, line)
        if message is not None:
            transcript.unusual.append(len(transcript.messages))
            transcript.messages.append(message._replace(flags=message.flags | flags))


def _note_duplicate_key(transcript: Transcript, raw: bytes, line: int) -> None:
    """Looks closer at a short row in which a key that must stand once stands twice (or in a nested object, which is fine)."""
    if raw.count(b'"role":') > 1 or raw.count(b'"content":') > 1 or raw.count(b'"tool_call_id":') > 1:
        from doctor.sources.lines import find_duplicate_key

        problem = find_duplicate_key(raw, line)
        if problem is not None:
            transcript.line_problems.append(problem)


def _find_line_end(transcript: Transcript) -> bytes:
    """The line end of the first line: a file is written by one client with one habit."""
    if transcript.line_count == 0:
        return b"\n"
    start, stop = transcript.starts[0], transcript.starts[1]
    return b"\r\n" if transcript.source.read(max(start, stop - 2), 2) == b"\r\n" else b"\n"
