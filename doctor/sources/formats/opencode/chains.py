"""What the links between stored messages prove: prompts without an answer or with two, ids that run against time, ids of another session,
compactions that did not end, messages without content, steps that the client sends in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.forms import StoreProblem
from doctor.model import ShapeProblem
from doctor.sources.formats.opencode.contents import Contents
from doctor.sources.formats.opencode.entries import Entry
from doctor.sources.formats.opencode.identifiers import SILENCED, find_id_problems
from doctor.sources.formats.opencode.values import get_object, get_text, write_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNANSWERED, ANSWERED_TWICE = "unanswered", "answered-twice"
FOREIGN_ID, HALF_COMPACTION, REVERTED = "foreign-session-id", "half-compaction", "pending-revert"
EMPTY, INTERLEAVED, REPEATED_ID = "empty-message", "interleaved-step", "duplicate-message-id"
AGENT_PARTS = ("step-start", "step-finish", "patch", "snapshot", "retry")
"""Parts that say nothing to a model."""


def find_problems(contents: Contents) -> list[StoreProblem]:
    """All problems that the entries show, in the order of their lines."""
    entries, generation = contents.entries, contents.document.generation
    info = contents.document.info
    found = [*_find_foreign(entries, get_text(info, "id")), *_find_repeated(entries)]
    found += _find_empty(entries) if generation == 1 else ()
    found += _find_compactions(entries, generation)
    if generation == 1:
        disordered = [*find_id_problems(entries, info)]
        # What ids that run against time explain is not said twice.
        silenced = {line for problem in disordered for line, label in problem.related if label == SILENCED}
        found += [problem for problem in _find_unanswered(entries) if problem.line not in silenced]
        found += [*_find_doubles(entries), *_find_interleaved(entries), *disordered]
    found += _find_revert(info, entries)
    return sorted(found, key=lambda problem: (problem.line is None, problem.line or 0))


def find_shape_problems(value: Any, entry: Entry, generation: int) -> list[ShapeProblem]:
    """What the client's own import refuses about a message."""
    line = entry.line
    if not isinstance(value, dict):
        return [ShapeProblem(line, "object", "the message is no object")]
    if generation == 1 and not (isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)):
        return [ShapeProblem(line, "content", "the message has no info, or no list of parts")]
    problems = []
    if entry.kind == "other" and generation == 1:
        problems.append(
            ShapeProblem(line, "role", f"info.role is {get_text(value['info'], 'role')!r}, not one of user, assistant", "info.role")
        )
    if not entry.id:
        problems.append(ShapeProblem(line, "content", "the message has no id", "info.id" if generation == 1 else "id"))
    if not entry.created:
        problems.append(ShapeProblem(line, "content", "the message has no time.created", "time.created"))
    where, list_name = ("callID", "parts") if generation == 1 else ("id", "content")
    for tool in entry.tools:
        if not tool.call_id or not tool.name:
            lacking = where if not tool.call_id else ("tool" if generation == 1 else "name")
            problems.append(ShapeProblem(line, "call", f"{list_name}[{tool.place}].{lacking} is empty", f"{list_name}[{tool.place}]"))
        elif not tool.is_open and tool.status not in ("completed", "error"):
            said = f"{list_name}[{tool.place}].state.status is {tool.status!r}, not a state that a call can have"
            problems.append(ShapeProblem(line, "content", said, f"{list_name}[{tool.place}].state"))
    return problems


def _find_foreign(entries: Sequence[Entry], session_id: str) -> Iterator[StoreProblem]:
    wrong = [entry for entry in entries if entry.session_id and session_id and entry.session_id != session_id]
    if wrong:
        names = {entry.session_id for entry in wrong}
        what = f"{len(wrong)} messages name" if len(wrong) > 1 else "a message names"
        yield StoreProblem(
            FOREIGN_ID, wrong[0].line, f"{what} another session ({', '.join(sorted(names)[:3])}) than {session_id}, which holds them",
            tuple((entry.line, "names another session") for entry in wrong[:4]), is_note=True,
        )  # fmt: skip


