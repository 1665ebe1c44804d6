"""Archives and compressed transcripts: read as the unpacked files would be, and never more than that, whatever is in them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from doctor.api.checking import check
from doctor.api.fixing import fix
from doctor.api.undoing import undo
from doctor.errors import DoctorError
from doctor.findings import Report
from doctor.sources import archives, packed
from tests.cli.sessions import DISPLACED, MISSING, SOUND, encode, write_session

SEED = Path(__file__).parents[2] / "fixtures" / "amplifier-seed-000" / "input"
LATE = 1_900_000_000.0
ALONE: dict[str, str] = {}


def look(path: object, **how: object) -> Report:
    return check(path, now=LATE, environment=ALONE, **how)  # type: ignore[arg-type]


def pack_tar(mode: str) -> Callable[[Path, Path], None]:
    def pack(folder: Path, target: Path) -> None:
        with tarfile.open(target, mode) as archive:  # type: ignore[call-overload]
            archive.add(folder, "recordings")

    return pack


def pack_zip(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, Path("recordings") / path.relative_to(folder))


def find_zstd() -> Callable[[bytes], bytes]:
    """Python's own from 3.14 on, else the package's; skips the test where there is neither."""
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        return pytest.importorskip("zstandard").ZstdCompressor().compress  # type: ignore[no-any-return]
    return zstd.compress  # type: ignore[no-any-return]


def pack_zstd(folder: Path, target: Path) -> None:
    compress = find_zstd()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(folder, "recordings")
    # Two frames, as parallel compressors write them.
    data = buffer.getvalue()
    target.write_bytes(compress(data[:5_000]) + compress(data[5_000:]))


PACKERS: dict[str, Callable[[Path, Path], None]] = {
    "r.tar": pack_tar("w"),
    "r.tar.gz": pack_tar("w:gz"),
    "r.tgz": pack_tar("w:gz"),
    "r.tar.bz2": pack_tar("w:bz2"),
    "r.tar.xz": pack_tar("w:xz"),
    "r.zip": pack_zip,
    "r.tar.zst": pack_zstd,
}


def strip(report: Report, prefix: str) -> str:
    """A report without the place where it was found, and in the order of paths: archives keep their own."""
    files = sorted(report.files, key=lambda file: file.path)
    return "\n".join(map(repr, files)).replace(prefix, "")


@pytest.mark.parametrize("name", PACKERS)
def test_an_archive_says_what_its_folder_says(tmp_path: Path, name: str) -> None:
    PACKERS[name](SEED, tmp_path / name)
    found = look(tmp_path / name)
    assert found.errors == () and len(found.files) == 2
    assert any(found.code == "AD501" for file in found.files for found in file.diagnostics)
    assert strip(found, f"{tmp_path / name}!/recordings/") == strip(look(SEED), f"{SEED}/")
    assert [file.path for file in look(tmp_path).files] == [file.path for file in found.files]
    assert look(tmp_path / name, jobs=2) == found


@pytest.mark.parametrize("name", ["r.tar.gz", "r.zip"])
def test_one_session_of_an_archive_can_be_named(tmp_path: Path, name: str) -> None:
    PACKERS[name](SEED, tmp_path / name)
    for file in look(tmp_path / name).files:
        assert look(file.path).files == (file,)
        assert look(os.path.dirname(file.path)).files == (file,)
    assert "can't find nothing in" in look(f"{tmp_path / name}!/nothing").errors[0].message


def test_an_exclamation_mark_in_a_folder_is_no_archive(tmp_path: Path) -> None:
    path = write_session(tmp_path / "wow!", MISSING, "a")
    assert look(path).files[0].verdict == "after-fix"
    assert look(tmp_path / "wow!" / "a").files[0].verdict == "after-fix"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_files_of_a_folder(tmp_path: Path, ending: str) -> None:
    compress = find_zstd() if ending == ".zst" else gzip.compress
    plain = max(SEED.iterdir(), key=lambda folder: (folder / "transcript.jsonl").stat().st_size)
    folder = tmp_path / plain.name
    folder.mkdir()
    for path in plain.iterdir():
        if path.is_file():
            (folder / (path.name + ending)).write_bytes(compress(path.read_bytes()))
    found = look(tmp_path)
    assert found.errors == () and found.files == look(folder / f"transcript.jsonl{ending}").files
    assert strip(found, f"{tmp_path}/").replace(f"transcript.jsonl{ending}", "transcript.jsonl") == strip(look(plain), f"{SEED}/")
    (folder / "transcript.jsonl").write_bytes((plain / "transcript.jsonl").read_bytes())
    assert [file.path for file in look(tmp_path).files] == [str(folder / "transcript.jsonl")]


def test_compressed_bytes_under_any_name(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(gzip.compress(encode(MISSING)))
    assert look(tmp_path / "x.jsonl").files[0].verdict == "after-fix"
    assert look(gzip.compress(encode(MISSING))).files[0].path == "-"
    (tmp_path / "x.gz").write_bytes(encode(MISSING))
    assert look(tmp_path / "x.gz").files[0].verdict == "after-fix"


def test_files_of_one_session_may_lie_apart(tmp_path: Path) -> None:
    sessions = sorted(path for path in SEED.iterdir() if path.is_dir())
    with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
        for name in ("transcript.jsonl", "events.jsonl", "metadata.json"):
            for session in sessions:
                archive.add(session / name, f"recordings/{session.name}/{name}")
    assert {file.event_lines for file in look(tmp_path / "r.tar.gz").files} == {file.event_lines for file in look(SEED).files}


def add(archive: tarfile.TarFile, name: str, data: bytes = b"", **how: object) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for key, value in how.items():
        setattr(member, key, value)
    archive.addfile(member, io.BytesIO(data))


def test_what_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    write_session(tmp_path, MISSING, "outside")
    with tarfile.open(tmp_path / "r.tar", "w") as archive:
        add(archive, "../outside/transcript.jsonl", encode(SOUND))
        add(archive, "/etc/transcript.jsonl", encode(SOUND))
        add(archive, "a/../../b/transcript.jsonl", encode(SOUND))
        add(archive, "link/transcript.jsonl", type=tarfile.SYMTYPE, linkname=str(tmp_path / "outside" / "transcript.jsonl"))
        add(archive, "pipe/transcript.jsonl", type=tarfile.FIFOTYPE)
        add(archive, "good/transcript.jsonl", encode(SOUND))
        add(archive, "good/metadata.json", type=tarfile.LNKTYPE, linkname="/etc/passwd")
        add(archive, "fine/transcript.jsonl", encode(SOUND))
    found = look(tmp_path / "r.tar")
    assert [file.path for file in found.files] == [f"{tmp_path / 'r.tar'}!/fine/transcript.jsonl"]
    assert len(found.errors) == 6 and all("\n" not in failure.message for failure in found.errors)
    assert sum("leads out of the archive" in failure.message for failure in found.errors) == 3
    assert sum("is a link" in failure.message for failure in found.errors) == 3


def test_a_zip_may_be_hostile_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("../transcript.jsonl", encode(SOUND))
        archive.writestr("good/transcript.jsonl", encode(SOUND))
        archive.writestr("locked/transcript.jsonl", encode(SOUND))
    data = bytearray((tmp_path / "r.zip").read_bytes())
    for sign, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.rindex(sign) + flags] |= 1
    (tmp_path / "r.zip").write_bytes(data)
    found = look(tmp_path / "r.zip")
    assert [file.verdict for file in found.files] == ["resumable"]
    assert ["leads out" in found.errors[0].message, "it is encrypted" in found.errors[1].message] == [True, True]


@pytest.mark.parametrize("name", ["r.tar", "r.tar.gz", "r.tar.bz2", "r.tar.xz", "r.zip", "r.tar.zst"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_a_truncated_archive_is_one_line(tmp_path: Path, name: str, share: float) -> None:
    PACKERS[name](SEED, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: int(len(data) * share)])
    found = look(tmp_path / name)
    assert len(found.errors) == 1 and str(tmp_path / name) in found.errors[0].message and "\n" not in found.errors[0].message


@pytest.mark.parametrize("data", [b"", b"PK", b"\x1f\x8b", os.urandom(2_000), b"\x1f\x8b" + os.urandom(2_000)])
@pytest.mark.parametrize("name", ["x.tar", "x.tar.gz", "x.zip", "x.jsonl.gz", "x.tar.zst"])
def test_rubbish_is_one_line(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    found = look(tmp_path / name)
    assert len(found.errors) + len(found.files) == 1
    assert all(failure.kind != "internal" for failure in found.errors)


def test_bombs_end_at_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (packed, archives):
        monkeypatch.setattr(module, "MOST_BYTES", 100_000)
    monkeypatch.setattr(archives, "MOST_PASSED", 1_000_000)
    monkeypatch.setattr(archives, "MOST_TIMES", 100)
    zeros = bytes(5_000_000)
    (tmp_path / "transcript.jsonl.gz").write_bytes(gzip.compress(zeros))
    with tarfile.open(tmp_path / "large.tar.gz", "w:gz") as archive:
        add(archive, "a/transcript.jsonl", encode(SOUND))
        add(archive, "b/transcript.jsonl", zeros[:200_000])
    with tarfile.open(tmp_path / "passed.tar.gz", "w:gz") as archive:
        add(archive, "zeros", zeros)
        add(archive, "a/transcript.jsonl", encode(SOUND))
    with zipfile.ZipFile(tmp_path / "large.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("a/transcript.jsonl", zeros)
    messages = [failure.message for failure in look(tmp_path).errors]
    assert len(messages) == 4 and sum("it unpacks to more than 0 MB" in message for message in messages) == 3
    assert sum("times its size" in message for message in messages) == 1
    monkeypatch.setattr(archives, "MOST_MEMBERS", 1)
    assert "more than 1 members" in look(tmp_path / "large.tar.gz").errors[0].message


def test_no_archive_may_hold_too_much_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_HELD", 1_000)
    with tarfile.open(tmp_path / "r.tar", "w") as archive:
        for name in ("transcript.jsonl", "metadata.json"):
            for number in range(9):
                add(archive, f"{number}/{name}", encode(SOUND) if name == "transcript.jsonl" else b"{}")
    assert "lie too far apart" in look(tmp_path / "r.tar").errors[0].message


def test_an_archive_without_sessions(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "r.tar", "w") as archive:
        add(archive, "a/metadata.json", b"{}")
    assert "there is no transcript.jsonl in" in look(tmp_path / "r.tar").errors[0].message
    assert "the archives hold no session" in look(tmp_path).errors[0].message
    write_session(tmp_path, SOUND, "a")
    assert look(tmp_path).errors == ()


def test_zstandard_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("zstandard", "compression", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "transcript.jsonl.zst").write_bytes(packed.ZSTD + b"anything")
    (failure,) = look(tmp_path).errors
    assert failure.message.endswith("it is compressed with Zstandard; run: pip install 'amplifier-doctor[zstd]'")


@pytest.mark.parametrize("name", ["r.tar.gz", "r.zip", "t.jsonl.gz"])
def test_what_is_packed_is_fixed_elsewhere_only(tmp_path: Path, name: str) -> None:
    if name in PACKERS:
        write_session(tmp_path / "s", DISPLACED, "one")
        PACKERS[name](tmp_path / "s", tmp_path / name)
    else:
        (tmp_path / name).write_bytes(gzip.compress(encode(DISPLACED)))
    before = (tmp_path / name).read_bytes()
    (failure,) = fix(tmp_path / name, dry_run=False, environment=ALONE).errors
    assert failure.message.endswith("is packed and stays as it is; say where to write with --output FILE")
    assert fix(tmp_path / name, environment=ALONE).files[0].verdict == "resumable"
    done = fix(tmp_path / name, dry_run=False, output=tmp_path / "out.jsonl", environment=ALONE)
    assert done.errors == () and look(tmp_path / "out.jsonl").files[0].verdict == "resumable"
    assert (tmp_path / name).read_bytes() == before
    with pytest.raises(DoctorError, match="nothing to undo"):
        undo(tmp_path / name, environment=ALONE)


@pytest.mark.parametrize("name", ["r.tar.gz", "r.zip"])
def test_the_backup_in_an_archive_is_used_too(tmp_path: Path, name: str) -> None:
    path = write_session(tmp_path / "s", SOUND, "one")
    rows = encode(SOUND)
    path.write_bytes(rows[:-20])
    (path.parent / "transcript.jsonl.backup").write_bytes(rows)
    PACKERS[name](tmp_path / "s", tmp_path / name)
    done = fix(tmp_path / name, dry_run=False, output=tmp_path / "out.jsonl", environment=ALONE)
    assert done.errors == () and (tmp_path / "out.jsonl").read_bytes() == rows


def test_an_archive_of_several_is_not_fixed_at_once(tmp_path: Path) -> None:
    PACKERS["r.zip"](SEED, tmp_path / "r.zip")
    (failure,) = fix(tmp_path / "r.zip", environment=ALONE).errors
    assert "holds several sessions; name one of them: " in failure.message
