from __future__ import annotations

import pytest

from doctor.findings import Confidence, FileReport, Severity
from doctor.fingerprints import fingerprint, fingerprint_all
from doctor.output.privacy import hide_contents
from tests.output.samples import shadowed

BEFORE = (
    "bash (call_1) has two results: a placeholder in its place (row 5), and the real one displaced to row 11, behind a foreign turn (row 9)"
)


def mark(message: str, **changes: object) -> str:
    return fingerprint(shadowed(message=message, **changes))


def test_the_recipe_is_fixed() -> None:
    """Baselines of users hold these: whoever changes the recipe has to change its version."""
    assert mark(BEFORE, code="AD305", ids=("call_1",)) == "81068c3cad921bc80d1a9db4df2307ce"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEFORE, BEFORE.replace("row 5", "row 105").replace("row 11", "row 1111").replace("row 9", "row 10")),
        ("thinking without a signature (rows 2, 4)", "thinking without a signature (rows 12, 14, 17 and 19)"),
        ("«Do it.» (events 17-48, ended in error), from 12:18:02.984", "«Do it.» (events 7-8, ended in error), from 02:00:00.001"),
        ("its real result is in events.jsonl:27", "its real result is in events.jsonl:1,027"),
        ("messages.8.content.0: unexpected `tool_use_id`", "messages.12.content.3: unexpected `tool_use_id`"),
        ("a repair before «one» wrote it", "a repair before «two» wrote it"),
    ],
)
def test_places_do_not_matter(before: str, after: str) -> None:
    assert mark(before) == mark(after)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bash (call_1) has no result", "bash (call_2) has no result"),
        ("bash (toolu_015c…c976) has no result", "bash (toolu_016c…c976) has no result"),
        ("byte 0xe9 is not UTF-8", "byte 0xe8 is not UTF-8"),
        ("row 3 offers session 12-5a1b_explorer", "row 3 offers session 12-5a1c_explorer"),
        ("the result of bash", "the result of todo"),
    ],
)
def test_what_is_said_matters(one: str, other: str) -> None:
    assert mark(one, ids=()) != mark(other, ids=())


def test_only_code_ids_and_message_matter() -> None:
    base = fingerprint(shadowed())
    moved = shadowed(path="/elsewhere", line=99, column=7, byte_offset=1, related=(), fix=None, why="", wires=(("anthropic", "no"),))
    assert fingerprint(moved) == base
    assert fingerprint(shadowed(severity=Severity.INFO, confidence=Confidence.POSSIBLE)) == base
    assert fingerprint(shadowed(code="AD304")) != base
    assert fingerprint(shadowed(ids=("other",))) != base
    assert fingerprint(shadowed(ids=("a", "b"))) == fingerprint(shadowed(ids=("b", "a")))
    assert fingerprint(shadowed(ids=("ab", "c"))) != fingerprint(shadowed(ids=("a", "bc")))


def test_hidden_contents_change_nothing() -> None:
    found = shadowed(message="«a \x00 secret» ran twice (row 3)")
    hidden = hide_contents(FileReport("p", "amplifier", "s", "unknown", 1, (found,))).diagnostics[0]
    assert hidden.message != found.message and fingerprint(hidden) == fingerprint(found)


def test_the_same_twice_is_counted() -> None:
    one, two, three = shadowed(), shadowed(line=40), shadowed(code="AD304")
    marks = fingerprint_all([one, three, two])
    assert marks == [f"{fingerprint(one)}:1", f"{fingerprint(three)}:1", f"{fingerprint(one)}:2"]
    assert fingerprint_all([]) == []


def test_odd_texts_have_one_too() -> None:
    assert len(mark("\ud800 \udcff \x00")) == 32
