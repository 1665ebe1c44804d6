"""What the event log proves about a transcript: turns that it lost, results that it lost, and whether it bears a trace of them still."""

from __future__ import annotations

from collections import Counter

from doctor.eventlog import EventLog, Execution, ToolRun
from doctor.findings import Interval
from doctor.model import SPELLED_AS_BLOCK, SPELLED_IN_LIST, SPELLINGS_DISAGREE, Message, Transcript
from doctor.moves import has_copy
from doctor.pairing import CallPair
from doctor.records import Record
from doctor.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_QUOTE = 60
MOST_READ_ROWS = 500
"""User rows that are read again for a prompt that no row equals."""
LONGEST_KEPT = 2_000
"""Characters of a reply that an Execution keeps."""
_BOTH = SPELLED_AS_BLOCK | SPELLED_IN_LIST
_OUTCOMES = {"success": "ended in success", "error": "ended in error", "cancelled": "was cancelled", "incomplete": "ended incomplete"}


class LostTurn(Record):
    """An execution whose prompt the transcript lacks. `backup_lines`: first and last line of the turn in the client's backup.
    `is_certain` is False where the prompt may have left the transcript on purpose."""

    execution: Execution
    runs: tuple[ToolRun, ...]
    backup_lines: tuple[int, int] | None
    is_certain: bool


def find_lost_turns(session: Session) -> list[LostTurn]:
    """Turns that produced something and that the transcript lacks whole.

    Nothing is reported where the loss is on purpose: after a rewind, or when no earlier turn of the log is left (the user cleared the
    context, or the client compacted it in place). The backup says nothing about that: it holds what was there before.
    """
    log = session.events
    if log is None or session.rewound:
        return []
    lacking = find_lacking(session)
    if not lacking:
        return []
    pairs = [(one.older.start_line, one.newer.start_line) for one in log.overlaps if one.confidence == "confirmed"]
    overlapping = {start for pair in pairs for start in pair if not lacking.issuperset(pair)}
    lost: list[LostTurn] = []
    survivors = 0
    for execution in log.executions:
        if execution.start_line not in lacking:
            survivors += execution.text_key != 0
            continue
        runs = tuple(run for run in log.runs.values() if run.execution == execution.start_line and run.end_line >= 0)
        if session.liveness.is_live and execution is log.executions[-1]:
            continue
        backup_lines = _find_in_backup(session, execution)
        if not (backup_lines or runs or execution.status == "success"):
            continue
        # A backup of turns that the transcript begins behind proves no loss: it is what the client copies when a context was cleared.
        if survivors or execution.start_line in overlapping:
            # Compaction takes the oldest turns first, apart from a first one that some clients keep.
            lost.append(LostTurn(execution, runs, backup_lines, survivors > 1 or log.compacted_line < execution.start_line))
    return lost


def find_lacking(session: Session) -> set[int]:
    """start_line of the executions of which the transcript has no prompt. One with a redacted prompt counts by its finished calls."""
    log = session.events
    if log is None:
        return set()
    lacking = _find_lacking(session, log)
    if any(execution.prompt and not execution.text_key for execution in log.executions):
        ids = collect_call_ids(session)
        known = {run.execution for run in log.runs.values() if run.call_id in ids}
        finished = {run.execution for run in log.runs.values() if run.end_line >= 0} - known
        lacking |= {one.start_line for one in log.executions if one.prompt and not one.text_key and one.start_line in finished}
    return lacking


