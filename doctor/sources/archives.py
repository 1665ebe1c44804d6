"""Sessions inside of tar and zip archives, one after the other, never unpacked to disk.

A tar archive is read twice from front to back: first to know which files belong to each session (nobody promises that they follow one
another), then to hand each session out once its last file has come by. Links, devices and names that lead elsewhere are never followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.errors import DoctorError
from doctor.sources.packed import (
    MOST_BYTES,
    NAMES,
    ZIP,
    Bundle,
    explain_damage,
    name_transcript,
    open_any,
    open_unpacked,
    place_member,
    say_too_large,
)
from doctor.sources.siblings import TRANSCRIPT
from doctor.sources.source import explain_os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarfile import TarFile, TarInfo
    from typing import BinaryIO
    from zipfile import ZipFile, ZipInfo

MOST_HELD = 1 << 28
"""Bytes of sessions whose last file has not come by yet."""
BLOCK_OF_TAR = 512
MOST_MEMBERS = 2_000_000
MOST_PASSED = 1 << 30
MOST_TIMES = 1_000
"""A compressed archive may unpack to 1 GB, or to a thousand times its size: zeros do better than that, sessions never."""


def read_archive(path: str) -> Iterator[Bundle]:
    """Every session of an archive. One that can't be judged says why in `failure`, and the others go on.

    Raises DoctorError: the archive can't be read any further.
    """
    try:
        with open_any(path) as stream:
            is_zip = stream.read(2) == ZIP
        with explain_damage(path):
            yield from _read_zip(path) if is_zip else _read_tar(path)
    except OSError as error:
        raise explain_os_error(path, error) from error


def _read_zip(path: str) -> Iterator[Bundle]:
    from zipfile import ZipFile

    with open_any(path) as stream, ZipFile(stream) as archive:
        members: dict[str, dict[str, ZipInfo]] = {}
        for count, info in enumerate(archive.infolist()):
            _limit_members(count, path)
            try:
                place = None if info.is_dir() else place_member(info.filename)
            except ValueError:
                yield _refuse(path, info.filename, "its name leads out of the archive")
                continue
            if place is not None:
                members.setdefault(place[0], {})[place[1]] = info
        for folder in sorted(members):
            if TRANSCRIPT in members[folder]:
                yield _gather_zipped(path, folder, members[folder], archive)


def _gather_zipped(path: str, folder: str, members: dict[str, ZipInfo], archive: ZipFile) -> Bundle:
    label = name_transcript(path, folder)
    files: dict[str, bytes] = {}
    for name, info in members.items():
        if info.flag_bits & 1:
            return Bundle(label, {}, failure=f"can't read {label}: it is encrypted; unpack the archive with its password")
        if info.file_size > MOST_BYTES:
            return Bundle(label, {}, failure=f"can't read {label}: {say_too_large()}")
        try:
            with explain_damage(label):
                files[name] = archive.read(info) if name in NAMES else b""
        except DoctorError as error:
            return Bundle(label, {}, failure=error.message)
    return Bundle(label, files)


def _read_tar(path: str) -> Iterator[Bundle]:
    waiting: dict[str, int] = {}
    for count, (member, _) in enumerate(_list_opened(path)):
        _limit_members(count, path)
        place = _place(member)
        if isinstance(place, tuple):
            waiting[place[0]] = waiting.get(place[0], 0) + 1
    held: dict[str, dict[str, bytes]] = {}
    failures: dict[str, str] = {}
    for member, archive in _list_opened(path):
        place = _place(member)
        if place is None:
            continue
        if isinstance(place, str):
            yield _refuse(path, member.name, place)
            continue
        folder, name = place
        label = name_transcript(path, folder)
        if not member.isreg():
            failures[folder] = f"can't read {label}: {name} is a link in the archive; unpack it to follow it"
        elif member.size > MOST_BYTES:
            failures[folder] = f"can't read {label}: {say_too_large()}"
        else:
            opened = archive.extractfile(member)
            held.setdefault(folder, {})[name] = opened.read() if opened is not None and name in NAMES else b""
        waiting[folder] -= 1
        if not waiting[folder]:
            del waiting[folder]
            files, failure = held.pop(folder, {}), failures.pop(folder, "")
            if failure or TRANSCRIPT in files:
                yield Bundle(label, files, failure=failure)
        elif sum(len(data) for files in held.values() for data in files.values()) > MOST_HELD:
            raise DoctorError("unreadable", f"can't read {path}: the files of one session lie too far apart in it; unpack it", path)


def _list_opened(path: str) -> Iterator[tuple[TarInfo, TarFile]]:
    """One pass over a tar archive. What was passed is forgotten, or a list of all members would be kept."""
    import tarfile

    with open_any(path) as stream:
        head = stream.read(8)
        size = stream.seek(0, 2)
        stream.seek(0)
        unpacked = open_unpacked(stream, head, path)
        limited = unpacked if unpacked is stream else _Limited(unpacked, max(MOST_PASSED, size * MOST_TIMES), path)
        with tarfile.open(fileobj=limited, mode="r:" if unpacked is stream else "r|") as archive:  # type: ignore[call-overload]
            for member in archive:
                yield member, archive
                archive.members = []  # type: ignore[attr-defined]
            if unpacked is stream:
                _require_end(stream, archive.offset, path)


def _require_end(stream: BinaryIO, offset: int, path: str) -> None:
    """Behind the last member stands a block of zeros. The library takes an archive that is cut short for one that ends."""
    stream.seek(offset)
    if stream.read(BLOCK_OF_TAR) != bytes(BLOCK_OF_TAR):
        raise DoctorError("unreadable", f"can't read {path}: it is cut short or damaged after {offset:,} bytes", path)


class _Limited:
    """A stream that ends with an error where it has given more bytes than any honest archive would."""

    def __init__(self, stream: BinaryIO, most: int, path: str) -> None:
        self.stream = stream
        self.left = most
        self.path = path

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            said = f"can't read {self.path}: it unpacks to more than {MOST_TIMES:,} times its size, which no recording does"
            raise DoctorError("unreadable", said, self.path)
        return data


def _place(member: TarInfo) -> tuple[str, str] | str | None:
    """(folder, name) of a session's file, None for anything else, a text for one that must not be taken."""
    if member.isdir():
        return None
    try:
        return place_member(member.name.removeprefix("./"))
    except ValueError:
        return "its name leads out of the archive"


