"""What a format has to say for itself where its records are no lines: how one is read, sent, named, mended, and proved not to be lost; and
what is wrong with the links between them."""

from __future__ import annotations

from collections.abc import Callable

from doctor.findings import Finding
from doctor.model import Transcript
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class StoreProblem(Record):
    """Something wrong with how a store links its records, which the rows alone don't show. `kind` names the rule that reports it.

    `line` is a line of the transcript, None for the session as a whole; `related` are (line, label). `is_note`: history, or good to know.
    """

    kind: str
    line: int | None
    message: str
    related: tuple[tuple[int, str], ...] = ()
    ids: tuple[str, ...] = ()
    is_doubtful: bool = False
    is_note: bool = False


class Form(Record):
    """Everything takes the Transcript (or the Session around it), so that one Form serves a file as it is and as it is planned."""

    read_row: Callable[[Transcript, int], Any]
    """The record that begins on a line, in Amplifier's shape: role, content blocks, tool_calls."""
    name_row: Callable[[Transcript, int], str]
    """The store's own id of that record, "" when it has none."""
    place_row: Callable[[Transcript, int], int]
    """The byte at which it begins."""
    count_rows: Callable[[Transcript], int]
    as_sent: Callable[[Transcript], Transcript]
    """The conversation as the client would send it: what it leaves out is gone, what it completes is complete."""
    adapt: Callable[[Any, str, Finding], Finding | None]
    """(session, code, finding) -> the finding as it holds for this format, with a fix of this format; None where it does not hold."""
    find_loss: Callable[[Transcript, Transcript], str]
    """Why a planned file would lose something recorded, "" when it would not."""
    links_replies: bool = False
    """Whether the store says which message each reply answers, so that the words of two replies prove nothing."""
