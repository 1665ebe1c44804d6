"""Compressed bytes, unpacked in memory up to a limit: gzip by the standard library, Zstandard where its package is installed.

Nothing is ever unpacked to disk. What is larger than the limit is told to be unpacked by hand: a few bytes may claim to be many.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping

from doctor.errors import DoctorError
from doctor.records import Record
from doctor.sources.metadata import BACKUP, METADATA
from doctor.sources.naming import ENDINGS, INSIDE
from doctor.sources.session import REWOUND
from doctor.sources.siblings import EVENTS, TRANSCRIPT
from doctor.sources.source import explain_os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

MOST_BYTES = 1 << 28
"""256 MB: what one file may unpack to. Transcripts are a thousandth of it; an event log that is larger is better read from disk."""
GZIP, ZSTD, BZIP2, XZ, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00", b"PK"
BLOCK = 1 << 20
EVENT_NAMES = tuple(name.replace(os.sep, "/") for name in EVENTS)
BESIDE = (f"{TRANSCRIPT}.backup", f"{TRANSCRIPT}.append-pending", METADATA, BACKUP)
NAMES = (*reversed(EVENT_NAMES), TRANSCRIPT, *BESIDE)
"""The files of a session that a check reads, as they are named inside of its folder; the longer of two ends first."""


class Bundle(Record):
    """A session that does not lie on disk as files. `path` names its transcript in reports; `files` holds its files by name (see NAMES).

    `transcript` is the name of the transcript among them. `failure`: why it can't be judged, "" when it can.
    """

    path: str
    files: Mapping[str, bytes]
    transcript: str = TRANSCRIPT
    failure: str = ""


def open_unpacked(stream: BinaryIO, head: bytes, path: str) -> BinaryIO:
    """A stream of the bytes that a compressed one stands for, by its first bytes; the stream itself where it is not compressed.

    Raises DoctorError: the package for it is not installed.
    """
    if head.startswith(GZIP):
        import gzip

        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]
    if head.startswith(ZSTD):
        return _open_zstd(stream, path)
    if head.startswith(BZIP2):
        import bz2

        return bz2.BZ2File(stream)  # type: ignore[return-value]
    if head.startswith(XZ):
        import lzma

        return lzma.LZMAFile(stream)  # type: ignore[return-value]
    return stream


def _open_zstd(stream: BinaryIO, path: str) -> BinaryIO:
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        pass
    else:
        return zstd.ZstdFile(stream)  # type: ignore[no-any-return]
    try:
        import zstandard
    except ImportError as error:
        message = f"can't read {path}: it is compressed with Zstandard; run: pip install 'amplifier-doctor[zstd]'"
        raise DoctorError("unreadable", message, path) from error
    return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)  # type: ignore[return-value]


def open_any(path: str) -> BinaryIO:
    """A file on disk, or behind a URL."""
    if "://" not in path:
        return open(path, "rb")
    import fsspec

    return fsspec.open(path, "rb").open()  # type: ignore[no-any-return]


def unpack_file(path: str) -> bytes:
    """All bytes that a compressed file stands for.

    Raises DoctorError: it can't be read, is damaged, or unpacks to more than MOST_BYTES.
    """
    try:
        with open_any(path) as stream:
            head = stream.read(8)
            stream.seek(0)
            with explain_damage(path):
                return read_limited(open_unpacked(stream, head, path), path)
    except OSError as error:
        raise explain_os_error(path, error) from error


def read_limited(stream: BinaryIO, path: str) -> bytes:
    """Raises DoctorError: there are more bytes than MOST_BYTES."""
    blocks, size = [], 0
    while block := stream.read(BLOCK):
        blocks.append(block)
        size += len(block)
        if size > MOST_BYTES:
            raise DoctorError("unreadable", f"can't read {path}: {say_too_large()}", path)
    return b"".join(blocks)


def say_too_large() -> str:
    return f"it unpacks to more than {MOST_BYTES // 1_000_000} MB; unpack it, and check the file or the folder"


class explain_damage:
    """Turns what the libraries raise for damaged or foreign bytes into one clear line."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, (DoctorError, MemoryError)) or not isinstance(error, Exception):
            return
        if isinstance(error, OSError) and error.errno is not None:
            return
        said = " ".join(str(error).split())[:120] or type(error).__name__
        raise DoctorError("unreadable", f"can't read {self.path}: it is cut short or damaged ({said})", self.path) from error


def read_compressed(path: str) -> Bundle:
    """A compressed transcript with what lies beside it, each file as it is or compressed. `path` ends in one of ENDINGS.

    Raises DoctorError: the transcript can't be unpacked.
    """
    folder, name = os.path.split(path)
    inner = name[: name.rindex(".")]
    files = {inner: unpack_file(path)}
    # What belongs to another transcript of the folder is not this one's.
    beside = [other.replace(TRANSCRIPT, inner) for other in NAMES if other != TRANSCRIPT]
    for other in beside if inner == TRANSCRIPT else [other for other in beside if inner in other]:
        for ending in ("", *ENDINGS):
            place = os.path.join(folder, *other.split("/")) + ending
            if os.path.isfile(place):
                files[other] = unpack_file(place)
                break
    return Bundle(path, files, inner)


def unpack_bytes(data: bytes, path: str) -> bytes:
    """The same for bytes that came through a pipe."""
    from io import BytesIO

    with explain_damage(path):
        return read_limited(open_unpacked(BytesIO(data), data[:8], path), path)


def place_member(name: str) -> tuple[str, str] | None:
    """(folder of the session, name inside of it) of an archive's member; None for what is no file of a session.

    Raises ValueError: the name leads out of the archive.
    """
    own = next((own for own in NAMES if name == own or name.endswith("/" + own)), "") or name.rpartition("/")[2]
    if own not in NAMES and not own.startswith(TRANSCRIPT + REWOUND):
        return None
    folder = posixpath.normpath(name[: len(name) - len(own)] or ".")
    if folder.startswith(("/", "..")) or "\0" in folder:
        raise ValueError(name)
    return ("" if folder == "." else folder), own


def name_transcript(archive: str, folder: str) -> str:
    """How the transcript of a session's folder in an archive is named."""
    return f"{archive}{INSIDE}{folder}/{TRANSCRIPT}" if folder else f"{archive}{INSIDE}{TRANSCRIPT}"
