"""The hooks of `.pre-commit-hooks.yaml`, run by the real pre-commit in a repository made for it. It installs the doctor from this tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.sessions import DISPLACED, MISSING, SOUND, encode, write_session

ROOT = Path(__file__).resolve().parent.parent
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")


def test_both_hooks_take_transcripts_only() -> None:
    assert re.findall(r"^- id: (\S+)$", HOOKS, re.MULTILINE) == ["amplifier-doctor", "amplifier-doctor-fix"]
    patterns = re.findall(r"files: '(.*)'", HOOKS)
    assert len(patterns) == 2
    for pattern in patterns:
        assert all(re.search(pattern, name) for name in ("transcript.jsonl", "a/b/transcript.jsonl"))
        assert not any(re.search(pattern, name) for name in ("events.jsonl", "a/my-transcript.jsonl", "transcript.jsonl.bak-doctor-1"))


def test_the_entries_are_command_lines_of_the_doctor(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from doctor.cli import main

    path = write_session(tmp_path, SOUND)
    for entry in re.findall(r"entry: amplifier-doctor (.*)", HOOKS):
        assert main([*entry.split(), str(path)]) == 0, capsys.readouterr().err


@pytest.mark.packaging
@pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is missing (pip install '.[hooks]')")
def test_the_hooks_in_a_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache"), "GIT_CONFIG_GLOBAL": os.devnull, "NO_COLOR": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=repository, env=environment, capture_output=True, text=True, check=False)

    def try_hook(hook: str) -> subprocess.CompletedProcess[str]:
        assert run("git", "add", ".").returncode == 0
        return run(sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), hook, "--all-files", "--color", "never", "--verbose")

    repository.mkdir()
    assert run("git", "init", "--quiet").returncode == 0
    (repository / ".gitignore").write_text("*.*-doctor-*\n")
    write_session(repository, SOUND, "sound")
    done = try_hook("amplifier-doctor")
    if re.search(r"Connection|No matching distribution", done.stdout + done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr

    displaced = write_session(repository, DISPLACED, "displaced")
    write_session(repository, MISSING, "kept-broken")
    (repository / "amplifier-doctor.toml").write_text("exclude = ['kept-broken']\n")
    done = try_hook("amplifier-doctor")
    assert done.returncode == 1 and "AD303" in done.stdout and "AD301" not in done.stdout, done.stdout + done.stderr

    done = try_hook("amplifier-doctor-fix")
    assert done.returncode == 1 and "files were modified by this hook" in done.stdout, done.stdout + done.stderr
    assert displaced.read_bytes() != encode(DISPLACED)
    assert try_hook("amplifier-doctor-fix").returncode == 0
    assert try_hook("amplifier-doctor").returncode == 0
