"""Tells a transcript that every provider API takes, by the views alone. Most are: the contracts are not even loaded for those."""

# No postponed annotations: see doctor/findings.py.

from collections.abc import Sequence

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
)
from doctor.session import Session

LONGEST_PLAIN_ID = 40
LONGEST_PLAIN_NAME = 64
"""The shortest limits that any API has or had."""
PLAIN_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
MINDED_BY_SOME = (
    EMPTY_CONTENT
    | EMPTY_TEXT
    | BLANK_TEXT
    | UNSIGNED_THINKING
    | TEXT_AFTER_CALL
    | TEXT_BEFORE_RESULT
    | ARGUMENTS_NOT_OBJECT
    | MIXED_CONTENT
)
"""The flags of a message that some API has a rule about."""


def is_plainly_accepted(session: Session) -> bool:
    """Whether no API has anything to say about this transcript. False proves nothing: then the contracts are asked."""
    transcript, pairing = session.transcript, session.pairing
    messages = transcript.messages
    if session.as_request or not pairing.is_sound or pairing.reused or not messages:
        return False
    if any(messages[index][6] & MINDED_BY_SOME for index in transcript.unusual):
        return False
    first = next((message[1] for message in messages if message[1] in ("user", "assistant", "tool")), "user")
    return first == "user" and has_plain_calls(messages)


def has_plain_calls(messages: Sequence[Message]) -> bool:
    """Whether ids and names of all calls are such that no API minds them. Costs one join in all."""
    calls = [call for message in messages if message[3] for call in message[3]]
    ids = [call[0] for call in calls]
    names = {call[1] for call in calls}
    return (
        _is_plain("".join(ids))
        and max(map(len, ids), default=0) <= LONGEST_PLAIN_ID
        and "" not in names
        and max(map(len, names), default=0) <= LONGEST_PLAIN_NAME
        and _is_plain("".join(names))
    )


def _is_plain(text: str) -> bool:
    # As bytes: isalnum() asks about each character, which takes five times as long.
    return text.isascii() and not text.encode().translate(None, PLAIN_SIGNS)
