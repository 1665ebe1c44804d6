"""The work for a chat log grows with its rows, whatever they say: counted in looks at notes, since there are no timed tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from doctor.analysis.engine import diagnose
from doctor.analysis.registry import load_rules
from doctor.conversations import list_conversations
from doctor.notes import Notes
from doctor.replies import read_answers
from tests.test_chat_properties import START, open_rows

RULES = load_rules()
MOST_LOOKS = 120
"""Looks at a note for each row: all rules together need some forty."""


class Places(dict[int, int]):
    looks = 0

    def __getitem__(self, index: int) -> int:
        self.looks += 1
        return super().__getitem__(index)


class Counter(list[Any]):
    looks = 0

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return super().__getitem__(place)


def row(number: int, **more: Any) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"id": f"m{number}", "timestamp": START + 10 * number, "role": role, "content": f"number {number}"} | more


SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "questions only": lambda number: row(number, role="user"),
    "one turn id for all": lambda number: row(number, turnId="t"),
    "what each reply saw": lambda number: row(number, **({"contextThrough": f"m{number - 1}"} if number % 2 else {})),
    "a conversation a row": lambda number: row(number, threadId=f"c{number}"),
    "newest first": lambda number: row(number, timestamp=START - 10 * number),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_are_looked_at_a_fixed_number_of_times(shape: str) -> None:
    count = 600
    session = open_rows([SHAPES[shape](number) for number in range(count)])
    notes = session.transcript.notes
    counter = Counter(notes.rows)
    session.transcript.notes = Notes(counter, notes.threads, notes.events)
    assert not diagnose(session, RULES).failures
    assert 0 < counter.looks < MOST_LOOKS * count


@pytest.mark.parametrize("shape", SHAPES)
def test_answers_are_told_in_a_fixed_number_of_steps(shape: str) -> None:
    count = 600
    session = open_rows([SHAPES[shape](number) for number in range(count)])
    looks = 0
    for conversation in list_conversations(session):
        places = Places(conversation.place)
        read_answers(session, conversation._replace(place=places))
        looks += places.looks
    assert looks <= 4 * count


def test_turns_without_an_end_are_not_compared_with_all_that_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.sources.formats import chat_overlaps

    rows: list[dict[str, Any]] = []
    for number in range(0, 400, 2):
        time = START + 10 * number
        rows.append(row(number))
        rows.append({"type": "turn.start", "turnId": f"t{number}", "at": time + 1, "trigger": f"m{number}"})
        rows.append(row(number + 1, turnId=f"t{number}"))
    compared = []
    prove = chat_overlaps._prove
    monkeypatch.setattr(chat_overlaps, "_prove", lambda *given: compared.append(1) or prove(*given))
    session = open_rows(rows)
    assert session.events is not None and not session.events.overlaps and len(compared) < 400
