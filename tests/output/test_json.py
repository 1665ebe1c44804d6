from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from doctor import __version__
from doctor.findings import Report
from doctor.output import reporters
from doctor.output.options import Options
from doctor.output.reporters import write_report
from tests.output.samples import PATH, TODO, clean_file, failure, file_report, fix_report, seed_report, shadowed

SCHEMA_PATH = Path(reporters.__file__).parent.parent / "report.schema.json"


def close(schema: Any) -> Any:
    """The schema with every object closed, so that a key which it does not describe is an error here (consumers get it open)."""
    if isinstance(schema, dict):
        closed = {key: close(value) for key, value in schema.items()}
        return closed | {"additionalProperties": False} if "properties" in closed else closed
    return [close(item) for item in schema] if isinstance(schema, list) else schema


def write(report: Report, **options: Any) -> str:
    stream = io.StringIO()
    write_report("json", report, stream, Options(**options))
    return stream.getvalue()


CASES = {
    "seed": (seed_report(), {}),
    "clean": (Report((clean_file(),)), {}),
    "nothing": (Report((), (failure(),)), {}),
    "fix": (fix_report(), {"command": "fix"}),
    "diff": (fix_report(diff="--- a\n+++ b\n"), {"command": "fix", "dry_run": True, "show_diff": True}),
    "no excerpt": (seed_report(), {"excerpt": False}),
}


def test_the_schema_is_a_schema_and_stays_open() -> None:
    schema = json.loads(SCHEMA_PATH.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    later = json.loads(write(seed_report())) | {"added_later": 1}
    Draft202012Validator(schema).validate(later)


@pytest.mark.parametrize("name", CASES)
def test_output_is_what_the_schema_says(name: str) -> None:
    report, options = CASES[name]
    validator = Draft202012Validator(close(json.loads(SCHEMA_PATH.read_text("utf-8"))))
    assert [error.message for error in validator.iter_errors(json.loads(write(report, **options)))] == []


def test_the_contract() -> None:
    document = json.loads(write(seed_report()))
    assert document["schema_version"] == 1
    assert document["tool_version"] == __version__
    assert document["errors"] == []
    file = document["files"][0]
    assert {key: file[key] for key in ("path", "format", "verdict", "wires")} == {
        "path": PATH, "format": "amplifier", "verdict": "after-fix", "wires": {},
    }  # fmt: skip
    found = file["diagnostics"][0]
    assert (found["code"], found["name"], found["severity"], found["confidence"]) == (
        "AD305",
        "placeholder-shadows-result",
        "error",
        "confirmed",
    )
    assert (found["line"], found["column"], found["byte_offset"], found["ids"]) == (5, 1, 1403, [TODO])
    assert found["related"][4] == {"path": PATH, "line": 11, "message": "the real result", "role": "tool"}
    assert found["fix"] == {"safety": "safe", "summary": "row 11 takes the place of row 5; row 5 is kept in the quarantine"}
    assert file["diagnostics"][2]["fix"] is None


def test_lines_of_intervals_count_from_1() -> None:
    older, newer = json.loads(write(seed_report()))["files"][0]["diagnostics"][2]["intervals"]
    assert (older["start_line"], older["end_line"], newer["start_line"], newer["end_line"]) == (17, 48, 32, 53)


def test_no_row_contents_are_in_it() -> None:
    assert "unknown_error" not in write(seed_report())
    assert "slow work" not in write(seed_report(), excerpt=False)


def test_a_diff_is_there_only_when_asked_for() -> None:
    report = fix_report(diff="-secret")
    assert "secret" not in write(report, command="fix")
    assert json.loads(write(report, command="fix", show_diff=True))["files"][0]["fix"]["diff"] == "-secret"


def test_strict_parsers_read_odd_names() -> None:
    text = write(Report((file_report(shadowed(message="\x1b[2J\u202e\ud800"), path="/srv/\udcff/transcript.jsonl"),)))
    assert orjson.loads(text)["files"][0]["path"] == "/srv/\\udcff/transcript.jsonl"
    assert "\x1b" not in text and "\u202e" not in text


def test_a_stream_that_is_not_unicode_gets_ascii() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="latin-1")
    write_report("json", seed_report(), stream, Options())
    stream.flush()
    assert raw.getvalue().isascii()
    assert "…" in json.loads(raw.getvalue())["files"][0]["diagnostics"][0]["message"]
