"""What the provider APIs answer to a history: the types that contracts fill and rules read, and where an answer belongs.

The contracts themselves are in `doctor.analysis.wires`; a rule sees their answers on `Session.wires`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ANTHROPIC = "anthropic"
OPENAI_CHAT = "openai-chat"
OPENAI_RESPONSES = "openai-responses"
GEMINI = "gemini"
CONVERSE = "converse"
WIRES = (ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI, CONVERSE)

ERROR = "E"
WARNING = "W"

ACCEPTED = "accepted"
REFUSED = "refused"
DEPENDS = "depends"


CALL_FIRST = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
"""Gemini's answer to a conversation that opens with a call (rule GM-02)."""
PAIRING_RULES = frozenset((
    "AN-01", "AN-02", "AN-03", "AN-04", "OC-01", "OC-02", "OC-03", "OR-01", "OR-02", "OR-05", "GM-01", "GM-02", "GM-03", "BC-01", "BC-02",
    "BC-03", "BC-04", "BC-13", "MI-01", "MI-04", "DS-02", "DS-03", "KI-01", "KI-02", "KI-04", "MM-01", "MM-02", "MM-03", "QW-01",
))  # fmt: skip
"""Rules on which result answers which call."""


class Violation(Record):
    """One thing that an API refuses (severity "E"), or may refuse ("W", and `depends` says on what).

    `text` is the literal error text ("" for a doubt of which no text is known), `index` the message and `param` the place inside the
    request that it is about, `lines` the stored lines (0-based) or the indexes in the request's own list, `ids` the calls that it names.
    `reason` is the defect in the doctor's own words, for a refusal whose literal text is not known, `code` the doctor's code for it
    where its rule covers several.
    """

    rule: str
    text: str
    index: int
    param: str
    lines: tuple[int, ...]
    severity: str = ERROR
    depends: str = ""
    ids: tuple[str, ...] = ()
    reason: str = ""
    code: str = ""


class WireVerdict(Record):
    """What one wire says. `answer`: accepted, refused (the first violation is its literal answer), or depends (all are warnings)."""

    wire: str
    answer: str
    violations: tuple[Violation, ...] = ()

    @property
    def errors(self) -> tuple[Violation, ...]:
        return tuple(found for found in self.violations if found.severity == ERROR)


class RefusalMeaning(Record):
    """What a recorded error text says: the contract's rule, the doctor's codes that cover the defect, the ids that it names."""

    rule: str
    provider: str
    codes: tuple[str, ...]
    ids: tuple[str, ...]


class Refused(Record):
    """What the wires say about one line: by wire the first violation there. `is_sure`: a target wire refuses, whatever else is unknown."""

    line: int
    by_wire: Mapping[str, Violation]
    is_sure: bool
    depends: str
    ids: tuple[str, ...]

    @property
    def answers(self) -> tuple[tuple[str, str], ...]:
        """(wire, literal text) of those that refuse for sure."""
        return tuple((wire, found.text) for wire, found in self.by_wire.items() if found.severity == ERROR)


def find_refused(session: Any, rules: Iterable[str], holds: tuple[str, ...] = ()) -> list[Refused]:
    """The lines of a Session that a target wire minds under one of the contract's rules, in the order of the file. `holds`: only
    violations whose text has one of these words. Lines that no target wire minds are left out."""
    wanted = frozenset(rules)
    lines: dict[int, dict[str, Violation]] = {}
    ids: dict[int, dict[str, None]] = {}
    for wire, verdict in session.wires.items():
        for found in verdict.violations:
            if found.rule not in wanted or (holds and not any(word in found.text for word in holds)):
                continue
            for line in found.lines[:1]:
                known = lines.setdefault(line, {})
                if wire not in known or (known[wire].severity != ERROR and found.severity == ERROR):
                    known[wire] = found
                ids.setdefault(line, {}).update(dict.fromkeys(found.ids))
    refused = []
    for line, by_wire in sorted(lines.items()):
        aimed = [found for wire, found in by_wire.items() if wire in session.targets]
        if aimed:
            is_sure = any(found.severity == ERROR for found in aimed)
            depends = "" if is_sure else "; ".join(dict.fromkeys(found.depends for found in aimed if found.depends))
            refused.append(Refused(line, by_wire, is_sure, depends, tuple(ids[line])))
    return refused


def name_refusing(session: Any, refused: Refused) -> str:
    """`anthropic refuses it`, or on what it depends: the end of a finding's sentence."""
    if not refused.is_sure:
        return f"a provider may refuse it, depending on {refused.depends}" if refused.depends else "a provider may refuse it"
    names = [wire for wire, found in refused.by_wire.items() if found.severity == ERROR and wire in session.targets]
    return f"{name_wires(names)} {'refuses' if len(names) == 1 else 'refuse'} it"


def name_wires(wires: Iterable[str]) -> str:
    """`anthropic, gemini and converse`"""
    names = list(wires)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
