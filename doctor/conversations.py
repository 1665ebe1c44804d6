"""A transcript as conversations: its rows by thread and time, cut into stretches of user messages and what answers them.

Who answers whom is in `doctor.replies`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from doctor.model import Turn, split_turns
from doctor.notes import BRANCH, FAILED, HANDOVER, HUMAN, RowNote, is_newest_first, name_noted_row
from doctor.records import Record
from doctor.session import Session

SAME_TURN_SECONDS = 2.0
"""Balloons of one reply follow one another this fast, and so do the replies of two turns that ended together."""
_CLOSING = frozenset((
    "thanks", "thank", "thx", "ty", "merci", "danke", "gracias", "obrigado", "спасибо", "谢谢", "ありがとう", "감사합니다",
    "you", "very", "much",
    "so", "a", "lot", "for", "the", "your", "help", "that", "ok", "okay", "k", "great", "perfect", "cool", "nice", "good", "got", "it",
    "understood", "alright", "super", "no", "problem", "bye", "goodbye", "cheers", "好的",
))  # fmt: skip
MOST_CLOSING_WORDS = 6
MOST_NAMED = 4


class Conversation(Record):
    """One thread of a transcript: `order` are its message indexes by (time, file order), `place` says where in it each of them is, `turns`
    are the stretches that they fall into.

    `is_group`: several people write in it, and not each message is for the assistant. `is_reversed`: the file keeps it newest first.
    `doubtful`: numbers of the turns that have other rows by the order of the file than by their times. `has_person`: somebody may have
    taken over from the model.
    """

    thread: str
    order: tuple[int, ...]
    place: dict[int, int]
    turns: tuple[Turn, ...]
    is_group: bool
    is_reversed: bool = False
    doubtful: frozenset[int] = frozenset()
    has_person: bool = True


def list_conversations(session: Session) -> tuple[Conversation, ...]:
    """All conversations of a transcript; one, in file order, where its rows carry no notes."""
    messages, notes = session.transcript.messages, session.transcript.notes
    if notes is None:
        order = tuple(range(len(messages)))
        return (Conversation("", order, dict(enumerate(order)), session.turns, False),)
    found = []
    for thread, order in notes.threads.items():
        turns = split_turns((index, messages[index]) for index in order)
        authors = {notes.rows[index].author for turn in turns for index in turn.prompts} - {""}
        place = {index: number for number, index in enumerate(order)}
        is_reversed = is_newest_first([notes.rows[index].time for index in sorted(order)])
        doubtful = frozenset() if is_reversed else find_doubtful(order, [find_start(place, turn) for turn in turns])
        has_person = any(notes.rows[index].marks & (HANDOVER | HUMAN) for index in order)
        found.append(Conversation(thread, tuple(order), place, turns, len(authors) > 1, is_reversed, doubtful, has_person))
    return tuple(found)


def find_doubtful(order: Sequence[int], starts: Sequence[int]) -> frozenset[int]:
    """Which stretches of an order by time, beginning at `starts`, are no stretches of the file: a clock that is slow by a moment moves a
    reply before its question."""
    if all(one < other for one, other in pairwise(order)):
        return frozenset()
    # A cut is sound where all rows before it stand before all rows behind it in the file, too: where those are the first of all.
    ranked = {index: rank for rank, index in enumerate(sorted(order))}
    highest = [-1, *accumulate((ranked[index] for index in order), max)]
    is_sound = [highest[start] == start - 1 for start in (*starts, len(order))]
    return frozenset(number for number in range(len(starts)) if not (is_sound[number] and is_sound[number + 1]))


def list_between(conversation: Conversation, first: int, second: int) -> tuple[int, ...]:
    """The message indexes strictly between two of a conversation, in its order."""
    return conversation.order[conversation.place[first] + 1 : conversation.place[second]]


def find_start(place: Mapping[int, int], turn: Turn) -> int:
    return min(place[index] for index in (*turn.prompts, *turn.calls, *turn.replies))


def list_stretch(conversation: Conversation, number: int) -> tuple[int, ...]:
    """All rows from the first message of a turn up to the next turn: with the receipts and errors that turns leave out."""
    first = find_start(conversation.place, conversation.turns[number])
    following = conversation.turns[number + 1].prompts[:1] if number + 1 < len(conversation.turns) else ()
    return conversation.order[first : conversation.place[following[0]] if following else None]


def list_failures(session: Session, rows: Sequence[int]) -> list[int]:
    """Those of some rows that hold an error in the place of a reply."""
    return [index for index in rows if session.transcript.messages[index].kind == "failure" or session.note(index).marks & FAILED]


def is_ambiguous(session: Session, turn: Turn) -> bool:
    """Whether a person took over, or replies are versions of one another: counting them says nothing."""
    return any(session.note(index).marks & (HUMAN | BRANCH) for index in (*turn.prompts, *turn.replies))


def is_handed_over(session: Session, conversation: Conversation, prompt: int) -> bool:
    """Whether a person had taken over before a user message, and no model has spoken since."""
    if not conversation.has_person:
        return False
    for index in reversed(conversation.order[: conversation.place[prompt] + 1]):
        marks = session.note(index).marks
        if marks & (HANDOVER | HUMAN):
            return True
        if session.transcript.messages[index].kind in ("reply", "call"):
            return False
    return False


def group_answers(session: Session, conversation: Conversation, turn: Turn, replies: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """The replies of a stretch, those of one turn together: rows of one turn id; where that is not known, rows with calls or receipts
    between them (text, tool, text), and balloons that follow within two seconds."""
    groups: list[list[int]] = []
    for index in turn.replies if replies is None else replies:
        if groups and _belongs_together(session, conversation, groups[-1][-1], index):
            groups[-1].append(index)
        else:
            groups.append([index])
    return [tuple(group) for group in groups]


def _belongs_together(session: Session, conversation: Conversation, first: int, second: int) -> bool:
    one, other = session.note(first), session.note(second)
    if one.turn and other.turn:
        return one.turn == other.turn
    between = list_between(conversation, first, second)
    if any(session.transcript.messages[index].kind in ("call", "result", "system") for index in between):
        return True
    gap = measure_gap(one, other)
    return gap is not None and gap <= SAME_TURN_SECONDS


def is_at_end(session: Session, prompt: int) -> bool:
    """Whether the file ends behind a user message, as far as it can be read: a line that can't be may hold the reply."""
    line = session.transcript.messages[prompt].line
    return not any(problem.line > line for problem in session.transcript.line_problems)


