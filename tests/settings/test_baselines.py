from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from doctor.errors import DoctorError
from doctor.findings import Confidence, Diagnostic, FileReport, Severity
from doctor.fingerprints import VERSION
from doctor.settings.baselines import (
    Baseline,
    Entry,
    apply_baseline,
    collect_entries,
    compare_entries,
    locate,
    parse_baseline,
    write_baseline,
)

PATH = os.path.join(os.sep, "project", "accepted.json")


def find(message: str, line: int = 1, code: str = "AD301", severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(code, "name", severity, Confidence.CONFIRMED, message, "t", line, 1, 0, (), (), None)


def report(*found: Diagnostic, path: str = os.path.join(os.sep, "project", "a", "transcript.jsonl")) -> FileReport:
    return FileReport(path, "amplifier", "s", "after-fix", 9, found)


def accept(*files: FileReport, lowest: Severity = Severity.WARNING) -> Baseline:
    return Baseline(PATH, tuple(collect_entries(files, PATH, lowest)))


def test_accepted_findings_are_set_apart_although_they_moved() -> None:
    baseline = accept(report(find("call in row 4 has no result", 4)))
    after = apply_baseline(report(find("call in row 9 has no result", 9), find("something else", 2)), baseline)
    assert [found.message for found in after.diagnostics] == ["something else"]
    assert [found.line for found in after.accepted] == [9]
    assert after.verdict == "after-fix"


def test_one_more_of_the_same_kind_is_new() -> None:
    baseline = accept(report(find("row 1 is bad"), find("row 2 is bad")))
    after = apply_baseline(report(*(find(f"row {row} is bad", row) for row in range(1, 5))), baseline)
    assert [found.line for found in after.accepted] == [1, 2] and [found.line for found in after.diagnostics] == [3, 4]


def test_what_another_file_has_is_not_accepted_here() -> None:
    baseline = accept(report(find("bad")))
    other = report(find("bad"), path=os.path.join(os.sep, "project", "b", "transcript.jsonl"))
    assert apply_baseline(other, baseline) is other


def test_information_needs_no_acceptance_unless_it_fails() -> None:
    info = report(find("bad", severity=Severity.INFO))
    assert accept(info).entries == ()
    baseline = accept(info, lowest=Severity.INFO)
    assert apply_baseline(info, baseline) is info
    assert apply_baseline(info, baseline, Severity.INFO).diagnostics == ()


def test_the_file_is_sorted_has_a_line_a_finding_and_reads_back() -> None:
    baseline = accept(
        report(find("b in «a secret prompt», row 3"), find("b in «», row 4"), find("é\x1b", code="AD101")),
        report(find("c"), path=os.path.join(os.sep, "project", "..", "elsewhere", "ü.jsonl")),
    )
    text = write_baseline(reversed(baseline.entries), "0.1.0")
    assert text == write_baseline(baseline.entries, "0.1.0") and text.isascii() and text.endswith("]\n}\n")
    rows = [line for line in text.splitlines() if '"fingerprint"' in line]
    assert len(rows) == 3 and "secret" not in text
    assert [json.loads(row.rstrip(","))["path"] for row in rows] == ["../elsewhere/ü.jsonl", "a/transcript.jsonl", "a/transcript.jsonl"]
    assert [json.loads(row.rstrip(","))["count"] for row in rows] == [1, 1, 2]
    assert sorted(parse_baseline(json.loads(text), PATH).entries) == sorted(baseline.entries)
    assert parse_baseline(json.loads(write_baseline((), "0.1.0")), PATH).entries == ()


def test_lines_that_a_merge_doubled_are_added_up() -> None:
    document = json.loads(write_baseline(accept(report(find("bad"))).entries, "0.1.0"))
    document["findings"] *= 2
    assert [entry.count for entry in parse_baseline(document, PATH).entries] == [2]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda document: [], "it has no list of findings"),
        (lambda document: {**document, "findings": {}}, "it has no list of findings"),
        (lambda document: {**document, "schema_version": 2}, "schema_version 2 is not 1"),
        (lambda document: {**document, "fingerprints": "other/v9"}, f"this version makes '{VERSION}'"),
        (lambda document: {**document, "findings": [1]}, "finding 1 lacks"),
        (lambda document: {**document, "findings": [{**document["findings"][0], "count": 0}]}, "finding 1 lacks"),
        (lambda document: {**document, "findings": [{**document["findings"][0], "count": True}]}, "finding 1 lacks"),
        (lambda document: {**document, "findings": [{"path": "a"}]}, "finding 1 lacks"),
    ],
)
def test_what_is_no_baseline_is_refused(change: Any, reason: str) -> None:
    document = json.loads(write_baseline(accept(report(find("bad"))).entries, "0.1.0"))
    with pytest.raises(DoctorError) as caught:
        parse_baseline(change(document), PATH)
    assert reason in caught.value.message and caught.value.message.startswith(PATH)


def entry(path: str, mark: str, count: int = 1) -> Entry:
    return Entry(path, "AD301", mark, count, "text")


def test_a_comparison_tells_known_new_gone_and_unseen_apart() -> None:
    before = (entry("a", "1", 3), entry("a", "2"), entry("b", "1"), entry("c", "1"))
    today = (entry("a", "1", 2), entry("a", "3"), entry("b", "1", 2))
    compared = compare_entries(before, today, lambda one: one.path != "c")
    assert compared.known == (entry("a", "1", 2), entry("b", "1", 1))
    assert compared.new == (entry("a", "3"), entry("b", "1", 1))
    assert compared.stale == (entry("a", "1", 1), entry("a", "2"))
    assert compared.unseen == (entry("c", "1"),)


def test_a_place_is_the_same_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert locate(str(tmp_path / "link" / "a" / "t"), str(tmp_path / "real" / "accepted.json")) == "a/t"
