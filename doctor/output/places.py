"""Where a finding is, as CI systems name places: paths relative to the folder that was checked from, and URIs."""

from __future__ import annotations

import os

from doctor.output.text import encode_name
from doctor.records import Record

ROOT = "%SRCROOT%"
"""The usual name in SARIF of the folder that relative URIs start from."""


class Place(Record):
    """A URI reference. `base` is ROOT for a relative one, "" for an absolute one."""

    uri: str
    base: str = ""


def relate_path(path: str, folder: str) -> str:
    """A path relative to `folder` where it lies below it, with slashes; any other stays as it is."""
    inside = _find_inside(path, folder)
    return (path if inside is None else inside).replace(os.sep, "/")


def locate(path: str, folder: str) -> Place:
    """The URI of a path: relative where it lies below `folder`. Bytes that are not UTF-8 are spelled by their values."""
    from urllib.parse import quote

    inside = _find_inside(path, folder)
    if inside is not None:
        return Place(quote(encode_name(inside.replace(os.sep, "/"))), ROOT)
    return Place(make_file_uri(os.path.join(folder, path)))


def make_file_uri(path: str) -> str:
    """`file:///…` of an absolute path."""
    from urllib.parse import quote

    slashed = os.path.normpath(path).replace(os.sep, "/")
    return "file://" + ("" if slashed.startswith("/") else "/") + quote(encode_name(slashed), safe="/:" if os.name == "nt" else "/")


def _find_inside(path: str, folder: str) -> str | None:
    """The path from `folder` on, None where it lies elsewhere. Without a folder only a relative path is inside."""
    if path == "-":
        return path
    if not os.path.isabs(path):
        plain = os.path.normpath(path)
    elif folder:
        prefix = folder.rstrip(os.sep) + os.sep
        if not os.path.normpath(path).startswith(prefix):
            return None
        plain = os.path.normpath(path)[len(prefix) :]
    else:
        return None
    return None if plain == os.pardir or plain.startswith(os.pardir + os.sep) else plain