def _refuse(path: str, name: str, reason: str) -> Bundle:
    label = f"{path}!/{name}"
    return Bundle(label, {}, failure=f"can't read {label}: {reason}; it was passed over")


def _limit_members(count: int, path: str) -> None:
    if count >= MOST_MEMBERS:
        raise DoctorError("unreadable", f"can't read {path}: it holds more than {MOST_MEMBERS:,} members; unpack it", path)


def find_member(archive: str, name: str) -> Bundle:
    """The session whose transcript is the member `name`.

    Raises DoctorError: there is none, or it can't be read.
    """
    for bundle in read_archive(archive):
        if bundle.path == f"{archive}!/{name}" or bundle.path == f"{archive}!/{name}/{TRANSCRIPT}":
            return bundle
    raise DoctorError("unreadable", f"can't find {name} in {archive}; `amplifier-doctor check {archive}` lists what it holds", archive)


def find_only(archive: str) -> Bundle:
    """The session of an archive that holds just one.

    Raises DoctorError: there is none, or there are several.
    """
    found: list[Bundle] = []
    for bundle in read_archive(archive):
        found.append(bundle)
        if len(found) > 1:
            names = f"{found[0].path}, for one"
            raise DoctorError("usage", f"{archive} holds several sessions; name one of them: {names}", archive)
    if not found:
        raise DoctorError("usage", f"there is no {TRANSCRIPT} in {archive}", archive)
    return found[0]
