"""The README shows real output: each `$ amplifier-doctor …` block is run and compared. `pytest --update` writes the blocks anew."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from doctor.analysis.errors_catalogue import explain_error

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```console\n\$ amplifier-doctor ([^\n]*)\n(.*?)```", re.DOTALL)


def run(arguments: str) -> str:
    command = [sys.executable, "-m", "doctor", *shlex.split(arguments)]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_readme_shows_real_output(update: bool) -> None:
    path = ROOT / "README.md"
    text = path.read_text("utf-8")
    real = BLOCK.sub(lambda block: f"```console\n$ amplifier-doctor {block[1]}\n{run(block[1])}```", text)
    if update:
        path.write_text(real, "utf-8")
    assert len(BLOCK.findall(text)) >= 2
    assert path.read_text("utf-8") == real


def test_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for command in ("check", "fix", "undo", "explain", "rules", "timeline"):
        assert f"amplifier-doctor {command}" in text


def test_the_error_that_the_readme_opens_with_is_explained() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    opening = next(line for line in text.splitlines() if line.startswith("    400: "))
    pasted = re.search(r"explain --error - SESSION <<'EOF'\n(.*?)\n\s*EOF\n", text, re.DOTALL)
    assert pasted is not None
    for error in (opening, pasted[1]):
        found = explain_error(error)
        assert found is not None and found.rule == "AN-02"
