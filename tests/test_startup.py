"""What a check may import: heavy packages cost several times the start of a bare interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.sessions import MISSING, REPLY, SOUND, call, result, write_session

HEAVY = (
    "typer",
    "click",
    "rich",
    "jsonschema",
    "pydantic",
    "pathlib",
    "typing",
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
PARSER = "import sys; before = set(sys.modules); import orjson; print(*(set(sys.modules) - before))"
"""What the fast parser imports by itself: by way of `inspect` that is `typing` too on some Pythons (3.13.18), and nothing of ours."""
ROOT = str(Path(__file__).resolve().parent.parent)
SCRIPT = """
import sys
before = set(sys.modules)
from doctor.cli import main
code = main(sys.argv[1:])
print(code, *sorted(set(sys.modules) - before), file=sys.stderr)
"""


def loaded(*arguments: str, folder: Path | None = None) -> tuple[int, set[str]]:
    """The exit code of a run in a fresh interpreter, and the modules that it imported (the interpreter's own left out)."""
    environment = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    code, *modules = done.stderr.split()
    return int(code), set(modules)


def test_a_sound_session_is_checked_without_heavy_imports(tmp_path: Path) -> None:
    code, modules = loaded("check", str(write_session(tmp_path, SOUND)))
    assert code == 0
    parser = set(subprocess.run([sys.executable, "-c", PARSER], capture_output=True, text=True, check=True).stdout.split())
    assert sorted(modules.intersection(HEAVY) - parser) == []


def test_text_that_only_looks_unusual_imports_nothing_more(tmp_path: Path) -> None:
    arguments = {"limit": 0.5, "deep": [{"x": 1.5}], "text": "è … – “x” ✅ é 🚀"}
    rows = ({"role": "user", "content": "è … – “x” ✅ é 🚀"}, call("call_1"), result("call_1"), REPLY)
    rows[1]["content"][0]["input"] = rows[1]["tool_calls"][0]["arguments"] = arguments
    plain, odd = (loaded("check", str(write_session(tmp_path, session)))[1] for session in (SOUND, rows))
    assert odd == plain
    rows[0]["content"] += "\u2028"
    assert "doctor.sources.unusual_bytes" in loaded("check", str(write_session(tmp_path, rows)))[1]


def test_findings_import_rich_but_no_parser(tmp_path: Path) -> None:
    code, modules = loaded("check", str(write_session(tmp_path, MISSING)))
    assert code == 1
    assert "rich" in modules and "typer" not in modules


def test_options_import_the_parser_but_not_rich(tmp_path: Path) -> None:
    code, modules = loaded("check", "--no-events", str(write_session(tmp_path, SOUND)))
    assert code == 0
    assert "typer" in modules and "rich" not in modules and "pydantic" not in modules


def test_a_project_without_configuration_pays_nothing_for_one(tmp_path: Path) -> None:
    """A pyproject.toml that only mentions the doctor is no configuration, and no TOML parser is imported to see that."""
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = ['amplifier-doctor']\n")
    code, modules = loaded("check", str(write_session(tmp_path, SOUND)), folder=tmp_path)
    assert code == 0
    unwanted = (
        "tomllib",
        "fnmatch",
        "doctor.sources.configuration",
        "doctor.cli.configuration",
        "doctor.settings",
        "doctor.api.configuring",
    )
    assert sorted(modules.intersection(unwanted)) == []


def test_a_sound_configuration_is_judged_without_jsonschema(tmp_path: Path) -> None:
    (tmp_path / "amplifier-doctor.toml").write_text("ignore = ['AD4']\nseverity = {AD308 = 'error'}\nrules.AD508.harmless = ['torn']\n")
    code, modules = loaded("check", str(write_session(tmp_path, SOUND)), folder=tmp_path)
    assert code == 0
    assert "tomllib" in modules and sorted(modules.intersection(HEAVY) - {"typing"}) == []
