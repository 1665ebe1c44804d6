from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import doctor
from doctor.api.reading import locate_session_state
from doctor.errors import DoctorError
from doctor.findings import Severity
from tests.cli.sessions import DISPLACED, MISSING, SOUND, encode, write_session

ALONE: dict[str, str] = {}


def test_the_package_hands_out_its_functions() -> None:
    for name in doctor.__all__:
        assert getattr(doctor, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        doctor.nonsense  # noqa: B018


def test_one_path_or_many(tmp_path: Path) -> None:
    sound, missing = write_session(tmp_path, SOUND, "a"), write_session(tmp_path, MISSING, "b")
    assert [file.verdict for file in doctor.check(sound, environment=ALONE).files] == ["resumable"]
    assert [file.verdict for file in doctor.check([str(sound), missing], environment=ALONE).files] == ["resumable", "after-fix"]
    assert [file.verdict for file in doctor.check(tmp_path, environment=ALONE).files] == ["resumable", "after-fix"]


def test_a_path_given_twice_is_checked_once(tmp_path: Path) -> None:
    path = write_session(tmp_path, SOUND)
    assert len(doctor.check([path, path.parent, tmp_path], environment=ALONE).files) == 1


def test_bytes_are_a_transcript() -> None:
    report = doctor.check(encode(MISSING), environment=ALONE)
    assert report.files[0].path == "-" and report.count(Severity.ERROR) == 1


def test_what_can_not_be_read_is_a_failure_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = write_session(tmp_path, SOUND)
    report = doctor.check([tmp_path / "nowhere", path], environment=ALONE)
    assert len(report.files) == 1
    assert [(failure.path, failure.kind) for failure in report.errors] == [(str(tmp_path / "nowhere"), "unreadable")]


def test_what_the_caller_got_wrong_is_raised(tmp_path: Path) -> None:
    path = write_session(tmp_path, SOUND)
    for call in (lambda: doctor.check(path, select=["AD999"]), lambda: doctor.check([]), lambda: doctor.explain("AD999")):
        with pytest.raises(DoctorError) as error:
            call()
        assert error.value.kind == "usage"


def test_fix_is_a_dry_run_unless_told_otherwise(tmp_path: Path) -> None:
    path = write_session(tmp_path, DISPLACED)
    planned = doctor.fix(path, environment=ALONE, diff=True).files[0]
    assert planned.fix is not None and planned.fix.changed and planned.fix.written == "" and planned.fix.diff.startswith("--- ")
    assert planned.verdict == "resumable" and planned.rows == 5
    assert path.read_bytes() == encode(DISPLACED)
    done = doctor.fix(path, dry_run=False, environment=ALONE).files[0]
    assert done.fix is not None and Path(done.fix.backup).read_bytes() == encode(DISPLACED)
    assert [found.code for found in done.fix.before] == ["AD303"] and done.diagnostics == ()
    undone = doctor.undo(path, environment=ALONE)
    assert Path(undone.path) == path.resolve() and path.read_bytes() == encode(DISPLACED)


def test_explain() -> None:
    assert doctor.explain("AD301") is doctor.explain("missing-tool-result")


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"AMPLIFIER_SESSION_STATE_HOME": "/a", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/a"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/amplifier/sessions"),
        ({"HOME": "/h"}, "/h/.local/state/amplifier/sessions"),
        ({}, None),
    ],
)
def test_where_the_client_keeps_its_locks(environment: dict[str, str], place: str | None) -> None:
    assert locate_session_state(environment) == place


def test_the_functions_say_what_they_take_and_nothing_of_the_environment() -> None:
    for function, some in ((doctor.check, {"paths", "select", "events", "wires"}), (doctor.fix, {"path", "dry_run", "unsafe", "output"})):
        signature = inspect.signature(function)
        assert some <= set(signature.parameters)
        assert "PATH" not in str(signature) and "`select`" in (doctor.check.__doc__ or "") and "`dry_run`" in (doctor.fix.__doc__ or "")
    for module in pkgutil.walk_packages(doctor.__path__, "doctor."):
        if module.name.startswith(("doctor.api.", "doctor.cli.")):
            for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction):
                assert "environ" not in str(inspect.signature(function)).replace("environment", ""), f"{module.name}.{name}"
    with pytest.raises(TypeError, match="dryrun"):
        doctor.fix("x", dryrun=False)
