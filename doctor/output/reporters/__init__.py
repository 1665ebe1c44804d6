"""One function per format: (report, stream, options). They only write to the stream that they are given."""

from __future__ import annotations

from collections.abc import Callable

from doctor.errors import DoctorError
from doctor.findings import Report
from doctor.output.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    Reporter = Callable[[Report, TextIO, Options], None]


FORMATS = ("human", "concise", "json")


def find_reporter(name: str) -> Reporter:
    """The reporter of a format; imported here, so that a run pays only for the one it uses.

    Raises DoctorError: there is no such format.
    """
    if name not in FORMATS:
        raise DoctorError("usage", f"there is no format {name!r}; choose one of {', '.join(FORMATS)}")
    from importlib import import_module

    reporter: Reporter = import_module(f"doctor.output.reporters.{name}").write_report
    return reporter
