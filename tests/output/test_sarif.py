"""SARIF against the standard's own schema, and the promises that no schema states."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from jsonschema import Draft4Validator

from doctor.analysis.registry import find_rule, load_rules
from doctor.findings import Report
from doctor.fingerprints import VERSION, fingerprint_all
from doctor.output.privacy import hide_contents
from tests.output.reports import CASES, EVENTS, MORE_TEXTS, PATH, hostile_report, spelled_report, write
from tests.output.samples import failure, file_report, fix_report, seed_report, shadowed

SCHEMA = json.loads((Path(__file__).parent.parent / "support/schemas/sarif-schema-2.1.0.json").read_text("utf-8"))


def build(report: Report, **options: Any) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(write("sarif", report, **options))["runs"][0]
    return run


@pytest.mark.parametrize("name", CASES)
def test_output_is_what_the_standard_says(name: str) -> None:
    report, options = CASES[name]
    document = json.loads(write("sarif", report, **options))
    assert [(list(error.path), error.message) for error in Draft4Validator(SCHEMA).iter_errors(document)] == []


def test_the_schema_would_notice() -> None:
    document = json.loads(write("sarif", seed_report()))
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert not Draft4Validator(SCHEMA).is_valid(document)


def test_rules_are_those_that_results_name() -> None:
    run = build(seed_report())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["AD305", "AD501"]
    assert {(result["ruleId"], rules[result["ruleIndex"]]["id"]) for result in run["results"]} == {("AD305", "AD305"), ("AD501", "AD501")}
    real = find_rule(load_rules(), "AD305")
    assert rules[0]["name"] == "PlaceholderShadowsResult" and rules[0]["shortDescription"]["text"] == real.summary
    assert rules[0]["help"]["markdown"] == real.documentation.strip()
    assert rules[0]["defaultConfiguration"] == {"level": "error"}


def test_every_rule_can_be_described() -> None:
    found = [shadowed(code=rule.code, name=rule.name) for rule in load_rules()]
    run = build(Report((file_report(*found),)))
    assert len(run["tool"]["driver"]["rules"]) == len(load_rules())
    assert all(rule["fullDescription"]["text"] for rule in run["tool"]["driver"]["rules"])


def test_a_finding_has_its_places_and_its_fingerprint() -> None:
    run = build(seed_report(), folder="/srv/sessions")
    own, events = run["results"][0], run["results"][2]
    place = own["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": PATH.removeprefix("/srv/sessions/"), "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 5}
    assert [row["physicalLocation"]["region"]["startLine"] for row in own["relatedLocations"]] == [4, 9, 10, 11]
    assert own["relatedLocations"][3]["message"]["text"] == "the real result"
    assert own["partialFingerprints"] == {VERSION: fingerprint_all(seed_report().files[0].diagnostics)[0]}
    assert events["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == EVENTS.removeprefix("/srv/sessions/")
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///srv/sessions/"}}
    outside = build(seed_report(), folder="/home/me")["results"][0]["locations"][0]["physicalLocation"]
    assert outside["artifactLocation"] == {"uri": f"file://{PATH}"}


def test_a_session_as_a_whole_has_no_line() -> None:
    result = build(Report((file_report(shadowed(line=0)),)))["results"][0]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_fixes_are_regions_and_what_comes_there() -> None:
    replacements = [result["fixes"][0]["artifactChanges"][0]["replacements"] for result in build(spelled_report())["results"]]
    assert replacements[0] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 1, "endLine": 4, "endColumn": 1},
            "insertedContent": {"text": '{"a": "ä"}\n'},
        }
    ]
    assert replacements[1] == [{"deletedRegion": {"byteOffset": 2, "byteLength": 3}}]
    assert b64decode(replacements[2][0]["insertedContent"]["binary"]) == b"\xff\xfe\n"
    assert [len(one) for one in replacements] == [1, 1, 1, 2]
    assert build(spelled_report())["results"][3]["fixes"][0]["description"]["text"].startswith("unsafe: ")


def test_a_fix_changes_the_transcript_wherever_its_finding_lies() -> None:
    fix = spelled_report().files[0].diagnostics[0].fix
    result = build(Report((file_report(shadowed(path=EVENTS, fix=fix)),)))["results"][0]
    assert result["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"] == f"file://{PATH}"


def test_a_fix_that_is_not_spelled_is_named() -> None:
    result = build(seed_report())["results"][0]
    assert "fixes" not in result
    assert result["properties"]["fix"] == {"safety": "safe", "summary": "row 11 takes the place of row 5; row 5 is kept in the quarantine"}


def test_no_contents_without_excerpts() -> None:
    secret = shadowed(message="«secret» ran", fix=spelled_report().files[0].diagnostics[0].fix._replace(title="put «secret» back"))
    text = write("sarif", Report((hide_contents(file_report(secret)),)))
    assert "secret" not in text and "unknown_error" not in text and '"fixes"' not in text


def test_what_the_baseline_accepts_is_suppressed() -> None:
    run = build(Report((file_report(shadowed(code="AD304"), accepted=(shadowed(),)),)))
    assert [result.get("suppressions", [{}])[0].get("status") for result in run["results"]] == [None, "accepted"]


def test_failures_and_fixes_are_notifications() -> None:
    invocation = build(Report((), (failure(),)))["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == failure().message
    run = build(fix_report(), command="fix")
    assert run["invocations"][0]["executionSuccessful"] is True
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [note["level"] for note in notes] == ["note", "note"] and notes[0]["message"]["text"].startswith("applied AD305: ")
    assert run["tool"]["driver"]["rules"][notes[1]["associatedRule"]["index"]]["id"] == "AD301"


def test_hostile_texts_are_texts() -> None:
    text = write("sarif", hostile_report())
    assert "\x1b" not in text and "\u202e" not in text
    for result in json.loads(text)["runs"][0]["results"]:
        assert "](" not in result["message"]["text"], "a link, where a viewer knows them"


def test_uris_spell_any_name() -> None:
    for name in MORE_TEXTS:
        path = f"/srv/{name}"
        run = build(Report((file_report(shadowed(path=path.replace("\ud83d", "\udcff").replace("\ud800", "\udc80"))),)), folder="/srv")
        uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii() and not set(uri) & set(' <>"{}|\\^`')
        assert unquote_to_bytes(uri)
