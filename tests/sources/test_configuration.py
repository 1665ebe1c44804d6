"""Where a configuration is looked for, and how spellings of one are told from a mere mention of the doctor."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from doctor.errors import DoctorError
from doctor.sources.configuration import find_configuration, read_configuration, read_document

TABLE = "[tool.amplifier-doctor]\nignore = ['AD4']\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    return folder


def test_the_nearest_one_counts(tmp_path: Path, deep: Path) -> None:
    write(tmp_path / "amplifier-doctor.toml", "jobs = 1")
    write(tmp_path / "a" / "pyproject.toml", TABLE)
    write(tmp_path / "a" / "b" / "pyproject.toml", "[project]\nname = 'x'\ndependencies = ['amplifier-doctor']\n[tool.other]\n")
    found = find_configuration(str(deep))
    assert found is not None
    assert (found.path, found.table, found.values) == (str(tmp_path / "a" / "pyproject.toml"), "tool.amplifier-doctor", {"ignore": ["AD4"]})


def test_a_file_of_its_own_hides_the_table_beside_it(tmp_path: Path, deep: Path) -> None:
    write(tmp_path / "a" / "pyproject.toml", TABLE)
    write(tmp_path / "a" / "amplifier-doctor.toml", "jobs = 1")
    found = find_configuration(str(deep))
    assert found is not None and found.values == {"jobs": 1} and found.table == ""
    assert found.shadowed == str(tmp_path / "a" / "pyproject.toml")


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "[tool.'amplifier-doctor']\njobs = 1",
        '[ tool . "amplifier-doctor" ]\njobs = 1',
        "[tool.amplifier-doctor.severity]\nAD308 = 'error'",
        "[tool]\namplifier-doctor = { jobs = 1 }",
        "[tool]\namplifier-doctor.jobs = 1",
        "tool.amplifier-doctor.jobs = 1",
        "\ufeff[tool.amplifier-doctor]\njobs = 1",
        "[tool.amplifier-doctor]",
    ],
)
def test_every_spelling_of_the_table_is_one(text: str, tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", text)
    found = find_configuration(str(tmp_path))
    assert found is not None and found.path == str(tmp_path / "pyproject.toml")


@pytest.mark.parametrize(
    "text", ["[project]\nname = 'amplifier-doctor'", "[tool.amplifier-doctors]\nx = 1", "# tool.amplifier-doctor", "not TOML at all ["]
)
def test_a_mention_is_none(text: str, tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", text)
    found = find_configuration(str(tmp_path))
    assert found is None or not found.path.startswith(str(tmp_path))


def test_a_folder_of_that_name_is_none(tmp_path: Path) -> None:
    (tmp_path / "amplifier-doctor.toml").mkdir()
    found = find_configuration(str(tmp_path))
    assert found is None or not found.path.startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[tool.amplifier-doctor]\nx = ", "is not valid TOML"),
        (b"[tool.amplifier-doctor]\n# \xff", "is not UTF-8 (byte 26)"),
        (b"[tool.amplifier-doctor]\nx = " + b"[" * 5000, "is nested too deep to be read"),
        (b"[tool]\namplifier-doctor = 3", "must be a table"),
    ],
)
def test_what_can_not_be_read_is_said(data: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(data)
    with pytest.raises(DoctorError) as caught:
        find_configuration(str(tmp_path))
    assert reason in caught.value.message and str(path) in caught.value.message and "\n" not in caught.value.message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_said(tmp_path: Path) -> None:
    write(tmp_path / "amplifier-doctor.toml", "").chmod(0)
    with pytest.raises(DoctorError, match="may hold a configuration"):
        find_configuration(str(tmp_path))


def test_a_named_file(tmp_path: Path) -> None:
    assert read_configuration(str(write(tmp_path / "any.toml", "jobs = 1"))).values == {"jobs": 1}
    assert read_configuration(str(write(tmp_path / "other.toml", TABLE))).table == "tool.amplifier-doctor"
    with pytest.raises(DoctorError, match="has no table"):
        read_configuration(str(write(tmp_path / "pyproject.toml", "[project]\n")))
    with pytest.raises(DoctorError, match="there is no file"):
        read_configuration(str(tmp_path / "nowhere.toml"))


def test_a_large_file_is_said_and_not_read_in_part(tmp_path: Path) -> None:
    path = write(tmp_path / "pyproject.toml", "#" * (5 << 20) + "\n" + TABLE)
    with pytest.raises(DoctorError, match="too large for a configuration"):
        find_configuration(str(tmp_path))
    with pytest.raises(DoctorError, match="too large for a configuration"):
        read_configuration(str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed() -> None:
        with open(pipe, "wb", buffering=0) as stream:
            for part in ("jobs = 1 #", "x" * 100_000, "\nexclude = []"):
                stream.write(part.encode())

    writer = Thread(target=feed)
    writer.start()
    assert read_configuration(str(pipe)).values == {"jobs": 1, "exclude": []}
    writer.join()


def test_a_document(tmp_path: Path) -> None:
    assert read_document(str(tmp_path / "nowhere")) is None
    assert read_document(str(write(tmp_path / "a.json", "[1]"))) == [1]
    for text, said in (
        ("{", "is not valid JSON: Exp"),
        ("[1,]", "is not valid JSON: Illegal"),
        ("[" * 100_000, "nested too deep"),
        ('"\ufeff', "JSON"),
    ):
        with pytest.raises(DoctorError, match=said):
            read_document(str(write(tmp_path / "b.json", text)))
    with pytest.raises(DoctorError, match="can't read"):
        read_document(str(tmp_path))


def test_a_pipe_that_lies_in_the_way_is_passed_over(tmp_path: Path, deep: Path) -> None:
    os.mkfifo(deep / "amplifier-doctor.toml")
    write(tmp_path / "a" / "pyproject.toml", TABLE)
    found = find_configuration(str(deep))
    assert found is not None and found.path == str(tmp_path / "a" / "pyproject.toml")