def locate_prompts(session: Session, lacking: set[int]) -> dict[int, int]:
    """Message index of the prompt of each execution that the transcript has, by start_line.

    Told by the words, in order where the same ones come several times, else by the calls that follow the prompt.
    """
    log, messages = session.events, session.transcript.messages
    if log is None:
        return {}
    rows: dict[int, list[int]] = {}
    calls: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.role == "user" and message.text_key:
            rows.setdefault(message.text_key, []).append(index)
        for call in message.calls:
            calls.setdefault(call.id, index)
    first_call: dict[int, int] = {}
    for run in log.runs.values():
        if run.call_id in calls:
            first_call[run.execution] = min(calls[run.call_id], first_call.get(run.execution, len(messages)))
    here = [execution for execution in log.executions if execution.start_line not in lacking]
    wanted = Counter(execution.text_key for execution in here if execution.text_key)
    rewritten = _find_rewritten(session, [one for one in here if one.text_key not in rows], wanted)
    found: dict[int, int] = {}
    for execution in here:
        same = rows.get(execution.text_key, []) if execution.text_key else []
        still = wanted[execution.text_key]
        wanted[execution.text_key] -= 1
        index = same[-still] if len(same) >= still > 0 else rewritten.get(execution.start_line, -1)
        if index < 0:
            opened = range(first_call.get(execution.start_line, -1), -1, -1)
            index = next((at for at in opened if messages[at].kind == "prompt" and messages[at].text_key not in log.steered), -1)
        if index >= 0:
            found[execution.start_line] = index
    return found


def begins_turn(message: Message, log: EventLog | None) -> bool:
    """Whether a row is the prompt of a turn. Texts that were steered in while a tool ran begin none; what a harness sends in the form of a
    reminder does, as the log knows."""
    if log is None or message.role != "user":
        return message.kind == "prompt"
    if message.kind == "prompt":
        return message.text_key not in log.steered
    return message.text_key != 0 and any(execution.text_key == message.text_key for execution in log.executions)


def find_standing_placeholders(session: Session) -> list[int]:
    """Message indexes of placeholders whose call did finish, as the event log knows."""
    log = session.events
    if log is None:
        return []
    found = []
    for index in session.transcript.unusual:
        for result in session.transcript.messages[index].results:
            run = log.runs.get(result.call_id) if result.maker else None
            if run is not None and run.end_line >= 0 and run.offset >= 0 and not run.redacted:
                found.append(index)
                break
    return found


def bears_trace(session: Session) -> bool:
    """Whether the transcript still suffers from what happened: unsound calls, lost turns, placeholders for work that was done."""
    return (
        not session.pairing.is_sound
        or bool(find_standing_placeholders(session))
        or any(lost.is_certain for lost in find_lost_turns(session))
    )


def is_unanswered(session: Session, pair: CallPair) -> bool:
    """Whether a call has no result of any kind, and no other defect that must be cured first."""
    if pair.placed or pair.early or pair.late or not pair.call.id or (pair.reused and has_copy(session, pair)):
        return False
    message = session.transcript.messages[pair.index]
    return not (message.flags & SPELLINGS_DISAGREE and pair.call.spelling & _BOTH != _BOTH)


def collect_call_ids(session: Session) -> set[str]:
    """The ids of all calls in the transcript. A result without its call does not count: it goes, and the call stays missing."""
    return {call.id for message in session.transcript.messages for call in message.calls}


def find_prompt(session: Session, execution: Execution) -> int | None:
    """Index of the last user message that holds an execution's prompt."""
    messages = session.transcript.messages
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user" and messages[index].text_key == execution.text_key != 0:
            return index
    return None


def holds_reply(session: Session, start: int, response: str) -> bool:
    """Whether a reply with these words (or, of a long one, these first ones) stands anywhere behind message `start`."""
    messages = session.transcript.messages
    wanted = "".join(response.split())
    for message in [message for message in messages[start + 1 :] if message.role == "assistant"][:MOST_READ_ROWS]:
        text = "".join(join_text(session.transcript, message).split())
        if text == wanted or (len(response) >= LONGEST_KEPT and text.startswith(wanted)):
            return True
    return False


def quote(text: str) -> str:
    """A prompt as people recognise it: its first words, on one line."""
    words = cut_words(text)
    return f"«{words}»" if words else "a prompt that the log lacks"


def cut_words(text: str) -> str:
    words = " ".join(text.replace("«", '"').replace("»", '"').split())
    return words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1].rstrip() + "…"


def describe_outcome(execution: Execution) -> str:
    if execution.end_line < 0:
        return "no end written"
    return _OUTCOMES.get(execution.status, f"ended as {execution.status}" if execution.status else "ended")


