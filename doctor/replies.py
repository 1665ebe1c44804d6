"""Who answers whom in a conversation: told by reply links, turn ids and the turns' own events where there are any, else only counted.

Sources of truth, the surest first: a row that names the message it answers; a turn's events that name its trigger; a turn id that a user
message and a reply share. A message that a later turn had in its context counts as taken up. Without any of these nothing is proved.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.conversations import (
    Conversation,
    group_answers,
    is_ambiguous,
    is_at_end,
    is_closing,
    is_handed_over,
    list_failures,
    list_stretch,
)
from doctor.eventlog import TurnRecord
from doctor.evidence import join_text
from doctor.model import Turn
from doctor.notes import BRANCH, HUMAN, TREE
from doctor.records import Record
from doctor.session import Session

MOST_OF_A_TURN = 100
"""User messages with one turn id; with more of them it is the id of something else, such as the conversation."""


class Answers(Record):
    """What the links of one conversation say. Indexes are those of messages.

    `links`: replies by the user message that they answer. `taken_up`: user messages in the context of a finished turn. `failed`: rows with
    an error in the place of a reply, by user message. `unlinked`: replies that name nothing. `is_linked`: some reply names something.
    """

    links: dict[int, tuple[int, ...]]
    taken_up: frozenset[int]
    failed: dict[int, int]
    unlinked: frozenset[int]
    is_linked: bool


class Count(Record):
    """One stretch, counted: user messages that want a reply, groups of reply rows, errors in the place of a reply. `is_last`: the log ends
    behind it."""

    turn: Turn
    prompts: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    failures: tuple[int, ...]
    is_last: bool


def read_answers(session: Session, conversation: Conversation) -> Answers:
    """The links of a conversation of chat rows."""
    messages = session.transcript.messages
    place = conversation.place
    ids = {note.id: index for index in conversation.order if (note := session.note(index)).id}
    prompts = [index for index in conversation.order if messages[index].kind == "prompt"]
    by_turn: dict[str, list[int]] = {}
    for index in prompts:
        by_turn.setdefault(session.note(index).turn, []).append(index)
    by_turn = {turn: found for turn, found in by_turn.items() if len(found) <= MOST_OF_A_TURN}
    is_tree = any(session.note(index).marks & TREE for index in prompts)
    triggers, contexts = _read_turn_events(session, conversation, ids)
    links: dict[int, list[int]] = {}
    failed: dict[int, int] = {}
    furthest = -1
    unlinked: set[int] = set()
    wanted = set(prompts)
    for index in conversation.order:
        message, note = messages[index], session.note(index)
        if message.kind not in ("reply", "failure"):
            continue
        named = [ids[link] for link in note.links if link in ids and not (is_tree and messages[ids[link]].kind != "prompt")]
        named += triggers.get(index, [])
        if note.turn:
            named += by_turn.get(note.turn, [])
        targets = [target for target in dict.fromkeys(named) if target in wanted and place[target] < place[index]]
        if message.kind == "failure":
            failed.update(dict.fromkeys(targets, index))
            continue
        for target in targets:
            links.setdefault(target, []).append(index)
        context = contexts.get(index, ids.get(note.context, -1))
        furthest = max(furthest, place.get(context, -1))
        if not targets:
            unlinked.add(index)
    taken_up = [prompt for prompt in prompts if place[prompt] <= furthest]
    return Answers(
        {target: tuple(found) for target, found in links.items()}, frozenset(taken_up), failed, frozenset(unlinked), bool(links or taken_up)
    )


def _read_turn_events(session: Session, conversation: Conversation, ids: dict[str, int]) -> tuple[dict[int, list[int]], dict[int, int]]:
    """What the events say of each reply: the messages that its turn answers, and the last one that it saw."""
    triggers: dict[int, list[int]] = {}
    contexts: dict[int, int] = {}
    by_turn: dict[str, list[int]] = {}
    log = session.events
    if log is None or not log.turns:
        return triggers, contexts
    for index in conversation.order:
        if session.transcript.messages[index].kind in ("reply", "failure") and session.note(index).turn:
            by_turn.setdefault(session.note(index).turn, []).append(index)
    known = log.turns_of_thread
    for turn in (*known.get(conversation.thread, ()), *known.get("", ())) if conversation.thread else log.turns:
        written = [ids[one] for one in turn.messages if one in ids] or by_turn.get(turn.turn, [])
        for index in written:
            triggers.setdefault(index, []).extend(ids[one] for one in turn.triggers if one in ids)
            if turn.context in ids:
                contexts[index] = ids[turn.context]
    return triggers, contexts


def list_unanswered(session: Session, conversation: Conversation, answers: Answers) -> list[int]:
    """The user messages of which the links prove that nobody answered them. Where a reply names nothing, it may be theirs."""
    if not answers.is_linked:
        return []
    found = []
    for turn in conversation.turns:
        if any(session.note(index).marks & (HUMAN | BRANCH) for index in turn.replies) or answers.unlinked.intersection(turn.replies):
            continue
        found += [index for index in turn.prompts if index not in answers.links and index not in answers.taken_up]
    return [index for index in found if wants_reply(session, conversation, index)]


def find_turn(session: Session, prompt: int) -> TurnRecord | None:
    """The last turn that a user message triggered, as the turns' own events tell it."""
    name = session.note(prompt).id
    turns = session.events.turns if session.events is not None and name else ()
    return next((turn for turn in reversed(turns) if name in turn.triggers), None)


