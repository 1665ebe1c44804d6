"""The README's gate: its commands are run as they stand there, and what its recipes name is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from doctor.analysis.registry import load_rules
from doctor.settings.judging import judge_settings
from tests.cli.sessions import MISSING, SOUND, write_session

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
GATE = README[README.index("## A gate in CI") : README.index("## Options and exit codes")]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", GATE, re.DOTALL)
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None or os.name == "nt", reason="the recipes are for a POSIX shell")


def find_block(language: str, sign: str) -> str:
    return next(text for kind, text in BLOCKS if kind == language and sign in text)


def run_shell(script: str, folder: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    """In bash, with a command `amplifier-doctor` that runs this tree."""
    tools = temporary / "tools"
    tools.mkdir(exist_ok=True)
    command = tools / "amplifier-doctor"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m doctor "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    return subprocess.run([str(BASH), "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@needs_bash
def test_the_way_to_a_gate_ends_as_each_line_says(tmp_path: Path) -> None:
    lines = find_block("sh", "mktemp").splitlines()
    expected = [(line, int(code[1])) for line in lines if (code := re.search(r"# (\d): ", line))]
    assert [code for _, code in expected] == [1, 1, 0, 0, 1]
    script = "\n".join(f"{line}\necho CODE $?" if "# " in line else line for line in lines)
    done = run_shell(script, ROOT, tmp_path)
    assert [int(code) for code in re.findall(r"^CODE (\d+)$", done.stdout, re.MULTILINE)] == [code for _, code in expected], done.stderr
    assert done.stderr == ""
    assert "AD101" in done.stdout and "accepted by the baseline" in done.stdout


@needs_bash
@pytest.mark.parametrize(("rows", "code"), [(SOUND, 0), (MISSING, 1), (None, 2)])
def test_the_recipe_for_a_shell(rows: object, code: int, tmp_path: Path) -> None:
    if rows is not None:
        write_session(tmp_path / "recordings", rows)
    done = run_shell(find_block("sh", "case"), tmp_path, tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("sound", "have findings", "could not be judged")[code] in done.stdout


@needs_bash
def test_the_recipe_for_gitlab(tmp_path: Path) -> None:
    write_session(tmp_path / "recordings", MISSING)
    recipe = find_block("yaml", "artifacts:")
    commands = re.findall(r"^    - (amplifier-doctor .*)$", recipe, re.MULTILINE)
    report = re.search(r"junit: (\S+)$", recipe, re.MULTILINE)
    assert len(commands) == 1 and report is not None
    assert run_shell(commands[0], tmp_path, tmp_path).returncode == 1
    assert "<testsuite" in (tmp_path / report[1]).read_text("utf-8")


def test_the_recipe_for_github_names_what_the_action_has() -> None:
    action = (ROOT / "action.yml").read_text("utf-8")
    recipe = find_block("yaml", "runs-on")
    step = recipe[recipe.index("uses: OWNER/") : recipe.index("- uses: github/")]
    inputs = re.findall(r"^          ([\w-]+):", step, re.MULTILINE)
    assert inputs == ["paths", "fail-on"]
    declared = action[action.index("inputs:") : action.index("outputs:")]
    named = {*inputs, *re.findall(r"`([a-z-]+)`", GATE[GATE.index("The other inputs") : GATE.index("are described in")])}
    assert {*re.findall(r"^  ([\w-]+):$", declared, re.MULTILINE)} == named | {"excerpt"}
    outputs = action[action.index("outputs:") : action.index("runs:")]
    assert {*re.findall(r"steps\.doctor\.outputs\.([\w-]+)", recipe)} <= {*re.findall(r"^  ([\w-]+):$", outputs, re.MULTILINE)}


def test_the_recipe_for_pre_commit_names_a_hook() -> None:
    hooks = re.findall(r"^- id: (\S+)$", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"), re.MULTILINE)
    assert re.findall(r"- id: (\S+)$", find_block("yaml", "repos:"), re.MULTILINE)[0] in hooks
    assert all(f"`{hook}`" in GATE for hook in hooks)


def test_the_configuration_is_sound_and_every_key_is_explained() -> None:
    values = tomllib.loads(find_block("toml", "ignore"))["tool"]["amplifier-doctor"]
    settings = judge_settings(values, load_rules(), file="pyproject.toml", table="tool.amplifier-doctor", folder=str(ROOT))
    assert settings.idle == ()
    for key in (
        "select",
        "extend-select",
        "ignore",
        "severity",
        "per-file-ignores",
        "include",
        "exclude",
        "for",
        "fail-on",
        "baseline",
        "jobs",
        "rules.CODE",
    ):
        assert f"`{key}`" in GATE, key
