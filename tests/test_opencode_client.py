"""What the doctor writes for OpenCode is taken by its own import: by the client itself where it is installed, and by its schema everywhere.

`AMPLIFIER_DOCTOR_OPENCODE` names the program (`npm install opencode-ai` brings it); else `opencode` on the path is used.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from doctor import check, fix
from tests.support.opencode_schema import list_errors
from tests.test_fixtures import FIXTURES

CLIENT = os.environ.get("AMPLIFIER_DOCTOR_OPENCODE") or shutil.which("opencode")
FIXED = sorted(path for path in FIXTURES.glob("*opencode*/fixed/**/*") if path.is_file())
FIRST = [path for path in FIXED if b'"parts"' in path.read_bytes()]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The client, with a home of its own and no network to look for."""
    home = folder / "home"
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    return subprocess.run(
        [str(CLIENT), *arguments],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


def test_there_are_fixed_exports_of_both_generations() -> None:
    assert len(FIRST) >= 3 and len(FIXED) > len(FIRST)


@pytest.mark.parametrize("path", FIXED, ids=lambda path: path.parent.parent.name)
def test_a_fixed_export_has_the_shape_that_the_import_takes(path: Path) -> None:
    assert list_errors(json.loads(path.read_bytes())) == []


def test_the_schema_refuses_what_the_import_refuses() -> None:
    document = json.loads(FIRST[0].read_bytes())
    part = next(part for message in document["messages"] for part in message["parts"] if part["type"] == "tool")
    del part["state"]["time"]
    assert list_errors(document)


@pytest.mark.skipif(CLIENT is None, reason="OpenCode is not installed (AMPLIFIER_DOCTOR_OPENCODE names it)")
@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.parent.parent.name)
def test_the_client_imports_a_fixed_export_whole(path: Path, tmp_path: Path) -> None:
    export = tmp_path / "fixed.json"
    shutil.copyfile(path, export)
    document = json.loads(export.read_bytes())
    done = run(tmp_path, "import", str(export))
    assert done.returncode == 0 and f"Imported session: {document['info']['id']}" in done.stdout, done.stderr
    back = run(tmp_path, "export", document["info"]["id"])
    assert json.loads(back.stdout)["messages"] == document["messages"]


@pytest.mark.skipif(CLIENT is None, reason="OpenCode is not installed (AMPLIFIER_DOCTOR_OPENCODE names it)")
def test_a_database_that_the_client_made_is_read_and_repaired_in_place(tmp_path: Path) -> None:
    source = FIXTURES / "opencode-restart-mid-tool" / "input" / "session.json"
    session = json.loads(source.read_bytes())["info"]["id"]
    assert run(tmp_path, "import", str(source)).returncode == 0
    store = tmp_path / "home" / "data" / "opencode" / "opencode.db"
    assert [found.code for found in check(f"{store}#{session}").files[0].diagnostics] == ["AD301", "AD502"]
    report = fix(f"{store}#{session}", dry_run=False, in_place=True)
    assert not report.errors and report.files[0].fix.written
    back = json.loads(run(tmp_path, "export", session).stdout)
    state = next(part["state"] for message in back["messages"] for part in message["parts"] if part["type"] == "tool")
    assert state["status"] == "error" and state["metadata"]["amplifier-doctor"]["from"] == "placeholder"