def is_pending(session: Session, prompt: int) -> bool:
    """Whether the log stops while the newest turn, one that takes this message up, is still at work: the reply may come yet."""
    log = session.events
    if log is None or not log.turns or log.open_execution is None:
        return False
    turn, asked = log.turns[-1], session.note(prompt).time
    if any(moment.line > turn.line for moment in log.moments):
        return False
    return session.note(prompt).id in turn.triggers or (asked is not None and turn.start is not None and turn.start >= asked)


def wants_reply(session: Session, conversation: Conversation, prompt: int) -> bool:
    """Not in a group, where people talk to one another; not once a person took over; not a mere thank-you; not while a turn is at it."""
    if conversation.is_group or is_handed_over(session, conversation, prompt) or is_pending(session, prompt):
        return False
    return not is_closing(join_text(session.transcript, session.transcript.messages[prompt]))


def list_double(session: Session, conversation: Conversation, answers: Answers) -> list[tuple[int, tuple[int, ...]]]:
    """(user message, first rows of the replies) of each message that two turns say they answer."""
    if any(session.note(index).marks & TREE for turn in conversation.turns for index in turn.prompts):
        # In a tree of versions, siblings are what the user asked for.
        return []
    unanswered = set(list_unanswered(session, conversation, answers))
    found = []
    for turn in conversation.turns:
        for prompt in turn.prompts:
            replies = [index for index in answers.links.get(prompt, ()) if not session.note(index).marks & (BRANCH | HUMAN)]
            if len(replies) < 2:
                continue
            groups = group_answers(session, conversation, turn, replies)
            if len(groups) < 2 and unanswered.intersection(turn.prompts):
                # Somebody else waits: these are no balloons of one reply, unless one turn wrote them.
                turns = [session.note(index).turn for index in replies]
                groups = [(index,) for index in replies] if not all(turns) or len(set(turns)) == len(turns) else groups
            if len(groups) > 1:
                found.append((prompt, tuple(group[0] for group in groups)))
    return found


def count_stretches(session: Session, conversation: Conversation) -> list[Count]:
    """Every stretch of a conversation of chat rows with what can be counted in it; ambiguous ones are left out."""
    counts = (count_stretch(session, conversation, number) for number in range(len(conversation.turns)))
    return [count for count in counts if count is not None]


def count_stretch(session: Session, conversation: Conversation, number: int) -> Count | None:
    """None where counting says nothing: before the first user message, in a group, where a person or a version of a reply is involved, or
    where the file has other rows in it than the times."""
    turn = conversation.turns[number]
    if not turn.prompts or conversation.is_group or number in conversation.doubtful or is_ambiguous(session, turn):
        return None
    answers = count_answers(session, conversation, turn)
    failures = list_failures(session, list_stretch(conversation, number))
    prompts = turn.prompts
    if len(prompts) > len(answers):
        copies = set(session.transcript.repeated_lines)
        prompts = tuple(index for index in prompts if session.transcript.messages[index].line not in copies)
        prompts = tuple(index for index in prompts if wants_reply(session, conversation, index))
    is_last = number == len(conversation.turns) - 1 and is_at_end(session, turn.prompts[-1])
    return Count(turn, prompts, answers, tuple(failures), is_last)


def count_answers(session: Session, conversation: Conversation, turn: Turn) -> tuple[tuple[int, ...], ...]:
    """The replies of a stretch as answers. Rows are put together only where they would be too many: of several messages each may have got
    its own."""
    single = [(index,) for index in turn.replies]
    if len(single) <= len(turn.prompts):
        turns = [session.note(index).turn for index in turn.replies]
        return tuple(single) if not all(turns) else tuple(group_answers(session, conversation, turn))
    return tuple(group_answers(session, conversation, turn))


def is_timed(session: Session, rows: Sequence[int]) -> bool:
    return all(session.note(index).time is not None for index in rows)
