"""Frozen records with named fields: what `typing.NamedTuple` gives, at a tenth of its price.

Importing typing takes 3 ms, and each NamedTuple compiles source text of its own; for the sixty of them on the way to a check that was a
quarter of the start-up. To a type checker a Record is a NamedTuple.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    import sys
    from operator import itemgetter

    try:
        from _collections import _tuplegetter as make_getter
    except ImportError:  # an implementation of Python that has none

        def make_getter(index, doc):
            return property(itemgetter(index), doc=doc)

    MISSING = object()

    def read_annotations(body):
        """Those of a class body. Where its module does not postpone them, a function makes them from 3.14 on."""
        found = body.get("__annotations__")
        if found is not None or sys.version_info < (3, 14):
            return found or {}
        from annotationlib import Format, call_annotate_function, get_annotate_from_class_namespace

        make = get_annotate_from_class_namespace(body)
        return call_annotate_function(make, Format.FORWARDREF) if make is not None else {}

    class RecordMaker(type):
        """Turns the annotated names of a class body into the fields of a tuple; what they are set to are their defaults."""

        def __new__(maker, name, bases, body):
            if not bases:
                return type.__new__(maker, name, (tuple,), body)
            fields = tuple(read_annotations(body))
            defaults = {field: body.pop(field) for field in fields if field in body}
            for index, field in enumerate(fields):
                body[field] = make_getter(index, None)
            places = {field: index for index, field in enumerate(fields)}
            filled = tuple(defaults.get(field, MISSING) for field in fields)
            body.update(
                __slots__=(), _fields=fields, _field_defaults=defaults, __match_args__=fields, _places=places, _filled=filled,
                _required=filled.count(MISSING),
            )  # fmt: skip
            return type.__new__(maker, name, bases, body)

    class Record(metaclass=RecordMaker):
        """Base of all records. They are tuples: equal, ordered, unpacked and pickled as such."""

        __slots__ = ()

        def __new__(cls, *values, **named):
            if named or len(values) != len(cls._fields):
                values = complete(cls, values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **changes):
            """The same record with some fields changed. Raises TypeError for a name that is no field."""
            values = list(self)
            for name, value in changes.items():
                if name not in self._places:
                    raise TypeError(f"{self.__class__.__name__} got an unexpected field {name!r}")
                values[self._places[name]] = value
            return tuple.__new__(self.__class__, values)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{self.__class__.__name__}({', '.join(f'{field}={value!r}' for field, value in zip(self._fields, self, strict=True))})"

    def complete(cls, values, named):
        """The values of all fields: those by position, then those by name, then the defaults. Raises TypeError as a function would."""
        given = len(values)
        if given > len(cls._fields):
            raise TypeError(f"{cls.__name__} takes {len(cls._fields)} values but {given} were given")
        found = [*values, *cls._filled[given:]]
        for name, value in named.items():
            place = cls._places.get(name, -1)
            if place < given:
                raise TypeError(f"{cls.__name__} got {'two values for' if place >= 0 else 'an unexpected'} field {name!r}")
            found[place] = value
        if given < cls._required:
            missing = [field for field, value in zip(cls._fields, found, strict=True) if value is MISSING]
            if missing:
                raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}")
        return found
