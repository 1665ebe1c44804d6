"""JSON is read and judged in the same way by all versions of Python. Columns and depths here are what each of them has to say."""

from __future__ import annotations

import json

import pytest

from doctor.jsontext import MOST_DEEP, describe_mistake, is_cut_short, read_json, read_json_at


def nest(levels: int) -> str:
    return '{"a":[' * (levels // 2) + "[]" * (levels % 2) + "]}" * (levels // 2)


@pytest.mark.parametrize("levels", [1, 2, MOST_DEEP - 1, MOST_DEEP])
def test_what_any_version_can_read_is_read(levels: int) -> None:
    assert read_json(nest(levels)) == json.loads(nest(levels))
    assert read_json(nest(levels).encode()) == json.loads(nest(levels))
    assert read_json_at("x" + nest(levels) + "y", 1) == (json.loads(nest(levels)), len(nest(levels)) + 1)


@pytest.mark.parametrize("levels", [MOST_DEEP + 1, 990, 1_500, 9_000, 60_000, 1_000_000])
def test_what_only_some_can_read_is_refused_by_all(levels: int) -> None:
    with pytest.raises(RecursionError):
        read_json(nest(levels))
    with pytest.raises(RecursionError):
        read_json(nest(levels).encode())
    with pytest.raises(RecursionError):
        read_json_at(" " + nest(levels), 1)


def test_brackets_beside_each_other_or_inside_of_strings_are_not_deep() -> None:
    flat = [["["], {"{": 5_000 * "["}] * 5_000
    assert read_json(json.dumps(flat)) == flat


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"a": 1,}', "Illegal trailing comma before end of object", 7),
        ('{"a": 1 ,\n }', "Illegal trailing comma before end of object", 8),
        ('{"a": [1, 2, ]}', "Illegal trailing comma before end of array", 11),
        ('{"a": 1,,}', "Expecting property name enclosed in double quotes", 8),
        ('{"a": 1,]', "Expecting property name enclosed in double quotes", 8),
        ("[1,}", "Expecting value", 3),
        ('{"a": ]', "Expecting value", 6),
        ('{"a": }', "Expecting value", 6),
        ('["a\\u00e9', "Unterminated string", 9),
        ('["a\\ud83d', "Unterminated string", 9),
        ('["a', "Unterminated string starting at", 1),
        ('["a\\u00g9"]', "Invalid \\uXXXX escape", 4),
        ('{"a" 1}', "Expecting ':' delimiter", 5),
        ("[1] 2", "Extra data", 4),
    ],
)
def test_a_mistake_has_one_name_and_one_place(text: str, message: str, place: int) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        read_json(text)
    mistake = describe_mistake(caught.value)
    assert (mistake.message, mistake.place) == (message, place)
    again = json.JSONDecodeError(message, text, place)
    assert (mistake.line, mistake.column, str(mistake)) == (again.lineno, again.colno, str(again))


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [('["a\\u00e9', True), ('["a\\u0', True), ('["a', True), ("[1,", True), ("[tru", True), ("[1,]", False), ("[x", True), ("[a b", False)],
)
def test_a_text_that_ends_too_early_is_told_from_one_with_a_mistake(text: str, is_cut: bool) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        read_json(text)
    assert is_cut_short(caught.value) is is_cut
