"""The times in ids, checked by arithmetic and against ids that the client made."""

from __future__ import annotations

import pytest

from doctor.sources.formats.opencode.identifiers import SPAN, measure_skew, read_stamp


@pytest.mark.parametrize(
    ("name", "created"),
    [
        ("msg_227334a8e001E9p16V06dF5Szn", 1795954002574),
        ("msg_22733523f001UmQ4xaCY0mVF6v", 1795954004544),
        ("msg_22733a9ae001J14qVwNFrwu2xA", 1795954026926),
    ],
)
def test_ids_of_the_client_hold_the_time_of_their_message(name: str, created: int) -> None:
    assert abs(measure_skew(name, created) or 0) <= 1


def test_the_times_in_ids_begin_anew() -> None:
    assert 26 * SPAN == 1786706395136
    before, after = "msg_fffffffff001AAAAAAAAAAAAAA", "msg_000000001001AAAAAAAAAAAAAA"
    assert after < before and read_stamp(after) == 1
    assert measure_skew(before, 26 * SPAN - 1) == 0 == measure_skew(after, 26 * SPAN + 1)


@pytest.mark.parametrize("name", ["", "msg_1", "msg_0123456789abcdefAAAAAAAAAAAA", "msg_zzzzzzzzzzzzAAAAAAAAAAAAAA", "ses"])
def test_ids_of_another_kind_hold_none(name: str) -> None:
    assert read_stamp(name) is None and measure_skew(name, 5) is None