def describe_execution(execution: Execution, log: EventLog | None = None) -> str:
    """«Do the slow work.» (events 17-48, ended in error)"""
    first = execution.start_line
    last = execution.end_line if execution.end_line >= 0 else execution.last_line
    if log is not None and log.rows:
        first, last = log.rows[first], log.rows[last]
    unit = "row" if log is not None and log.rows else "event"
    place = f"{unit} {first + 1}" if unit == "row" and first == last else f"{unit}s {first + 1}-{last + 1}"
    return f"{quote(execution.prompt)} ({place}, {describe_outcome(execution)})"


def name_line(log: EventLog, line: int) -> str:
    """`event 17`; where the transcript itself bears the moments, the row of this one."""
    return f"row {log.rows[line] + 1}" if log.rows else f"event {line + 1}"


def draw_execution(execution: Execution) -> Interval:
    is_open = execution.end_line < 0
    return Interval(
        cut_words(execution.prompt),
        execution.start_line,
        -1 if is_open else execution.end_line,
        execution.start_time,
        execution.last_time if is_open else execution.end_time,
        describe_outcome(execution),
    )


def clock_time(stamp: str) -> str:
    """12:18:02.984 of an ISO time stamp of any precision."""
    clock = stamp.partition("T")[2].split("+")[0].split("Z")[0]
    seconds, dot, fraction = clock.partition(".")
    return f"{seconds}.{fraction[:3]}" if dot else seconds or stamp


def _find_lacking(session: Session, log: EventLog) -> set[int]:
    """start_line of the executions whose prompt no user row holds. One row holds one prompt; redacted prompts can't be compared."""
    rows = Counter(message.text_key for message in session.transcript.messages if message.role == "user" and message.text_key)
    wanted = Counter(execution.text_key for execution in log.executions if execution.text_key)
    short = {key: number - rows[key] for key, number in wanted.items() if number > rows[key]}
    if not short:
        return set()
    lacking: list[Execution] = []
    for key, number in short.items():
        same = [execution for execution in log.executions if execution.text_key == key]
        if number < len(same):
            # The same words several times: those whose calls are not in the transcript are missing.
            ids = collect_call_ids(session)
            known = {run.execution for run in log.runs.values() if run.call_id in ids}
            same.sort(key=lambda execution: (execution.start_line in known, execution.start_line))
        lacking += same[:number]
    return {execution.start_line for execution in lacking} - set(_find_rewritten(session, lacking, wanted))


def _find_rewritten(session: Session, lacking: list[Execution], wanted: Counter[int]) -> dict[int, int]:
    """Message index, by start_line, of prompts inside a longer row: the client added context to it, or stored it as blocks."""
    found: dict[int, int] = {}
    if not lacking:
        return found
    spare = [(index, row) for index, row in enumerate(session.transcript.messages) if row.role == "user" and row.text_key not in wanted]
    for index, message in spare[:MOST_READ_ROWS]:
        text = join_text(session.transcript, message)
        for execution in lacking:
            if execution.start_line not in found and execution.prompt and execution.prompt in text:
                found[execution.start_line] = index
                break
    return found


def join_text(transcript: Transcript, message: Message) -> str:
    """The text of a row, read again; several text blocks are joined by line ends."""
    row = transcript.read_row(message.line)
    content: Any = row.get("content") if isinstance(row, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str))


def _find_in_backup(session: Session, execution: Execution) -> tuple[int, int] | None:
    backup = session.backup
    log = session.events
    if backup is None or log is None:
        return None
    messages = backup.transcript.messages
    start = next((index for index, row in enumerate(messages) if row.role == "user" and row.text_key == execution.text_key != 0), None)
    if start is None and not execution.text_key:
        own = {run.call_id for run in log.runs.values() if run.execution == execution.start_line}
        first = next((index for index, row in enumerate(messages) if any(call.id in own for call in row.calls)), -1)
        start = next((index for index in range(first, -1, -1) if messages[index].kind == "prompt"), None)
    if start is None:
        return None
    stop = start + 1
    while stop < len(messages) and not begins_turn(messages[stop], log):
        stop += 1
    return messages[start].line, messages[stop - 1].line
