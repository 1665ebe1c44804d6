"""No reporter keeps what it was handed: memory does not follow the number of sessions."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from doctor.cli.files import Spools
from doctor.output.options import Options
from doctor.output.reporters import FORMATS, find_reporter
from doctor.output.summary import Totals
from tests.output.samples import clean_file, failure, file_report, overlapping, shadowed

FEW, MANY = 400, 2_000


class Nowhere:
    """A stream that counts what goes into it."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        return len(text)

    def flush(self) -> None:
        pass


def run(format: str, sessions: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """(bytes at the peak beyond what stands before, characters written)"""
    monkeypatch.setattr("doctor.cli.files.IN_MEMORY", 10_000)
    stream: Any = Nowhere()
    spools, totals = Spools(), Totals()
    reporter = find_reporter(format)(stream, Options(), spools.open)
    reporter.begin()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(sessions):
        path = f"/srv/sessions/{number}/transcript.jsonl"
        file = (
            file_report(shadowed(path=path, message=f"call_{number} is late"), overlapping(), path=path) if number % 2 else clean_file(path)
        )
        totals.add(file)
        reporter.add(file)
        reporter.fail(failure())
        totals.fail(failure())
    reporter.finish(totals)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    spools.close()
    return peak, stream.written


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "human"])
def test_memory_does_not_follow_the_number_of_sessions(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeping the reports would cost 3 MB more, keeping a line of each 800 KB; buffers vary by less."""
    run(format, 100, monkeypatch)
    few, _ = run(format, FEW, monkeypatch)
    many, written = run(format, MANY, monkeypatch)
    assert many < few + 500_000, f"{few:,} bytes for {FEW} sessions, {many:,} for {MANY:,}; {written:,} characters were written"
