"""Frozen records with named fields: what `typing.NamedTuple` gives, at a tenth of its price.

Importing typing takes 3 ms, and each NamedTuple compiles source text of its own; for the sixty of them on the way to a check that was a
quarter of the start-up. To a type checker a Record is a NamedTuple.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    from operator import itemgetter

    try:
        from _collections import _tuplegetter as make_getter
    except ImportError:  # an implementation of Python that has none

        def make_getter(index, doc):
            return property(itemgetter(index), doc=doc)

    class RecordMaker(type):
        """Turns the annotated names of a class body into the fields of a tuple; what they are set to are their defaults."""

        def __new__(maker, name, bases, body):
            if not bases:
                return type.__new__(maker, name, (tuple,), body)
            # Present as soon as the module postpones its annotations, on every Python.
            fields = tuple(body["__annotations__"])
            defaults = {field: body.pop(field) for field in fields if field in body}
            for index, field in enumerate(fields):
                body[field] = make_getter(index, None)
            body.update(__slots__=(), _fields=fields, _field_defaults=defaults, __match_args__=fields)
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
            return self.__class__(**dict(zip(self._fields, self, strict=True)) | changes)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return f"{self.__class__.__name__}({', '.join(f'{field}={value!r}' for field, value in zip(self._fields, self, strict=True))})"

    def complete(cls, values, named):
        """The values of all fields: those by position, then those by name, then the defaults. Raises TypeError as a function would."""
        fields = cls._fields
        if len(values) > len(fields):
            raise TypeError(f"{cls.__name__} takes {len(fields)} values but {len(values)} were given")
        given = dict(zip(fields, values, strict=False))
        for name in named:
            if name in given or name not in fields:
                raise TypeError(f"{cls.__name__} got {'two values for' if name in given else 'an unexpected'} field {name!r}")
        found = cls._field_defaults | given | named
        missing = [field for field in fields if field not in found]
        if missing:
            raise TypeError(f"{cls.__name__} lacks {', '.join(missing)}")
        return [found[field] for field in fields]
