"""`baseline`, and what becomes of accepted findings in every format."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from doctor.cli import main
from doctor.output.reporters import FORMATS
from tests.cli.sessions import DISPLACED, MISSING, PROMPT, SOUND, write_session

SCHEMA = json.loads((Path(__file__).parents[2] / "doctor" / "output" / "report.schema.json").read_text("utf-8"))
NAME = "amplifier-doctor-baseline.json"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in (("sound", SOUND), ("missing", MISSING), ("displaced", DISPLACED)):
        write_session(tmp_path / "tree", rows, name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    written = capsys.readouterr()
    return code, written.out, written.err


def list_entries(path: Path) -> list[tuple[str, str, int]]:
    return [(entry["path"], entry["code"], entry["count"]) for entry in json.loads(path.read_text())["findings"]]


# What is checked against a baseline of the whole tree, and the exit code: the same in every format.
STATES = [
    ("accepted only", ["tree"], 0),
    ("one accepted", ["tree/missing"], 0),
    ("clean", ["tree/sound"], 0),
    ("a new one in another file", ["tree", "late"], 1),
    ("a new one of a known kind", ["tree/missing", "grown"], 1),
    ("without the baseline", ["tree", "--no-baseline"], 1),
    ("a failure", ["tree", "nowhere"], 2),
    ("another threshold", ["tree", "--fail-on", "info"], 0),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("state", "arguments", "code"), STATES, ids=[state for state, _, _ in STATES])
def test_exit_codes(state: str, arguments: list[str], code: int, format: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", "tree"]) == 0
    (tree / "amplifier-doctor.toml").write_text(f"baseline = '{NAME}'")
    write_session(tree, DISPLACED, "late")
    write_session(tree, (*MISSING, *MISSING), "grown")
    got, out, err = run(capsys, "check", *arguments, "--format", format)
    assert got == code, out + err


def test_what_is_accepted_is_counted_apart(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "baseline", "tree")
    assert (code, out, err) == (0, f"{NAME}: 2 findings in 2 files accepted\n", "")
    code, out, _ = run(capsys, "check", "tree", "--baseline", NAME)
    assert (code, out) == (0, "3 sessions: 3 clean, 0 with findings · 2 findings accepted by the baseline\n")
    out = run(capsys, "check", "tree/missing", "--baseline", NAME)[1]
    assert "nothing new · 1 finding accepted by the baseline · 4 rows · not resumable as it is · resumable after fix (1 safe fix)" in out
    code, out, err = run(capsys, "check", "tree", "--baseline", NAME, "--format", "concise")
    assert (code, out, err) == (0, "", "amplifier-doctor: 2 findings accepted by the baseline\n")
    document = json.loads(run(capsys, "check", "tree", "--baseline", NAME, "--format", "json")[1])
    jsonschema.validate(document, SCHEMA)
    assert document["summary"]["accepted"] == 2 and document["summary"]["errors"] == 0
    assert sorted(found["code"] for file in document["files"] for found in file["accepted"]) == ["AD301", "AD303"]
    assert [file["diagnostics"] for file in document["files"]] == [[], [], []]
    sarif = json.loads(run(capsys, "check", "tree", "--baseline", NAME, "--format", "sarif")[1])
    assert [len(found["suppressions"]) for found in sarif["runs"][0]["results"]] == [1, 1]


def test_findings_stay_accepted_when_rows_move(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    write_session(tree / "tree", (PROMPT, {"role": "assistant", "content": "what else?"}, *MISSING), "missing")
    assert run(capsys, "check", "tree", "--baseline", NAME)[0] == 0


def test_a_file_that_is_there_is_compared_and_left_alone(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    before = (tree / NAME).read_bytes()
    assert run(capsys, "baseline", "tree") == (0, f"{NAME}: up to date, 2 findings in 2 files accepted\n", "")
    write_session(tree / "tree", SOUND, "missing")
    write_session(tree / "tree", DISPLACED, "late")
    code, out, err = run(capsys, "baseline", "tree")
    assert (code, err) == (1, "") and (tree / NAME).read_bytes() == before
    new, gone, summary = out.splitlines()
    assert new.startswith("new   tree/late/transcript.jsonl: AD303 ") and gone.startswith("gone  tree/missing/transcript.jsonl: AD301 ")
    assert summary == f"{NAME}: 2 findings in 2 files accepted; 1 new, 1 gone; --update takes this over, --prune only what is gone"


def test_prune_takes_out_and_update_takes_in(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    write_session(tree / "tree", SOUND, "missing")
    write_session(tree / "tree", DISPLACED, "late")
    assert run(capsys, "baseline", "tree", "--prune")[0] == 0
    assert list_entries(tree / NAME) == [("tree/displaced/transcript.jsonl", "AD303", 1)]
    assert run(capsys, "check", "tree", "--baseline", NAME)[0] == 1
    assert run(capsys, "baseline", "tree", "--update")[0] == 0
    assert [path for path, _, _ in list_entries(tree / NAME)] == ["tree/displaced/transcript.jsonl", "tree/late/transcript.jsonl"]
    assert run(capsys, "check", "tree", "--baseline", NAME)[0] == 0


def test_what_was_not_looked_at_stays(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    assert run(capsys, "baseline", "tree/displaced", "--update")[0] == 0
    assert run(capsys, "baseline", "tree", "--select", "AD1", "--update")[0] == 0
    assert len(list_entries(tree / NAME)) == 2
    (tree / "tree" / "missing" / "transcript.jsonl").unlink()
    assert run(capsys, "baseline", "tree/displaced", "--update")[0] == 0
    assert [path for path, _, _ in list_entries(tree / NAME)] == ["tree/displaced/transcript.jsonl"]


def test_what_is_gone_is_told_by_check(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    write_session(tree / "tree", SOUND, "missing")
    advice = f"take note of it with: amplifier-doctor baseline --prune --baseline {NAME} PATH"
    expected = f"amplifier-doctor: {NAME}: 1 accepted finding is gone; {advice}\n"
    assert run(capsys, "check", "tree", "--baseline", NAME)[2] == expected
    assert run(capsys, "check", "tree/displaced", "--baseline", NAME)[2] == ""
    assert run(capsys, "check", "tree", "--baseline", NAME, "--select", "AD303")[2] == ""


def test_what_a_stricter_gate_accepted_is_not_gone(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_session(tree / "tree", (*SOUND, PROMPT), "info")
    assert run(capsys, "baseline", "tree", "--fail-on", "info")[1] == f"{NAME}: 3 findings in 3 files accepted\n"
    before = list_entries(tree / NAME)
    code, out, err = run(capsys, "check", "tree", "--baseline", NAME)
    assert (code, err) == (0, "") and "1 note" in out
    assert run(capsys, "baseline", "tree")[:2] == (0, f"{NAME}: up to date, 3 findings in 3 files accepted\n")
    for change in ("--prune", "--update"):
        run(capsys, "baseline", "tree", change)
        assert list_entries(tree / NAME) == before
    assert main(["check", "tree", "--baseline", NAME, "--fail-on", "info"]) == 0


def test_a_rule_that_is_no_more_is_gone(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    path = tree / NAME
    path.write_text(path.read_text().replace('"AD301"', '"AD999"'))
    assert run(capsys, "check", "tree", "--baseline", NAME)[2] == ""
    run(capsys, "baseline", "tree", "--update")
    assert [code for _, code, _ in list_entries(path)] == ["AD303", "AD301"]


def test_the_configured_file_and_paths_relative_to_it(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "ci").mkdir()
    (tree / "amplifier-doctor.toml").write_text("baseline = 'ci/accepted.json'")
    monkeypatch.chdir(tree / "tree")
    assert run(capsys, "baseline", ".")[:2] == (0, "../ci/accepted.json: 2 findings in 2 files accepted\n")
    assert [path for path, _, _ in list_entries(tree / "ci" / "accepted.json")] == [
        "../tree/displaced/transcript.jsonl",
        "../tree/missing/transcript.jsonl",
    ]
    assert run(capsys, "check", str(tree / "tree"))[0] == 0


def test_fix_repairs_what_is_accepted(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "baseline", "tree")
    code, _, err = run(capsys, "fix", "tree", "--baseline", NAME, "--quiet")
    assert (code, err) == (0, "")
    assert run(capsys, "check", "tree")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["baseline", "-"], "a baseline is about files"),
        (["baseline", "nowhere"], "can't find nowhere"),
        (["baseline", "tree", "--update", "--prune"], "exclude each other"),
        (["baseline", "tree", "-o", "tree/sound/transcript.jsonl", "--update"], "is not valid JSON"),
        (["baseline", "tree", "-o", "other.json", "--update"], "is no baseline: it has no list of findings"),
        (["baseline", "tree", "-o", "no/such/folder.json"], "there is no such folder"),
        (
            ["check", "tree", "--baseline", "nowhere.json"],
            "there is no baseline nowhere.json; write one with: amplifier-doctor baseline PATH",
        ),
        (["check", "tree", "--baseline", "other.json"], "is no baseline"),
    ],
)
def test_what_can_not_be_done_changes_nothing(arguments: list[str], reason: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "other.json").write_text("{}")
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and reason in err.splitlines()[0] and "Traceback" not in err
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
