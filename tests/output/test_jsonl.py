from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from doctor.findings import Report
from doctor.output import reporters
from doctor.output.options import Options
from doctor.output.reporters import find_reporter
from tests.output.reports import CASES, write
from tests.output.samples import PATH, clean_file, failure, file_report, seed_report, shadowed

SCHEMA = json.loads((Path(reporters.__file__).parent.parent / "report.schema.json").read_text("utf-8"))


def read(report: Report, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in write("jsonl", report, **options).split("\n")[:-1]]


def make_validator(kind: str) -> Draft202012Validator:
    """One kind of line, closed: a key that the schema does not describe would be missed by the open one that consumers get."""
    closed = json.loads(json.dumps(SCHEMA))
    for name, described in closed["$defs"].items():
        if name.startswith("row_"):
            described["additionalProperties"] = False
    registry = Registry().with_resource("urn:report", Resource.from_contents(closed))
    return Draft202012Validator({"$ref": f"urn:report#/$defs/{kind}"}, registry=registry)


@pytest.mark.parametrize("name", CASES)
def test_each_line_is_what_the_schema_says(name: str) -> None:
    report, options = CASES[name]
    validators = {kind: make_validator(f"row_{kind}") for kind in ("run", "file", "finding", "accepted", "failure", "summary")}
    any_row = make_validator("row")
    for row in read(report, **options):
        assert [error.message for error in validators[row["type"]].iter_errors(row)] == []
        assert any_row.is_valid(row)


def test_the_order_of_lines() -> None:
    rows = read(Report((*seed_report().files, file_report(shadowed(), accepted=(shadowed(),))), (failure(),)))
    assert [row["type"] for row in rows] == [
        "run", "file", "finding", "finding", "finding", "file", "finding", "accepted", "failure", "summary",
    ]  # fmt: skip
    assert rows[1]["findings"] == 3 and rows[1]["verdict"] == "after-fix" and "diagnostics" not in rows[1]
    assert (rows[2]["transcript"], rows[2]["code"], rows[2]["line"]) == (PATH, "AD305", 5)
    assert rows[-1]["errors"] == 4 and rows[-1]["accepted"] == 1 and rows[-1]["failures"] == 1


def test_lines_come_as_soon_as_they_are_known() -> None:
    stream = io.StringIO()
    reporter = find_reporter("jsonl")(stream, Options())
    reporter.begin()
    reporter.add(clean_file())
    assert [json.loads(line)["type"] for line in stream.getvalue().splitlines()] == ["run", "file"]
