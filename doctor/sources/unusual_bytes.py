"""What the bytes of a row hold that other programs read otherwise: separators that some take for line ends, integers beyond 64 bits.

Loaded only for rows in which a reader suspects something; a suspicion that turns out to be wrong yields nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from doctor.model import ByteNote

SEPARATORS = ((b"\xe2\x80\xa8", "U+2028"), (b"\xe2\x80\xa9", "U+2029"), (b"\xc2\x85", "U+0085"))
"""Raw in UTF-8. Written as an escape they are six plain characters that nobody splits at."""
MOST_DIGITS = 20
"""An integer of 64 bits has no more."""
LEAST, MOST = -(2**63), 2**64 - 1


def find_unusual_bytes(raw: bytes, line: int) -> Iterator[ByteNote]:
    """The notes on one line, at most one of each separator and one for all its integers."""
    for sign, name in SEPARATORS:
        column = raw.find(sign)
        if column >= 0:
            yield ByteNote(line, "separator", name, column)
    number = find_big_integer(raw)
    if number:
        place = re.search(rb"[\s:,\[]" + re.escape(number) + rb"(?![0-9])", raw)
        yield ByteNote(line, "integer", str(len(number.lstrip(b"-"))), place.start() + 1 if place else 0)


def find_big_integer(raw: bytes) -> bytes:
    """The first whole number beyond 64 bits as it is written; b"" when there is none, or the line can't be read as one value.

    Judged by the standard library's parser: the fast one gives a float for 2**64 and for 1e20 alike.
    """
    found: list[str] = []

    def note(number: str) -> int:
        if not found and is_beyond_64_bits(number):
            found.append(number)
        return 0

    try:
        json.loads(raw.decode("utf-8").lstrip("\ufeff"), parse_int=note)
    except (ValueError, RecursionError):
        return b""
    return found[0].encode() if found else b""


def is_beyond_64_bits(number: str) -> bool:
    """Whether digits, perhaps behind a minus sign, name an integer that fits 64 bits neither with nor without a sign."""
    digits = number.lstrip("-")
    # First by length: Python refuses to convert thousands of digits.
    return len(digits) > MOST_DIGITS or (len(digits) >= MOST_DIGITS - 1 and not LEAST <= int(number) <= MOST)
