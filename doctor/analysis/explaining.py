"""Explains a provider's error text, and finds the rows of a session that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.analysis.engine import diagnose
from doctor.analysis.errors_catalogue import ErrorMatch, find_errors
from doctor.analysis.errors_catalogue.search import find_nearest
from doctor.errors import DoctorError
from doctor.findings import Diagnostic
from doctor.records import Record
from doctor.rulekit import Rule
from doctor.session import Session

MOST_PLACES = 20


class Place(Record):
    """A row of the session that the text is about. `row` is 1-based; `what` says how it belongs to it."""

    row: int
    what: str


class ErrorExplanation(Record):
    """One error text. `names` are those of `codes`; `path` is the session that was looked at, "" for none."""

    rule: str
    provider: str
    text: str
    ids: tuple[str, ...]
    indices: tuple[int, ...]
    codes: tuple[str, ...]
    names: tuple[str, ...]
    explanation: str
    cure: str
    path: str = ""
    places: tuple[Place, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


def explain_text(text: str, rules: Sequence[Rule], session: Session | None = None) -> list[ErrorExplanation]:
    """All errors that a text holds, in the order in which they stand.

    Raises DoctorError: it holds none that is known.
    """
    matches = find_errors(text)
    if not matches:
        raise DoctorError("usage", "this text holds no provider error about a conversation that is known here" + _name_nearest(text))
    names = {rule.code: rule.name for rule in rules}
    found = diagnose(session, rules).diagnostics if session is not None else ()
    return [_explain(match, names, session, found) for match in matches]


def _name_nearest(text: str) -> str:
    near = find_nearest(text)
    if near is None:
        return ""
    entry, provider = near
    codes = f" ({', '.join(entry.codes)})" if entry.codes else ""
    return f"; it comes near to {entry.rule} of {provider}{codes}: {entry.explanation} Give the whole text, or check the session itself"


def _explain(match: ErrorMatch, names: dict[str, str], session: Session | None, found: Sequence[Diagnostic]) -> ErrorExplanation:
    explained = ErrorExplanation(
        match.rule, match.provider, match.text, match.ids, match.indices, match.codes,
        tuple(names.get(code, "") for code in match.codes), match.explanation, match.cure,
    )  # fmt: skip
    if session is None:
        return explained
    about = [one for one in found if (set(match.ids) & set(one.ids) if match.ids else one.code in match.codes)]
    # The same text out of the event log says nothing new, unless it is all there is.
    about = [one for one in about if one.code != "AD506"] or about
    return explained._replace(path=session.transcript.path, places=tuple(_find_places(match, session)), findings=tuple(about))


def _find_places(match: ErrorMatch, session: Session) -> list[Place]:
    """Where the ids of the text stand; without ids, the rows for which a wire gives this very answer now."""
    places: list[Place] = []
    for message in session.transcript.messages:
        places += [Place(message.line + 1, f"calls {call.name or 'a tool'} {call.id}") for call in message.calls if call.id in match.ids]
        for result in message.results:
            if result.call_id in match.ids:
                places.append(Place(message.line + 1, f"{'placeholder' if result.maker else 'result'} for {result.call_id}"))
    if not match.ids:
        rows = {
            line: wire
            for wire, verdict in session.wires.items()
            for one in verdict.violations
            if one.rule == match.rule
            for line in one.lines
        }
        places += [Place(line + 1, f"{wire} says this about it") for line, wire in sorted(rows.items())]
    return places[:MOST_PLACES]
