"""Records behave as NamedTuples do, except for what they cost."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import pytest

from doctor.records import Record


class Point(Record):
    """A place."""

    x: int
    y: int = 2
    label: str = ""

    @property
    def sum(self) -> int:
        return self.x + self.y


class Twin(NamedTuple):
    x: int
    y: int = 2
    label: str = ""


@pytest.mark.parametrize(
    ("values", "named"), [((1,), {}), ((1, 3), {}), ((1, 3, "a"), {}), ((), {"x": 1}), ((1,), {"label": "a"}), ((), {"label": "b", "x": 9})]
)
def test_they_are_made_from_positions_names_and_defaults(values: tuple[object, ...], named: dict[str, object]) -> None:
    made, twin = Point(*values, **named), Twin(*values, **named)  # type: ignore[arg-type]
    assert tuple(made) == tuple(twin)
    assert made._asdict() == twin._asdict()
    assert repr(made) == repr(twin).replace("Twin", "Point")
    assert made._replace(y=7) == twin._replace(y=7)


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, "a", 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((), {"y": 1})])
def test_wrong_fields_are_refused_as_a_function_refuses_them(values: tuple[object, ...], named: dict[str, object]) -> None:
    for kind in (Point, Twin):
        with pytest.raises(TypeError):
            kind(*values, **named)  # type: ignore[arg-type]


def test_they_are_frozen_tuples_with_methods_of_their_own() -> None:
    point = Point(1)
    x, y, label = point
    assert (x, y, label) == (point.x, point.y, point.label) == point == (1, 2, "")
    assert point.sum == 3 and Point.__doc__ == "A place." and hash(point) == hash((1, 2, ""))
    for name in ("x", "other"):
        with pytest.raises(AttributeError):
            setattr(point, name, 5)
    with pytest.raises(TypeError):
        point._replace(z=1)
    assert Point._make([4, 5, "c"]) == Point(4, 5, "c")


def test_they_survive_copies_and_pickles() -> None:
    point = Point(1, label="a")
    for other in (copy.copy(point), copy.deepcopy(point), *(pickle.loads(pickle.dumps(point, version)) for version in range(2, 6))):
        assert other == point and type(other) is Point


def test_they_can_be_matched_by_position() -> None:
    match Point(1, 5):
        case Point(x, y):
            assert (x, y) == (1, 5)


def test_a_module_that_does_not_postpone_its_annotations_gives_the_same() -> None:
    source = "class Late(Record):\n    x: Missing\n    y: int = 2\n\nclass Bare(Record):\n    pass\n"
    names: dict[str, object] = {"Record": Record, "__name__": "late", "Missing": int}
    exec(compile(source, "late", "exec", dont_inherit=True), names)
    late, bare = names["Late"], names["Bare"]
    assert late(1) == (1, 2) and late._fields == ("x", "y") and bare() == ()  # type: ignore[attr-defined, operator]
