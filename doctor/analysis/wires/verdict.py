"""Whether each API would take a stored transcript. Sound stretches are passed over: only the turns around something unusual are lowered.

A stretch is cut where a plain user message follows a plain reply: there no call is open on any wire, and nothing merges across.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence

from doctor.analysis.plain import LONGEST_PLAIN_ID, LONGEST_PLAIN_NAME, has_plain_calls
from doctor.analysis.wires import check_history
from doctor.analysis.wires.shape import (
    ANTHROPIC,
    CONVERSE,
    ERROR,
    GEMINI,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    WIRES,
    History,
    Sent,
    Settings,
    Violation,
)
from doctor.analysis.wires.stored import SENT_ROLES, Layout, arrange, count_sent, lay_out_row, lower_message
from doctor.model import (
    ARGUMENTS_NOT_OBJECT,
    BLANK_TEXT,
    EMPTY_CONTENT,
    EMPTY_TEXT,
    MIXED_CONTENT,
    TEXT_AFTER_CALL,
    TEXT_BEFORE_RESULT,
    UNSIGNED_THINKING,
    Message,
    Transcript,
)
from doctor.pairing import Pairing
from doctor.refusals import ACCEPTED, DEPENDS, REFUSED, WireVerdict

MINDED = {
    ANTHROPIC: EMPTY_CONTENT | EMPTY_TEXT | BLANK_TEXT | UNSIGNED_THINKING | TEXT_AFTER_CALL | TEXT_BEFORE_RESULT | ARGUMENTS_NOT_OBJECT
    | MIXED_CONTENT,
    OPENAI_CHAT: ARGUMENTS_NOT_OBJECT | MIXED_CONTENT,
    OPENAI_RESPONSES: 0,
    GEMINI: EMPTY_CONTENT,
    CONVERSE: EMPTY_CONTENT | EMPTY_TEXT | BLANK_TEXT | ARGUMENTS_NOT_OBJECT,
}  # fmt: skip
"""The flags of a message that each wire has a rule about."""
LONGEST_ID = {ANTHROPIC: 1 << 30, OPENAI_CHAT: LONGEST_PLAIN_ID, OPENAI_RESPONSES: 64, GEMINI: 1 << 30, CONVERSE: 64}
LONGEST_NAME = {ANTHROPIC: 200, OPENAI_CHAT: LONGEST_PLAIN_NAME, OPENAI_RESPONSES: 128, GEMINI: 1 << 30, CONVERSE: 64}
STRICT_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
LOOSE_ID = re.compile(r"[a-zA-Z0-9_.:-]+\Z")
UNKNOWN = Settings()
Lowered = dict[tuple[int, int], Sequence[Sent]]
"""Neutral messages by the span of the messages that they were made of."""
MOST_UNSIGNED = 200
"""Messages with unsigned thinking, and nothing else that is odd, for which an answer is worked out."""
MOST_EXACT = 200
"""Rows that are read again so that indexes of content blocks in error texts are right; beyond that they are the usual ones."""


def judge_transcript(
    transcript: Transcript, pairing: Pairing, wires: Iterable[str] = WIRES, settings: Settings = UNKNOWN
) -> dict[str, WireVerdict]:
    """The verdict of each wire on the transcript as it would be sent, system rows left out and one user text behind it unless
    `settings.as_request`."""
    messages = transcript.messages
    suspects = _find_suspects(transcript, pairing, settings)
    odd_ids = _find_odd_calls(messages)
    lowered: Lowered = {}
    verdicts = {}
    for wire in wires:
        chosen = suspects | _find_flagged(transcript, MINDED[wire])
        chosen |= {index for index, is_odd in odd_ids if is_odd(wire)}
        found = _check_stretches(transcript, wire, sorted(chosen), settings, lowered) if chosen else []
        verdicts[wire] = build_verdict(wire, found)
    return verdicts


def _find_flagged(transcript: Transcript, minded: int) -> set[int]:
    """Indexes of messages with a flag that a wire minds. Where a client stored thinking without signature it did so in every row:
    beyond the first ones there is nothing new to learn, and each would cost its turn."""
    messages = transcript.messages
    found: set[int] = set()
    unsigned = 0
    for index in transcript.unusual:
        flags = messages[index][6] & minded
        if flags == UNSIGNED_THINKING:
            unsigned += 1
            if unsigned > MOST_UNSIGNED:
                continue
        if flags:
            found.add(index)
    return found


def build_verdict(wire: str, found: Sequence[Violation]) -> WireVerdict:
    if not found:
        return WireVerdict(wire, ACCEPTED)
    return WireVerdict(wire, REFUSED if found[0].severity == ERROR else DEPENDS, tuple(found))


def _find_suspects(transcript: Transcript, pairing: Pairing, settings: Settings) -> set[int]:
    """Indexes of messages that every wire has to look at."""
    messages = transcript.messages
    suspects = {site.index for site in pairing.orphans}
    for pair in pairing.pairs:
        suspects.add(pair.index)
        suspects.update(site.index for site in (*pair.placed, *pair.early, *pair.late))
    suspects.update(index for index, _ in pairing.twice_in_row)
    for _, indexes in pairing.reused:
        suspects.update(indexes)
    first = next((index for index, message in enumerate(messages) if message.role in ("user", "assistant", "tool")), None)
    if first is not None and messages[first].role != "user":
        suspects.add(first)
    if settings.as_request and messages:
        suspects.add(len(messages) - 1)
    return suspects


def _find_odd_calls(messages: Sequence[Message]) -> list[tuple[int, Callable[[str], bool]]]:
    """(message index, a test whether a wire minds) for calls whose id or name some wire refuses. Sound ones cost one join in all."""
    if has_plain_calls(messages):
        return []
    return [
        (index, lambda wire, call=call: _minds(wire, call[0], call[1]))
        for index, message in enumerate(messages)
        for call in message[3]
        if any(_minds(wire, call[0], call[1]) for wire in WIRES)
    ]


def _minds(wire: str, id: str, name: str) -> bool:
    """Whether a wire has something to say about this id or name; the contract then says what."""
    if len(id) > LONGEST_ID[wire] or len(name) > LONGEST_NAME[wire]:
        return True
    if wire == ANTHROPIC:
        return STRICT_ID.match(id) is None or not name
    if wire == CONVERSE:
        return LOOSE_ID.match(id) is None or STRICT_ID.match(name) is None
    return (wire == OPENAI_CHAT and STRICT_ID.match(name) is None) or (wire == OPENAI_RESPONSES and not name)


def _check_stretches(transcript: Transcript, wire: str, suspects: Sequence[int], settings: Settings, lowered: Lowered) -> list[Violation]:
    """`lowered` keeps what was made neutral for other wires: they look at the same stretches, most of the time."""
    messages = transcript.messages
    stretches = find_stretches(messages, suspects)
    for span in stretches:
        if span not in lowered:
            lowered[span] = lower_span(messages, *span)
    sent = tuple(arrange_stretches(wire, messages, [(span, lowered[span]) for span in stretches]))
    if not sent and not settings.as_request:
        # Nothing of these rows goes to the provider; the next prompt is what opens the request.
        return []
    found = check_history(wire, History(sent, settings))
    lines = {line for violation in found if ".content" in violation.param for line in violation.lines}
    if not lines or len(lines) > MOST_EXACT:
        return found

    def lay_out(message: Message) -> Sequence[tuple[str, str]] | None:
        return lay_out_row(transcript.read_row(message.line))

    exact = [(span, lower_span(messages, *span, lay_out, lines, lowered[span])) for span in stretches]
    return check_history(wire, History(tuple(arrange_stretches(wire, messages, exact)), settings))


def find_stretches(messages: Sequence[Message], suspects: Sequence[int]) -> list[tuple[int, int]]:
    """The (start, stop) spans of messages to look at: whole turns around each suspect."""
    stretches: list[tuple[int, int]] = []
    for suspect in suspects:
        if stretches and suspect < stretches[-1][1]:
            continue
        start = suspect
        while start > 0 and not _is_cut(messages, start):
            start -= 1
        stop = suspect + 1
        while stop < len(messages) and not _is_cut(messages, stop):
            stop += 1
        stretches.append((start, stop))
    return stretches


def _is_cut(messages: Sequence[Message], index: int) -> bool:
    """Whether nothing is open or merges across the gap in front of a message."""
    message = messages[index]
    if message[1] != "user" or message[4]:
        return False
    before = messages[index - 1]
    if before[1] != "assistant" or before[3]:
        return False
    return index < 2 or messages[index - 2][1] in ("user", "tool")


def lower_span(
    messages: Sequence[Message],
    start: int,
    stop: int,
    layout: Layout | None = None,
    lines: Container[int] | None = None,
    known: Sequence[Sent] = (),
) -> list[Sent]:
    """Neutral messages of a stretch. With `lines` only the rows there are lowered, and the others taken from `known`."""
    own = [message for message in messages[start:stop] if message[1] in SENT_ROLES]
    if lines is None:
        return [lower_message(message, layout) for message in own]
    return [lower_message(message, layout) if message[0] in lines else sent for message, sent in zip(own, known, strict=True)]


def arrange_stretches(wire: str, messages: Sequence[Message], stretches: Iterable[tuple[tuple[int, int], Sequence[Sent]]]) -> list[Sent]:
    """Neutral stretches as one wire counts them, with the indexes that they have in the whole."""
    arranged: list[Sent] = []
    counted = before = 0
    for (start, stop), neutral in stretches:
        counted += count_sent(wire, messages, before, start)
        own = arrange(wire, neutral, counted)
        counted += len(own)
        before = stop
        arranged += own
    return arranged


def lower_transcript(messages: Sequence[Message], wire: str, layout: Layout | None = None) -> list[Sent]:
    """A whole transcript as one wire counts it."""
    whole = (0, len(messages))
    return arrange_stretches(wire, messages, [(whole, lower_span(messages, *whole, layout))])
