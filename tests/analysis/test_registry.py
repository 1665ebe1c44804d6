"""Rules are found as they are installed, and in a bare checkout too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from doctor.analysis.registry import load_rules

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in str(finder).lower()]
sys.path = [{root!r}] + [path for path in sys.path if path]
from doctor.analysis.registry import load_rules
print(len(load_rules()))
"""


def test_a_bare_checkout_finds_its_rules() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(root=str(ROOT))], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(len(load_rules())), done.stderr


def test_every_rule_file_is_a_rule() -> None:
    files = [path.stem for path in (ROOT / "rules").rglob("ad*.py")]
    assert sorted(rule.module.rpartition(".")[2] for rule in load_rules()) == sorted(files)