def _find_repeated(entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    seen: dict[str, int] = {}
    for entry in entries:
        if entry.id and entry.id in seen:
            said = f"two messages have the id {entry.id}: an import keeps the first only"
            yield StoreProblem(REPEATED_ID, entry.line, said, ((seen[entry.id], "has it first"), (entry.line, "has it too")))
        seen.setdefault(entry.id, entry.line)


def _find_empty(entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    """Assistant messages of V1 that hold nothing to send. What the client leaves out for sure is not worth a word."""
    for entry in entries:
        if not entry.is_assistant or entry.tools or not (entry.completed or entry.error):
            continue
        said = [part for part in entry.parts if part not in AGENT_PARTS and part != "reasoning"]
        blank = bool(said) and all(part == "empty-text" for part in said)
        if entry.is_aborted and (blank or (not said and any(part in ("patch", "step-finish") for part in entry.parts))):
            text = f"{entry.id} was aborted before it said anything, and holds {', '.join(entry.parts)}: some versions send it empty"
            yield StoreProblem(EMPTY, entry.line, text, is_doubtful=True)
        elif entry.finish and not entry.error and (blank or not said) and (held := _name_unsent(entry)):
            text = f"{entry.id} ended ({entry.finish}) without a word, and holds {held}: some versions send it empty"
            yield StoreProblem(EMPTY, entry.line, text, is_doubtful=True)
        elif not entry.parts and not entry.error and entry.finish:
            text = f"{entry.id} ended ({entry.finish}) without a single part: the client leaves it out of the conversation"
            yield StoreProblem(EMPTY, entry.line, text, is_note=True)


def _name_unsent(entry: Entry) -> str:
    """What a message holds beside the marks of its steps."""
    return ", ".join(dict.fromkeys(part for part in entry.parts if part not in ("step-start", "step-finish")))


def _find_compactions(entries: Sequence[Entry], generation: int) -> Iterator[StoreProblem]:
    last = len(entries) - 1
    for index, entry in enumerate(entries):
        if generation == 2 and entry.kind == "compaction" and entry.status == "running":
            said = f"the compaction {entry.id}, begun at {write_clock(entry.created)}, is still marked as running: it never came to an end"
            yield StoreProblem(HALF_COMPACTION, entry.line, said)
        elif generation == 1 and entry.status == "compaction":
            answers = [other for other in entries[index:] if other.parent == entry.id and other.kind == "summary"]
            done = any(answer.finish and not answer.error for answer in answers)
            earlier = [other for other in entries[:index] if other.status == "compaction" and other.tail]
            if not done and index < last:
                how = "failed" if any(answer.error for answer in answers) else "never ended"
                kept = f", yet it names {entry.tail} as the beginning of what stays" if entry.tail else ""
                yield StoreProblem(HALF_COMPACTION, entry.line, f"the summary that {entry.id} asked for {how}{kept}")
            elif done and not entry.tail and earlier:
                said = f"{entry.id} does not say what stays of the conversation (no tail_start_id), unlike the one before"
                said += ": some versions cut a call from its result there"
                before = ((earlier[-1].line, "the compaction before"),)
                yield StoreProblem(HALF_COMPACTION, entry.line, said, before, is_doubtful=True)


def _find_unanswered(entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    """Prompts without an answer that ends their turn, by the links of the answers. A message behind it may have been answered instead."""
    answers: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.kind == "assistant" and entry.parent:
            answers.setdefault(entry.parent, []).append(entry)
    prompts = [entry for entry in entries if entry.kind == "user"]
    done = [entry for entry in prompts if any(answer.is_final for answer in answers.get(entry.id, ()))]
    for entry in prompts:
        own = answers.get(entry.id, [])
        if any(answer.is_final for answer in own):
            continue
        taken = next((other for other in done if other.created > entry.created), None)
        if not own and taken is None:
            yield from _describe_silence(entry, entries)
        elif not own and taken is not None:
            said = f"{entry.id} has no reply of its own; {taken.id} was answered instead, and that answer has seen both"
            yield StoreProblem(UNANSWERED, entry.line, said, ((entry.line, "has no reply"), (taken.line, "was answered")), is_note=True)
        elif own and not own[-1].error and own[-1].finish in ("tool-calls", "") and taken is not None:
            yield from _describe_unfinished(entry, own[-1], taken, answers[taken.id])


def _describe_silence(entry: Entry, entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    """A prompt that nobody answered. It is worth a warning where the client had answered before and went on."""
    before = any(other.kind == "assistant" and other.created < entry.created for other in entries)
    if before and any(other.created > entry.created for other in reversed(entries)):
        said = f"{entry.id} was stored at {write_clock(entry.created)} and never answered, nor was anything behind it"
        yield StoreProblem(UNANSWERED, entry.line, said, ((entry.line, "has no reply"),))


def _describe_unfinished(entry: Entry, own: Entry, taken: Entry, replies: Sequence[Entry]) -> Iterator[StoreProblem]:
    """A turn that stopped at its tools. A prompt that came in meanwhile takes the reply over, once the tools are done; a reply that had
    begun before they were knows nothing of their results."""
    reply = next(answer for answer in replies if answer.is_final)
    ended = max([own.completed, *(tool.ended for tool in own.tools)])
    if replies[0].created < ended:
        said = (
            f"{entry.id} never got its final answer: {own.id} stopped at its tools, and {reply.id}, the answer to {taken.id}, began before"
        )
        related = ((entry.line, "has no final answer"), (own.line, "stopped at its tools"), (reply.line, "answers another message"))
        yield StoreProblem(UNANSWERED, entry.line, said + " they were done", related)


def _find_doubles(entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    final: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.is_final and entry.parent and entry.finish != "length":
            final.setdefault(entry.parent, []).append(entry)
    for parent, own in final.items():
        full = [entry for entry in own if any(part not in AGENT_PARTS for part in entry.parts)]
        if len(own) < 2:
            continue
        rest = [entry for entry in own if entry not in full]
        related = tuple((entry.line, "ends the turn" if entry in full else "ends it too, and is empty") for entry in own[:6])
        if len(full) > 1:
            names = ", ".join(entry.id for entry in full[:4])
            said = f"{parent} was answered to the end {len(full)} times: by {names}"
            yield StoreProblem(ANSWERED_TWICE, full[1].line, said, related)
        elif rest:
            said = f"beside its answer, {parent} has {len(rest)} that ended without content: {', '.join(entry.id for entry in rest[:3])}"
            yield StoreProblem(ANSWERED_TWICE, rest[0].line, said, related, is_note=True)


def _find_interleaved(entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    """A step is sent as one assistant message and one message with its results. Text behind a call of the same step then stands between."""
    for entry in entries:
        names = {tool.place: tool for tool in entry.tools if not tool.is_hosted}
        pending = None
        for place, part in enumerate(entry.parts):
            if part == "step-start":
                pending = None
            elif place in names:
                pending = names[place]
            elif part in ("text", "reasoning") and pending is not None:
                said = (
                    f"in {entry.id}, {part} follows the call of {pending.name} in one step: some versions send that call without its result"
                )
                yield StoreProblem(INTERLEAVED, entry.line, said, ((entry.line, "the step"),), (pending.call_id,), is_doubtful=True)
                break


def _find_revert(info: Any, entries: Sequence[Entry]) -> Iterator[StoreProblem]:
    revert = get_object(info, "revert")
    name = get_text(revert, "messageID")
    line = next((entry.line for entry in entries if entry.id == name), None)
    if name:
        hidden = sum(1 for entry in entries if line is not None and entry.line >= line)
        count = f"{hidden} messages from {name} on are" if hidden != 1 else f"{name} is"
        yield StoreProblem(REVERTED, line, f"a revert is pending: {count} hidden, and go with the next prompt", is_note=True)
