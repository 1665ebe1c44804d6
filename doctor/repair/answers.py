"""Proves a plan against the providers: no API that the session talks to may refuse more than before."""

from __future__ import annotations

from doctor.refusals import ERROR, PAIRING_RULES, Violation
from doctor.session import Session


class Answers:
    """What the target wires refuse about a session, as far as it has to be known before and after a fix."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._restored: list[Session] = []

    def note_restored(self, session: Session) -> None:
        """Rows that could not be read before say for the first time what is wrong with them. That is no harm done by the fix."""
        self._restored.append(session)

    def find_new(self, session: Session) -> str:
        """The first answer that a target wire would give only since the fix, "" when there is none."""
        errors = _list_errors(session)
        if not errors:
            return ""
        known = {
            key for one in (self._session, *self._restored) for wire, found in _list_errors(one, of_all=True) for key in _name(wire, found)
        }
        for wire, found in errors:
            if any(key not in known for key in _name(wire, found)):
                return f"{wire} would answer 400: {found.text}"
        return ""

    @staticmethod
    def find_left(session: Session) -> str:
        """The first answer of a wire that the user named, "" when all of them accept."""
        errors = _list_errors(session) if session.aim == "given" else []
        return f"{errors[0][0]} would still answer 400: {errors[0][1].text}" if errors else ""


def _list_errors(session: Session, of_all: bool = False) -> list[tuple[str, Violation]]:
    """What the target wires refuse, or all wires."""
    return [
        (wire, found)
        for wire, verdict in session.wires.items()
        if of_all or wire in session.targets
        for found in verdict.violations
        if found.severity == ERROR
    ]


def _name(wire: str, found: Violation) -> list[tuple[str, str]]:
    """What stays the same about an answer while rows move: the ids in it, whoever says so, since a wire that counts results sees a stray
    one only once no other is missing; where no id is named, the wire and what kind of rule it is."""
    named = [("id", call_id) for call_id in found.ids]
    return named or [(wire, "pairing" if found.rule in PAIRING_RULES else found.rule)]
