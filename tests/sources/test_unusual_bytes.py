"""Which numbers and separators count as unusual, and where on the line they are."""

from __future__ import annotations

import json

import orjson
import pytest

from doctor.model import ByteNote
from doctor.sources.formats.amplifier_content import has_huge_number
from doctor.sources.unusual_bytes import find_big_integer, find_unusual_bytes, is_beyond_64_bits

BOUNDS = {
    "0": False,
    "-1": False,
    "9223372036854775808": False,
    "18446744073709551615": False,
    "18446744073709551616": True,
    "-9223372036854775808": False,
    "-9223372036854775809": True,
    "9" * 19: False,
    "-" + "9" * 19: True,
    "1" + "0" * 30: True,
    "7" * 5_000: True,
}


@pytest.mark.parametrize("number", BOUNDS)
def test_the_bounds_are_those_at_which_the_fast_parser_makes_a_float(number: str) -> None:
    assert is_beyond_64_bits(number) is BOUNDS[number]
    if len(number) < 100:
        value = orjson.loads(number)
        assert isinstance(value, float) is BOUNDS[number]
        # The suspicion may be wrong, but it may not miss one.
        assert not BOUNDS[number] or has_huge_number([[value]])


@pytest.mark.parametrize("text", ["1e20", "18446744073709551616.0", "-3.0E+25", '"18446744073709551616"', '{"18446744073709551616": 1}'])
def test_what_was_no_integer_in_the_file_is_none(text: str) -> None:
    assert find_big_integer(f'{{"x": {text}}}'.encode()) == b""


@pytest.mark.parametrize("raw", [b'{"x": 99999999999999999999', b"\xff 99999999999999999999", b"[" * 100_000, b""])
def test_what_is_no_json_has_no_integers(raw: bytes) -> None:
    assert find_big_integer(raw) == b""


def test_the_place_is_that_of_the_number_and_not_of_its_digits_in_a_text() -> None:
    raw = b'{"content": "99999999999999999999, no", "metadata": {"n": -99999999999999999999, "m": 99999999999999999999}}\n'
    assert list(find_unusual_bytes(raw, 4)) == [ByteNote(4, "integer", "20", raw.index(b"-"))]


def test_every_separator_has_its_note_and_escapes_have_none() -> None:
    raw = json.dumps({"content": "é\u2028\u2028\u0085ü"}, ensure_ascii=False).encode()
    assert [note[2:] for note in find_unusual_bytes(raw, 0)] == [("U+2028", 15), ("U+0085", 21)]
    assert list(find_unusual_bytes(json.dumps({"content": "\u2028\u2029\u0085"}).encode(), 0)) == []


def test_suspects_are_looked_into_at_any_depth_and_used_up() -> None:
    suspects = [{"a": [{"b": [[1e300]]}]}, {"c": 1.5}]
    assert has_huge_number(suspects) and suspects == []
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert not has_huge_number([deep, {"n": 1e18, "text": "x", "none": None}])
