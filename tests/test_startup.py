"""What a check may import: heavy packages cost several times the start of a bare interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.sessions import MISSING, SOUND, write_session

HEAVY = (
    "typer",
    "click",
    "rich",
    "jsonschema",
    "pydantic",
    "pathlib",
    "logging",
    "importlib.metadata",
    "shlex",
    "asyncio",
    "hashlib",
    "multiprocessing",
    "concurrent.futures",
    "sqlite3",
    "tarfile",
    "zipfile",
    "gzip",
    "pickle",
    "glob",
)
SCRIPT = """
import sys
before = set(sys.modules)
from doctor.cli import main
code = main(sys.argv[1:])
print(code, *sorted(set(sys.modules) - before), file=sys.stderr)
"""


def loaded(*arguments: str) -> tuple[int, set[str]]:
    """The exit code of a run in a fresh interpreter, and the modules that it imported (the interpreter's own left out)."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True)
    code, *modules = done.stderr.split()
    return int(code), set(modules)


def test_a_sound_session_is_checked_without_heavy_imports(tmp_path: Path) -> None:
    code, modules = loaded("check", str(write_session(tmp_path, SOUND)))
    assert code == 0
    assert sorted(modules.intersection(HEAVY)) == []


def test_findings_import_rich_but_no_parser(tmp_path: Path) -> None:
    code, modules = loaded("check", str(write_session(tmp_path, MISSING)))
    assert code == 1
    assert "rich" in modules and "typer" not in modules


def test_options_import_the_parser_but_not_rich(tmp_path: Path) -> None:
    code, modules = loaded("check", "--no-events", str(write_session(tmp_path, SOUND)))
    assert code == 0
    assert "typer" in modules and "rich" not in modules and "pydantic" not in modules
