"""Sessions behind URLs, as far as fsspec knows the protocol: s3://, gs://, az://, https://, sftp://, memory:// and more."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.errors import DoctorError
from doctor.sources.naming import COMPRESSED, ENDINGS, is_archive, is_compressed
from doctor.sources.packed import MOST_BYTES, NAMES, Bundle, say_too_large, unpack_bytes
from doctor.sources.siblings import TRANSCRIPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def walk_remote(url: str) -> Iterator[str]:
    """The URLs of transcripts and archives below one, sorted; a URL that is no folder stands for itself.

    Raises DoctorError: nothing is there, there is no transcript below it, or the package for its protocol is not installed.
    """
    system, path = _connect(url)
    try:
        if system.isfile(path):
            yield url
            return
        names = sorted(system.find(path))
    except Exception as error:
        raise _explain(url, error) from error
    if not names:
        raise DoctorError("unreadable", f"can't find {url}: there is nothing under this URL", url)
    known, found = set(names), False
    for name in names:
        base = name.rpartition("/")[2]
        if base == TRANSCRIPT or is_archive(base) or (base in COMPRESSED and name[: name.rindex(".")] not in known):
            found = True
            yield str(system.unstrip_protocol(name))
    if not found:
        raise DoctorError("usage", f"no {TRANSCRIPT} under {url}; name a folder of sessions, or a transcript", url)


def read_remote(url: str) -> Bundle:
    """A transcript with what lies beside it.

    Raises DoctorError: it can't be read.
    """
    system, path = _connect(url)
    folder, _, name = path.rpartition("/")
    inner = name[: name.rindex(".")] if is_compressed(name) else name
    try:
        files = {inner: _fetch(system, path, url)}
        if inner == TRANSCRIPT:
            known = set(system.find(folder))
            for other in NAMES:
                place = next((place for ending in ("", *ENDINGS) if (place := f"{folder}/{other}{ending}") in known), None)
                if place is not None and other != TRANSCRIPT:
                    files[other] = _fetch(system, place, url)
    except DoctorError:
        raise
    except Exception as error:
        raise _explain(url, error) from error
    return Bundle(url, files, inner)


def _connect(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise DoctorError("usage", f"can't read {url}: URLs need fsspec; run: pip install 'amplifier-doctor[distributed]'", url) from error
    try:
        system, path = url_to_fs(url)
    except Exception as error:
        # An unknown protocol, or one whose package is missing: fsspec says which.
        raise _explain(url, error) from error
    return system, path


def _fetch(system: Any, path: str, url: str) -> bytes:
    if (system.size(path) or 0) > MOST_BYTES:
        raise DoctorError("unreadable", f"can't read {url}: {say_too_large()}", url)
    data = system.cat_file(path)
    return unpack_bytes(data, url) if path.endswith(ENDINGS) else bytes(data)


def _explain(url: str, error: Exception) -> DoctorError:
    if isinstance(error, FileNotFoundError):
        return DoctorError("unreadable", f"can't find {url}: there is no such file or folder", url)
    said = " ".join(str(error).split())[:200]
    return DoctorError("unreadable", f"can't read {url}: {type(error).__name__}{': ' if said else ''}{said}", url)
