"""Reads a project's configuration. What it says is judged in doctor.settings; where it is looked for, in doctor.sources.discovery."""

from __future__ import annotations

import os

from doctor.errors import DoctorError
from doctor.records import Record
from doctor.sources.discovery import ADVICE, NAME, OWN, SHARED, find_candidate, mentions, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


TABLE = "tool.amplifier-doctor"


class Configuration(Record):
    """A configuration as it was read. `table`: where it stands in the file, "" for all of it; `shadowed`: one that it hides."""

    path: str
    table: str
    values: dict[str, Any]
    shadowed: str = ""


def find_configuration(folder: str) -> Configuration | None:
    """The nearest configuration: an amplifier-doctor.toml, or a pyproject.toml with the table, in `folder` (absolute) or above it.

    Raises DoctorError: a file that may hold one can't be read, or is not TOML.
    """
    while (candidate := find_candidate(folder)) is not None:
        path, data = candidate
        values = _parse(path, data)
        if os.path.basename(path) == OWN:
            shared = os.path.join(os.path.dirname(path), SHARED)
            other = read_bytes(shared)
            return Configuration(path, "", values, shared if other is not None and mentions(other) else "")
        table = _pick_table(values)
        if table is not None:
            return Configuration(path, TABLE, _require_table(path, table))
        # It was only mentioned there.
        place = os.path.dirname(path)
        if (folder := os.path.dirname(place)) == place:
            break
    return None


def read_configuration(path: str) -> Configuration:
    """The configuration in a file that the user names.

    Raises DoctorError: it is not there, can't be read, is not TOML, or is a pyproject.toml without the table.
    """
    data = read_bytes(path)
    if data is None:
        raise DoctorError("usage", f"--config: there is no file {path}")
    document = _parse(path, data)
    values = _pick_table(document)
    if values is not None:
        return Configuration(path, TABLE, _require_table(path, values))
    if os.path.basename(path) == SHARED:
        raise DoctorError("usage", f"--config: {path} has no table [{TABLE}]")
    return Configuration(path, "", document)


def read_document(path: str) -> Any:
    """The JSON document in a file, None when there is no file.

    Raises DoctorError: it can't be read, or is no JSON.
    """
    import json

    from doctor.jsontext import describe_mistake, read_json

    try:
        with open(path, "rb") as stream:
            return read_json(stream.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DoctorError("usage", f"can't read {path}: {error.strerror or error}", path) from error
    except RecursionError as error:
        raise DoctorError("usage", f"{path} is nested too deep to be read", path) from error
    except ValueError as error:
        said = describe_mistake(error) if isinstance(error, json.JSONDecodeError) else error
        raise DoctorError("usage", f"{path} is not valid JSON: {said}", path) from error


def _parse(path: str, data: bytes) -> dict[str, Any]:
    import tomllib

    try:
        # Editors on Windows like to begin a file with a byte-order mark.
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DoctorError("usage", f"{path} is not UTF-8 (byte {error.start}); {ADVICE}") from error
    except RecursionError as error:
        raise DoctorError("usage", f"{path} is nested too deep to be read; {ADVICE}") from error
    except tomllib.TOMLDecodeError as error:
        raise DoctorError("usage", f"{path} is not valid TOML: {error}; {ADVICE}") from error


def _pick_table(document: dict[str, Any]) -> Any:
    tool = document.get("tool")
    return tool.get(NAME.decode()) if isinstance(tool, dict) else None


def _require_table(path: str, values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise DoctorError("usage", f"{path}: {TABLE} must be a table of settings, [{TABLE}]")
    return values
