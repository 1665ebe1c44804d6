from __future__ import annotations

import random

from doctor.output.worst import Worst


def keep(room: int, badness: list[int]) -> list[int]:
    worst: Worst[int] = Worst(room)
    for place, bad in enumerate(badness):
        worst.add(place, bad)
    assert worst.seen == len(badness) and worst.left_out == max(0, len(badness) - room)
    return worst.list_items()


def test_the_worst_first_and_of_equals_the_first() -> None:
    assert keep(3, [1, 5, 2, 5, 1]) == [1, 3, 2]
    assert keep(2, [7, 7, 7]) == [0, 1]
    assert keep(0, [1]) == []


def test_it_is_what_sorting_all_would_keep() -> None:
    draw = random.Random(7)
    for _ in range(200):
        badness = [draw.randrange(5) for _ in range(draw.randrange(40))]
        room = draw.randrange(1, 12)
        expected = sorted(range(len(badness)), key=lambda place: (-badness[place], place))[:room]
        assert keep(room, badness) == expected
