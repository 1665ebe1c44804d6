"""The GitHub action: its script with the variables that a runner sets, and inputs that want to be run as code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.sessions import MISSING, SOUND, write_session

ROOT = Path(__file__).resolve().parent.parent
ACTION = (ROOT / "action.yml").read_text("utf-8")
BASH = shutil.which("bash")

pytestmark = pytest.mark.skipif(BASH is None or os.name == "nt", reason="the script is run with bash, as on a Linux runner")


class Runner:
    """A workspace, the files that GitHub hands to a step, and the doctor as if an earlier step had installed it."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.temp = folder / "workspace", folder / "temp"
        self.summary, self.output = folder / "summary.md", folder / "output"
        for place in (self.workspace, self.temp):
            place.mkdir()
        self.summary.write_text("before\n")
        self.output.write_text("before=1\n")

    def install(self) -> None:
        command = self.temp / "amplifier-doctor" / "bin" / "amplifier-doctor"
        command.parent.mkdir(parents=True)
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m doctor "$@"\n')
        command.chmod(0o755)

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.temp), "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace), "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output),
            "RUNNER_TEMP": str(self.temp), **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
        }  # fmt: skip
        script = [str(BASH), str(ROOT / ".ci" / "action.sh")]
        return subprocess.run(script, cwd=self.workspace, env=environment, capture_output=True, text=True, check=False)

    def read_outputs(self) -> dict[str, str]:
        """As the runner reads them: `name<<end`, lines, `end`."""
        text = self.output.read_text()
        assert text.startswith("before=1\n")
        found = {match[1]: match[3] for match in re.finditer(r"^([\w-]+)<<(\S+)\n(.*?)\n\2$", text, re.DOTALL | re.MULTILINE)}
        assert set(found) == {"exit-code", "sarif-file", "json-file"}
        return found


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.install()
    write_session(made.workspace / "recordings", SOUND, "sound")
    write_session(made.workspace / "recordings", MISSING, "missing")
    return made


def test_findings_fail_the_step_and_are_annotated(runner: Runner) -> None:
    done = runner.run(paths="recordings")
    assert done.returncode == 1, done.stderr
    assert "::error file=recordings/missing/transcript.jsonl,line=2,title=AD301 missing-tool-result::" in done.stdout
    outputs = runner.read_outputs()
    assert outputs["exit-code"] == "1"
    assert json.loads(Path(outputs["sarif-file"]).read_text())["runs"][0]["results"][0]["ruleId"] == "AD301"
    assert json.loads(Path(outputs["json-file"]).read_text())["summary"]["errors"] == 1
    summary = runner.summary.read_text()
    assert summary.startswith("before\n") and "AD301" in summary


def test_a_clean_tree_passes(runner: Runner) -> None:
    done = runner.run(paths="\n  recordings/sound\r\n\n".replace("  ", ""))
    assert done.returncode == 0, done.stdout + done.stderr
    assert runner.read_outputs()["exit-code"] == "0"


def test_the_default_is_the_workspace(runner: Runner) -> None:
    assert runner.run().returncode == 1


def test_the_other_inputs_become_options(runner: Runner) -> None:
    (runner.workspace / "gate.toml").write_text("ignore = ['AD301']\nfor = ['gemini']")
    assert runner.run(paths="recordings", config="gate.toml").returncode == 0
    assert runner.run(paths="recordings", args="--ignore\nAD301").returncode == 0
    assert runner.run(paths="recordings", args="--exit-zero").returncode == 0
    assert runner.run(paths="recordings", baseline="nowhere.json").returncode == 2
    assert runner.run(paths="recordings", **{"fail_on": "never"}).returncode == 2
    runner.output.write_text("before=1\n")
    assert runner.run(paths="recordings", **{"for": "anthropic,gemini", "sarif_file": "out.sarif", "json_file": "out.json"}).returncode == 1
    assert runner.read_outputs() == {"exit-code": "1", "sarif-file": "out.sarif", "json-file": "out.json"}
    assert json.loads((runner.workspace / "out.json").read_text())["files"][0]["targets"] == ["anthropic", "gemini"]


