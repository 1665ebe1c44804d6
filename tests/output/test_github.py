"""Workflow commands, read back by the rules that GitHub's runner reads them by."""

from __future__ import annotations

import json

import pytest

from doctor.findings import Confidence, Failure, Report, Severity
from doctor.output.reporters.github import escape_data, escape_property
from tests.output.reports import MORE_TEXTS, hostile_report, many, write
from tests.output.samples import PATH, clean_file, failure, file_report, seed_report, shadowed


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner does: `::`, the command up to a space, properties between commas, `::`, data; then the escapes undone."""
    line = line.lstrip()
    assert line.startswith("::"), line
    head, _, data = line[2:].partition("::")
    command, _, listed = head.partition(" ")
    fields = dict(part.split("=", 1) for part in listed.split(",") if "=" in part)
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        fields = {name: value.replace(code, character) for name, value in fields.items()}
        data = data if code in ("%3A", "%2C") else data.replace(code, character)
    return command, fields, data


def commands(report: Report, **options: object) -> list[tuple[str, dict[str, str], str]]:
    text = write("github", report, **options)
    return [read_command(line) for line in text.split("\n")[:-1]]


def test_a_finding_is_an_annotation_at_its_row() -> None:
    found = commands(seed_report(), folder="/srv/sessions")
    command, fields, data = found[0]
    assert command == "error"
    assert fields == {"file": PATH.removeprefix("/srv/sessions/"), "line": "5", "title": "AD305 placeholder-shadows-result"}
    assert data.startswith(f"{PATH.removeprefix('/srv/sessions/')}:5:1: AD305 error the real result of todo")
    assert data.splitlines()[-1] == "fix, safe: row 11 takes the place of row 5; row 5 is kept in the quarantine"
    assert len(found) == 3


def test_a_clean_run_says_nothing() -> None:
    assert write("github", Report((clean_file(),))) == ""


def test_kinds_follow_severities_and_the_worst_come_first() -> None:
    report = Report(
        (
            file_report(shadowed(severity=Severity.INFO), shadowed(severity=Severity.WARNING)),
            file_report(shadowed(confidence=Confidence.POSSIBLE), shadowed(line=77)),
        ),
        (failure(),),
    )
    found = commands(report)
    assert [command for command, _, _ in found] == ["error", "error", "error", "warning", "notice"]
    assert found[0][1]["title"] == "amplifier-doctor: unreadable" and "line" not in found[0][1]
    assert [fields.get("line") for _, fields, _ in found[1:3]] == ["77", "5"]


@pytest.mark.parametrize(
    ("severity", "count", "shown"),
    [(Severity.ERROR, 10, 10), (Severity.ERROR, 11, 10), (Severity.WARNING, 400, 10), (Severity.INFO, 10, 9)],
)
def test_no_more_than_github_renders(severity: Severity, count: int, shown: int) -> None:
    found = commands(many(count, severity))
    closing = found[shown:]
    assert len(found) == shown + (count > shown)
    if closing:
        assert closing[0][0] == "notice" and f"{count - shown}" in closing[0][2] and f"{count} sessions" in closing[0][2]
        assert sum(command == "notice" for command, _, _ in found) <= 10


def test_standard_input_is_no_file() -> None:
    _, fields, _ = commands(Report((file_report(shadowed(path="-"), path="-"),)))[0]
    assert "file" not in fields and "line" not in fields


@pytest.mark.parametrize("text", MORE_TEXTS)
def test_a_text_stays_in_its_place(text: str) -> None:
    found = shadowed(message=text, path=text, name=text, why=text)
    lines = write("github", Report((file_report(found),), (Failure(text, "unreadable", text),))).split("\n")[:-1]
    assert len(lines) == 2
    for line in lines:
        command, fields, _ = read_command(line)
        assert command == "error" and set(fields) <= {"file", "line", "title"}
        assert line.isprintable()


def test_hostile_reports_are_one_command_a_line() -> None:
    for line in write("github", hostile_report()).split("\n")[:-1]:
        assert line.startswith(("::error ", "::warning ", "::notice "))


@pytest.mark.parametrize("width", [40, 60, 77, 100])
@pytest.mark.parametrize("format", ["human", "concise"])
def test_formats_for_people_start_no_command_either(format: str, width: int) -> None:
    """The runner reads every line of a step, whatever wrote it: `::` after white space, `##[` anywhere."""
    words = "word " * 12 + "::add-mask::x " * 30 + "##[error]x"
    report = Report((*hostile_report().files, file_report(shadowed(message=words, why=words, path="::error::x"), path="::warning::x")))
    for line in write(format, report, width=width).split("\n"):
        assert not line.lstrip().startswith("::") and "##[" not in line


@pytest.mark.parametrize("format", ["json", "jsonl", "sarif", "junit"])
def test_formats_for_programs_hold_no_command_inside_a_line(format: str) -> None:
    text = write(format, Report((*hostile_report().files, file_report(shadowed(message="a ##[error]x"), path="b##[c"))))
    assert "##[" not in text and all(not line.startswith("::") for line in text.split("\n"))
    if format == "json":
        assert "a ##[error]x" in {found["message"] for file in json.loads(text)["files"] for found in file["diagnostics"]}


def test_escapes() -> None:
    assert escape_data("50% a\r\nb: c, d") == "50%25 a%0D%0Ab: c, d"
    assert escape_property("50%: a, b") == "50%25%3A a%2C b"
