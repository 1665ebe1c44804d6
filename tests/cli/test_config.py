"""Configurations from the command line: what is in force, what wins, what a walk takes, and what came to nothing."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from doctor.analysis.registry import load_rules
from doctor.cli import main
from doctor.settings.schema import build_schema
from tests.cli.sessions import DISPLACED, MISSING, PROMPT, SOUND, call, encode, result, write_session

REUSED = (
    PROMPT,
    call("call_1"),
    result("call_1"),
    PROMPT,
    call("call_1"),
    result("call_1", "more"),
    {"role": "assistant", "content": "done"},
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with a tree of sessions: sound, one result missing, one displaced, one reused id."""
    for name, rows in (("sound", SOUND), ("missing", MISSING), ("displaced", DISPLACED), ("reused", REUSED)):
        write_session(tmp_path / "tree", rows, name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(project: Path, text: str, name: str = "amplifier-doctor.toml") -> None:
    (project / name).write_text(text, "utf-8")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    written = capsys.readouterr()
    return code, written.out, written.err


def list_files(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    _, out, err = run(capsys, *words, "--format", "json")
    assert [line for line in err.splitlines() if " out " not in line] == []
    return [file["path"] for file in json.loads(out)["files"]]


# (configuration, arguments, exit code)
CALLS = [
    ("", ["check", "tree/reused"], 1),
    ("fail-on = 'error'", ["check", "tree/reused"], 0),
    ("fail-on = 'error'", ["check", "tree/reused", "--fail-on", "warning"], 1),
    ("fail-on = 'error'", ["check", "tree/reused", "--isolated"], 1),
    ("severity = {AD308 = 'error'}\nfail-on = 'error'", ["check", "tree/reused"], 1),
    ("severity = {reused-tool-id = 'info'}", ["check", "tree/reused"], 0),
    ("severity = {AD3 = 'info', AD308 = 'warning'}", ["check", "tree/missing"], 0),
    ("severity = {AD3 = 'info', AD308 = 'warning'}", ["check", "tree/reused"], 1),
    ("select = ['AD1']", ["check", "tree/missing"], 0),
    ("select = ['AD1']\nextend-select = ['AD301']", ["check", "tree/missing"], 1),
    ("select = ['AD1']", ["check", "tree/missing", "--extend-select", "AD301"], 1),
    ("ignore = ['AD301']", ["check", "tree/missing"], 0),
    ("ignore = ['AD301']", ["check", "tree/missing", "--select", "AD301"], 1),
    ("ignore = ['AD301']", ["check", "tree", "--ignore", "AD303,AD308"], 0),
    ("ignore = ['AD301', 'AD303']", ["check", "tree", "--ignore", "AD308"], 0),
    ("per-file-ignores = {'tree/missing/**' = ['AD3']}", ["check", "tree/missing"], 0),
    ("per-file-ignores = {'missing' = ['AD301']}", ["check", "tree/missing"], 0),
    ("per-file-ignores = {'tree/other/**' = ['AD3']}", ["check", "tree/missing"], 1),
    ("rules.AD308.expected = ['call_*']", ["check", "tree/reused"], 0),
    ("rules.AD308.expected = ['id_*']", ["check", "tree/reused"], 1),
    ("exclude = ['missing', 'tree/displaced', 'reused']", ["check", "tree"], 0),
    ("exclude = ['missing']", ["check", "tree/missing/transcript.jsonl"], 1),
    ("exclude = ['missing']", ["check", "tree/missing/transcript.jsonl", "--force-exclude"], 0),
    ("exclude = ['missing']", ["check", "tree/missing"], 2),
    ("exclude = ['missing']", ["check", "tree/missing", "--force-exclude"], 0),
    ("exclude = ['missing', 'displaced', 'reused']", ["check", "tree/*"], 0),
    ("include = ['tree/sound/**']", ["check", "tree"], 0),
    ("include = ['tree/missing']", ["check", "tree"], 1),
    ("include = ['**/sound/*']\nexclude = ['sound']", ["check", "tree"], 2),
    ("for = ['gemini']", ["check", "tree/reused", "--fail-on", "error"], 0),
    ("baseline = 'nowhere.json'", ["check", "tree/missing"], 2),
    ("baseline = 'nowhere.json'", ["check", "tree/sound", "--no-baseline"], 0),
    ("ignore = ['ALL']", ["check", "tree/sound"], 2),
    ("nonsense = 1", ["check", "tree/sound"], 2),
    ("nonsense = 1", ["check", "tree/sound", "--isolated"], 0),
    ("nonsense = 1", ["fix", "--dry-run", "tree/sound"], 2),
    ("nonsense = 1", ["config", "show"], 2),
    ("nonsense = 1", ["explain", "AD301"], 0),
    ("select = ['AD1']", ["fix", "--dry-run", "tree/missing"], 0),
    ("per-file-ignores = {'missing' = ['AD301']}", ["fix", "--dry-run", "tree/missing"], 0),
    ("exclude = ['missing', 'displaced', 'reused']", ["fix", "--dry-run", "tree"], 0),
    ("", ["check", "tree/sound", "--config", "nowhere.toml"], 2),
    ("", ["check", "tree/sound", "--config", "amplifier-doctor.toml", "--isolated"], 2),
    ("", ["check", "tree/sound", "--baseline", "x", "--no-baseline"], 2),
    ("", ["config"], 2),
]


@pytest.mark.parametrize(("text", "arguments", "code"), CALLS, ids=[f"{text} | {' '.join(words)}" for text, words, _ in CALLS])
def test_calls(text: str, arguments: list[str], code: int, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, text)
    got, out, err = run(capsys, *arguments)
    assert got == code, out + err
    assert "Traceback" not in out + err
    if code == 2:
        assert err.startswith("amplifier-doctor: ") and err.count("\n") == 1


def test_a_mistake_names_file_and_key(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, "[tool.amplifier-doctor]\nfail-onn = 'error'", "pyproject.toml")
    code, out, err = run(capsys, "check", "tree/sound")
    expected = "amplifier-doctor: pyproject.toml: tool.amplifier-doctor.fail-onn: there is no such key (did you mean fail-on?)\n"
    assert (code, out, err) == (2, "", expected)


def test_the_nearest_file_is_found_from_below(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    configure(project, "[tool.amplifier-doctor]\nignore = ['AD301']\nper-file-ignores = {'tree/displaced/*' = ['AD3']}", "pyproject.toml")
    monkeypatch.chdir(project / "tree")
    assert run(capsys, "check", "missing", "displaced")[0] == 0
    monkeypatch.chdir("/")
    assert run(capsys, "check", str(project / "tree" / "missing"))[0] == 1


def test_a_folder_that_is_gone_has_none(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "gone").mkdir()
    monkeypatch.chdir(project / "gone")
    (project / "gone").rmdir()
    assert run(capsys, "check", str(project / "tree" / "sound" / "transcript.jsonl"))[0] == 0


def test_include_takes_files_by_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project / "chats"
    (folder / "old").mkdir(parents=True)
    for name in ("one.jsonl", "events.jsonl", "old/two.jsonl"):
        (folder / name).write_bytes(encode(MISSING))
    configure(project, "include = ['chats/**/*.jsonl']\nexclude = ['old']")
    assert list_files(capsys, "check", ".") == ["./chats/one.jsonl"]
    configure(project, "include = ['*.jsonl']")
    assert list_files(capsys, "check", "chats") == ["chats/one.jsonl", "chats/old/two.jsonl"]


def test_the_verdict_does_not_follow_severities(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, "severity = {AD301 = 'info'}")
    code, out, _ = run(capsys, "check", "tree/missing")
    assert code == 0 and "info[AD301]" in out
    assert "not resumable as it is · resumable after fix (1 safe fix)" in out


def test_suggested_commands_stay_under_the_same_configuration(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, "jobs = 1", "other.toml")
    _, out, _ = run(capsys, "check", "--config", "other.toml", "tree/missing")
    assert out.splitlines()[-1] == "next: amplifier-doctor fix --dry-run --config other.toml tree/missing/transcript.jsonl"
    _, out, _ = run(capsys, "check", "--isolated", "tree/missing")
    assert out.splitlines()[-1] == "next: amplifier-doctor fix --dry-run --isolated tree/missing/transcript.jsonl"


# (configuration, arguments, settings that are told to come to nothing)
IDLE = [
    ("exclude = ['nowhere']", ["."], ['exclude: "nowhere" matches no file']),
    ("exclude = ['nowhere']", ["tree"], []),
    ("exclude = ['tree/nowhere']", ["tree"], ['exclude: "tree/nowhere" matches no file']),
    ("exclude = ['tree/nowhere']", ["tree/sound"], []),
    ("exclude = ['tree/nowhere']", ["tree/sound/transcript.jsonl"], []),
    ("exclude = ['sound']", ["."], ["exclude: leaves out 1 of 4 transcripts"]),
    ("exclude = ['sound']", [".", "--quiet"], []),
    ("include = ['tree/sound/**']", ["."], ["include: leaves out 3 of 4 transcripts"]),
    ("include = ['tree/s*/**']", ["tree/*"], ["include: leaves out 3 of 4 transcripts"]),
    ("include = ['tree/*']\nexclude = ['sound']", ["."], ["include and exclude leave out 1 of 4 transcripts"]),
    ("include = ['tree/sound/**']", ["tree/missing/transcript.jsonl"], []),
    ("exclude = ['sound']", ["--force-exclude", "tree/sound/transcript.jsonl"], ["exclude: leaves out 1 of 1 transcript"]),
    ("per-file-ignores = {'tree/x/**' = ['AD3'], 'tree/sound/**' = ['AD3']}", ["tree"], ['per-file-ignores: "tree/x/**" matches no file']),
    ("include = ['tree/**', 'more/**']", ["."], ['include: "more/**" matches no file']),
    ("ignore = ['AD4']\nseverity = {AD402 = 'error'}", ["tree/sound"], ["severity.AD402: no rule that is in force"]),
    ("exclude = ['nowhere']", [".", "--quiet"], []),
]


@pytest.mark.parametrize(("text", "arguments", "idle"), IDLE)
def test_settings_that_match_nothing_are_told(
    text: str, arguments: list[str], idle: list[str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(project, text)
    code, _, err = run(capsys, "check", "--exit-zero", *arguments)
    assert (code, err.splitlines()) == (0, [f"amplifier-doctor: amplifier-doctor.toml: {line}" for line in idle])


def test_whom_a_typo_leaves_with_nothing_hears_how_much_there_was(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, "include = ['tere/**']")
    code, _, err = run(capsys, "check", "tree")
    assert code == 2 and err.splitlines()[0] == "amplifier-doctor: include in amplifier-doctor.toml leaves out all 4 transcripts under tree"
    configure(project, "include = ['tree/*']\nexclude = ['sound']")
    code, _, err = run(capsys, "check", "tree/sound")
    assert err == "amplifier-doctor: include and exclude in amplifier-doctor.toml leave out the only transcript under tree/sound\n"


def test_a_walk_through_a_link_knows_the_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = project.parent / f"{project.name}-link"
    link.symlink_to(project)
    configure(project, "exclude = ['tree/missing', 'tree/displaced', 'tree/reused']")
    assert run(capsys, "check", str(link / "tree"))[0] == 0


def test_show_says_what_is_in_force_and_where_it_comes_from(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(
        project,
        "[tool.amplifier-doctor]\nignore = ['AD4']\nseverity = {AD308 = 'error'}\nrules.AD508.harmless = ['torn']",
        "pyproject.toml",
    )
    code, out, err = run(capsys, "config", "show")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert code == 0 and err == ""
    assert out.startswith("pyproject.toml [tool.amplifier-doctor]\n")
    assert rows["ignore"] == ["pyproject.toml", "AD4"] and rows["severity"] == ["pyproject.toml", "AD308", "=", "error"]
    assert rows["fail-on"] == ["default", "warning"] and rows["rules.AD508.harmless"] == ["pyproject.toml", "torn"]
    assert rows["rules.AD308.expected"] == ["default", "none"]
    configure(project, "jobs = 3")
    out = run(capsys, "config", "show")[1]
    assert out.startswith("amplifier-doctor.toml\npyproject.toml has a configuration too, which this one hides\n")
    assert run(capsys, "config", "show", "--isolated")[1].startswith("no configuration")


def test_show_as_json_lists_every_key(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure(project, "for = ['gemini']\nselect = ['AD1', 'AD301']")
    code, out, _ = run(capsys, "config", "show", "--format", "json")
    document = json.loads(out)
    assert code == 0 and document["file"] == "amplifier-doctor.toml" and document["table"] is None
    assert document["settings"]["for"] == {"value": ["gemini"], "source": "amplifier-doctor.toml"}
    assert set(build_schema(load_rules())["properties"]) - {"rules"} <= set(document["settings"])
    assert document["rules_in_force"][-1] == "AD301"


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "config", "schema")
    assert code == 0
    jsonschema.validate({"select": ["AD3"], "rules": {"AD508": {"harmless": ["torn"]}}}, json.loads(out))


def test_programs_use_the_same_settings(project: Path) -> None:
    from doctor import check, load_settings, use_settings

    configure(project, "severity = {AD301 = 'info'}\nexclude = ['displaced', 'reused']")
    report = check("tree", environment={}, **use_settings(load_settings(project)))
    assert [[(found.code, found.severity.value) for found in file.diagnostics] for file in report.files] == [[("AD301", "info")], []]
