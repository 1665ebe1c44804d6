"""One entry of the catalogue."""

from __future__ import annotations

from doctor.records import Record


class Entry(Record):
    """`pattern` finds the text; its first group, where it has one, is an id or a number. `codes` are the doctor's codes that cover the
    defect, the likeliest first, none where a stored transcript has no part in it. `ids` finds a list of ids behind the text."""

    rule: str
    pattern: str
    codes: tuple[str, ...]
    explanation: str
    cure: str
    ids: str = ""
