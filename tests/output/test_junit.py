"""JUnit XML against the schema that Jenkins holds it to."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from doctor.findings import Report, Severity
from doctor.output.options import Options
from doctor.output.reporters import write_report
from tests.output.reports import CASES, MORE_TEXTS, hostile_report, write
from tests.output.samples import PATH, clean_file, failure, file_report, overlapping, seed_report, shadowed

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).parent.parent / "support/schemas/junit-10.xsd"))


def read(report: Report, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(write("junit", report, **options))


@pytest.mark.parametrize("name", CASES)
def test_output_is_what_the_schema_says(name: str) -> None:
    report, options = CASES[name]
    assert [str(error) for error in SCHEMA.iter_errors(write("junit", report, **options))] == []


def test_the_schema_would_notice() -> None:
    assert not SCHEMA.is_valid(write("junit", seed_report()).replace(' tests="3"', "", 2))


def test_a_suite_a_file_a_case_a_finding() -> None:
    root = read(Report((*seed_report().files, clean_file()), (failure(),)), folder="/srv/sessions")
    assert root.attrib == {"name": "amplifier-doctor check", "tests": "5", "failures": "3", "errors": "1"}
    broken, clean, unreadable = root
    assert (broken.attrib["name"], broken.attrib["failures"]) == (PATH.removeprefix("/srv/sessions/"), "3")
    first = broken[0]
    assert first.attrib["name"].startswith("AD305 placeholder-shadows-result ")
    assert first[0].tag == "failure" and first[0].attrib["message"].startswith("the real result of todo")
    assert "fix (safe): row 11 takes the place of row 5" in first[0].text
    assert [(case.attrib["name"], len(case)) for case in clean] == [("resumable", 0)]
    assert unreadable[0][0].tag == "error" and unreadable[0][0].attrib == {"type": "unreadable", "message": failure().message}


def test_cases_have_names_of_their_own_that_last() -> None:
    names = [case.attrib["name"] for case in read(Report((file_report(shadowed(), shadowed(line=9), shadowed(code="AD304")),)))[0]]
    assert len(set(names)) == 3
    moved = [case.attrib["name"] for case in read(Report((file_report(shadowed(line=12), shadowed(line=90), shadowed(code="AD304")),)))[0]]
    assert moved == names


def test_what_fails_the_run_fails_a_case() -> None:
    report = Report((file_report(shadowed(severity=Severity.WARNING), overlapping(severity=Severity.INFO)),))
    suite = read(report)[0]
    assert [case[0].tag for case in suite if case.tag == "testcase"] == ["failure"]
    assert "AD501 info" in suite.find("system-out").text
    suite = read(report, fail_on=Severity.ERROR)[0]
    assert [len(case) for case in suite if case.tag == "testcase"] == [0]
    assert suite.find("system-out").text.count("\n") == 1


def test_what_the_baseline_accepts_is_skipped() -> None:
    suite = read(Report((file_report(accepted=(shadowed(),)),)))[0]
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"]) == ("2", "0", "1")
    assert suite[1][0].tag == "skipped" and suite[1][0].attrib["message"].startswith("accepted by the baseline: ")


def test_hostile_texts_are_texts() -> None:
    root = read(hostile_report())
    assert len(root) == 2 * len(MORE_TEXTS)
    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "testcase", "failure", "skipped", "error"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_will_do(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    write_report("junit", seed_report(), stream, Options())
    stream.flush()
    assert "…" in ElementTree.fromstring(raw.getvalue())[0][0][0].attrib["message"]