def test_what_rows_say_stays_out_of_the_log_unless_asked_for(runner: Runner) -> None:
    runner.run(paths="recordings", json_file="hidden.json")
    assert "list the files" not in (runner.workspace / "hidden.json").read_text() + runner.summary.read_text()
    assert "--no-excerpt" not in runner.run(paths="recordings", excerpt="true").stderr


def test_a_job_that_can_not_be_done_is_2_and_leaves_no_report(runner: Runner) -> None:
    done = runner.run(paths="nowhere", args="--config\nnowhere.toml")
    assert done.returncode == 2 and "nowhere.toml" in done.stderr
    assert runner.read_outputs() == {"exit-code": "2", "sarif-file": "", "json-file": ""}
    assert runner.run(paths="\n").returncode == 2


HOSTILE = [
    "$(touch pwned)", "`touch pwned`", "; touch pwned", "' ; touch pwned; '", "x\ntouch pwned", "--output-file=pwned", "a[$(touch pwned)]",
    "pwned\nexit-code=0\nexit-code<<e\n0\ne",
]  # fmt: skip


@pytest.mark.parametrize("name", ["paths", "config", "baseline", "for", "fail_on", "args", "excerpt", "sarif_file", "json_file", "python"])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_input_is_run_or_changes_an_output(name: str, text: str, runner: Runner) -> None:
    if (name, text) == ("args", "--output-file=pwned"):
        pytest.skip("that is what args are for")
    inputs = {"paths": "recordings", name: text}
    done = runner.run(**inputs)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    written = [path.name for path in runner.workspace.parent.rglob("pwned")]
    assert written == []
    for line in done.stdout.splitlines():
        assert re.match(r"::(error|warning|notice)[ :]", line), line
    if runner.output.read_text() != "before=1\n":
        assert runner.read_outputs()["exit-code"] == str(done.returncode)


def test_a_file_name_gives_the_runner_no_command(runner: Runner) -> None:
    folder = runner.workspace / "::set-env name=X::" / "a\n::error::b"
    write_session(folder, MISSING, "%0A::error::c")
    done = runner.run(paths=".")
    assert done.returncode == 1
    assert all(re.match(r"::(error|notice|warning) (file=|title=)", line) for line in done.stdout.splitlines()), done.stdout


def test_without_python_the_step_says_what_to_do(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "mktemp", "od", "tr", "cat"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    environment = {"PATH": str(tools), "RUNNER_TEMP": str(runner.temp), "INPUT_PATHS": "."}
    script = [str(BASH), str(ROOT / ".ci" / "action.sh")]
    done = subprocess.run(script, cwd=runner.workspace, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=amplifier-doctor::Python 3.11 or newer is needed; put actions/setup-python")


def test_every_input_goes_through_the_environment() -> None:
    declared = re.findall(r"^  ([\w-]+):$", ACTION[ACTION.index("inputs:") : ACTION.index("outputs:")], re.MULTILINE)
    handed_on = dict(re.findall(r"^        INPUT_(\w+): \$\{\{ inputs\.([\w-]+) \}\}$", ACTION, re.MULTILINE))
    assert {name.upper().replace("-", "_"): name for name in declared} == handed_on
    script = (ROOT / ".ci" / "action.sh").read_text("utf-8")
    assert set(re.findall(r"INPUT_(\w+)", script)) == set(handed_on)
    assert "${{" not in script and "eval" not in script
    assert [line for line in ACTION.splitlines() if "run:" in line] == ['      run: bash "$GITHUB_ACTION_PATH/.ci/action.sh"']


@pytest.mark.packaging
def test_the_script_installs_the_doctor_that_it_belongs_to(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    write_session(runner.workspace, MISSING, "missing")
    done = runner.run(paths="missing", python=sys.executable)
    if done.returncode == 2 and re.search(r"Connection|Could not find a version|No matching distribution", done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 1, done.stdout + done.stderr
    assert runner.run(paths="missing", python="/nowhere").returncode == 1, "a second step needs no second installation"
