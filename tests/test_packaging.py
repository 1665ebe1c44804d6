"""The wheel: what is in it, and that it works where nothing of the source tree can be seen. A step of its own: `pytest -m packaging`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging
ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("pyproject.toml", "README.md", "LICENSE", "doctor", "rules")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds from a copy: setuptools leaves build/ behind, and an old one would leak deleted files into the next wheel."""
    folder = tmp_path_factory.mktemp("build")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, folder / name)
    done = subprocess.run([sys.executable, "-m", "build", "--wheel", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return next((folder / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed `amplifier-doctor` of a fresh environment.

    Its dependencies are those of the running interpreter, lent by a path file: path files inside the lent folder are not read, so an
    editable install of the source tree stays out.
    """
    folder = tmp_path_factory.mktemp("fresh") / "env"
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    find = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = Path(subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip())
    (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return scripts / ("amplifier-doctor.exe" if os.name == "nt" else "amplifier-doctor")


def list_names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_wheel_installs_nothing_but_the_package(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in list_names(wheel)}
    assert len(tops) == 2
    assert "doctor" in tops
    assert any(re.fullmatch(r"amplifier_doctor-[^/]+\.dist-info", top) for top in tops), tops


def test_wheel_holds_every_module_rule_and_schema(wheel: Path) -> None:
    expected = {path.relative_to(ROOT).as_posix() for path in (ROOT / "doctor").rglob("*") if path.suffix in (".py", ".json", ".typed")}
    expected |= {f"doctor/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "rules").rglob("*") if path.suffix in (".py", ".json")}
    assert {name for name in expected if "__pycache__" not in name} - set(list_names(wheel)) == set()


def test_wheel_holds_no_tests_and_no_fixtures(wheel: Path) -> None:
    assert [name for name in list_names(wheel) if "test" in name or "fixture" in name] == []


def test_installed_command_checks_a_session_from_elsewhere(command: Path, tmp_path: Path) -> None:
    lines = [
        '{"role": "user", "content": "hi"}',
        '{"role": "assistant", "content": [{"type": "tool_call", "id": "a", "name": "bash", "input": {}}], '
        '"tool_calls": [{"id": "a", "tool": "bash", "arguments": {}}]}',
        '{"role": "user", "content": "still there?"}',
        '{"role": "assistant", "content": "yes"}',
    ]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text("\n".join(lines) + "\n")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([command, "check", transcript], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
    assert "AD301" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1
    where = subprocess.run(
        [command.with_name("python"), "-c", "import doctor, doctor.rules; print(doctor.__file__, doctor.rules.__file__)"],
        cwd=tmp_path, env=clean, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert str(ROOT) not in where
