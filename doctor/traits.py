"""What a session may have beside sound rows. A rule names what it needs to have anything to say, and is not asked about the rest.

Most sessions are sound. Asking forty rules whether they see what is not there took a seventh of a short session's check.
"""

from __future__ import annotations

from doctor.session import Session

HUGE_LINE = 4 << 20
"""4 MiB. At about four bytes a token this is a million tokens, the largest window that models have; as base64 it is an image of 3 MB,
which is near to what providers take of one."""

NO_ROWS = 1
"""Not one row can be read."""
ODD_LINES = 2
"""Lines that are no single JSON value, or stand twice: `line_problems`, `repeated_lines`."""
REFUSED_ROWS = 4
"""Rows that the client's loader refuses: `shape_problems`."""
UNUSUAL_ROWS = 8
"""`Transcript.unusual`: placeholders, invented replies, flags, foreign spellings."""
UNPAIRED_CALLS = 16
"""Anything but one result in its place for each call: what a `Pairing` holds."""
MINDED_ROWS = 32
"""Some wire has something to say: `refusals.find_refused`."""
EVENTS = 64
"""There is an event log."""
PENDING_APPEND = 128
"""A note of an append that was not finished lies beside the transcript."""
PLATFORM_RECORD = 256
"""The log of a chat platform: `Session.is_record`."""
STORE_PROBLEMS = 512
"""`Transcript.store_problems`, which `rulekit.report_problems` reports."""
UNUSUAL_BYTES = 1024
"""Bytes that are no damage: `crlf_lines`, `blank_lines`, `ends_with_eol`, `byte_notes`, and room for a huge line."""


def find_traits(session: Session) -> int:
    """What a session has, as flags."""
    transcript, pairing = session.transcript, session.pairing
    traits = 0
    if not transcript.messages:
        traits = NO_ROWS
    if transcript.line_problems or transcript.repeated_lines:
        traits |= ODD_LINES
    if transcript.shape_problem_count or transcript.shape_problems:
        traits |= REFUSED_ROWS
    if transcript.unusual:
        traits |= UNUSUAL_ROWS
    if not pairing.is_sound or pairing.reused:
        traits |= UNPAIRED_CALLS
    if session.events is not None:
        traits |= EVENTS
    if session.load_pending is not None:
        traits |= PENDING_APPEND
    if session.is_record:
        traits |= PLATFORM_RECORD
    if transcript.store_problems:
        traits |= STORE_PROBLEMS
    has_odd_ends = transcript.crlf_lines or transcript.blank_lines or not transcript.ends_with_eol
    if has_odd_ends or transcript.byte_notes or transcript.starts[-1] >= HUGE_LINE:
        traits |= UNUSUAL_BYTES
    if any(verdict.violations for verdict in session.wires.values()):
        traits |= MINDED_ROWS
    return traits