def measure_gap(one: RowNote, other: RowNote) -> float | None:
    return abs(other.time - one.time) if one.time is not None and other.time is not None else None


def is_closing(text: str) -> bool:
    """Whether a user message asks for no reply: "thanks", "ok, got it", an emoji."""
    words = re.findall(r"\w+", text.casefold())
    return len(words) <= MOST_CLOSING_WORDS and "?" not in text and bool(text.strip()) and all(word in _CLOSING for word in words)


def name_row(session: Session, index: int) -> str:
    return name_noted_row(session.transcript.messages[index].line, session.note(index))


def name_rows(session: Session, indexes: Sequence[int]) -> str:
    """`row 1 (…), row 2 (…) and 3 more`"""
    named = ", ".join(name_row(session, index) for index in indexes[:MOST_NAMED])
    return named if len(indexes) <= MOST_NAMED else f"{named} and {len(indexes) - MOST_NAMED} more"


class Tail(Record):
    """The end of a conversation as it is stored, where its last word is a reply: the user messages before it, the replies, and the errors
    behind the last of them, or between them."""

    prompts: tuple[int, ...]
    replies: tuple[int, ...]
    failures: tuple[int, ...]


def find_tail(session: Session, conversation: Conversation) -> Tail | None:
    """None where the conversation ends with a user message, or with calls. The order of the file counts: it is what would be sent."""
    messages = session.transcript.messages
    order = conversation.order if conversation.is_reversed else sorted(conversation.order)
    rows = [index for index in order if messages[index].kind in ("prompt", "reply", "call", "failure")]
    failures: list[int] = []
    replies: list[int] = []
    prompts: list[int] = []
    for index in reversed(rows):
        kind = messages[index].kind
        if kind == "failure":
            failures.append(index)
        elif kind == "prompt" and replies:
            prompts.append(index)
        elif prompts or kind == "prompt":
            break
        elif kind == "reply":
            replies.append(index)
        elif not replies:
            return None
    if not replies or not prompts:
        return None
    return Tail(tuple(reversed(prompts)), tuple(reversed(replies)), tuple(reversed(failures)))
