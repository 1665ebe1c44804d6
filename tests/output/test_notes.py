"""What is written of notes without rich is what would be drawn of them."""

from __future__ import annotations

import glob
import io
import os
from pathlib import Path

import pytest

from doctor import check
from doctor.findings import Report
from doctor.output import notes
from doctor.output.options import Options
from doctor.output.reporters.human import Human
from doctor.output.summary import Totals
from tests.support.cases import NOW

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "fixtures")


def show(report: Report, width: int) -> str:
    stream, totals = io.StringIO(), Totals()
    reporter = Human(stream, Options(color=False, width=width))
    reporter.begin()
    for file in report.files:
        totals.add(file)
        reporter.add(file)
    reporter.finish(totals)
    return stream.getvalue()


def list_noted() -> list[Report]:
    """Every fixture's session that has nothing but notes."""
    reports = [
        Report((file,))
        for place in sorted(glob.glob(os.path.join(FOLDER, "*", "input", "**", "*.jsonl"), recursive=True))
        if not place.endswith("events.jsonl")
        for file in check(place, now=NOW, environment={}).files
        if file.diagnostics and notes.write_notes(file, Options(color=False, width=100)) is not None
    ]
    assert len(reports) > 10
    return reports


def test_a_long_path_is_written_plainly_too(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 20) / ("folder" * 10)
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text('{"role": "user", "content": "hi"}\n')
    (file,) = check(folder / "transcript.jsonl", now=NOW, environment={}).files
    lines = notes.write_notes(file, Options(color=False, width=100))
    assert lines is not None and "…" in lines[0]


@pytest.mark.parametrize("width", [100, 60])
def test_both_ways_of_writing_agree(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    reports = list_noted()
    plain = [show(report, width) for report in reports]
    monkeypatch.setattr(notes, "write_notes", lambda file, options: None)
    assert plain == [show(report, width) for report in reports]
