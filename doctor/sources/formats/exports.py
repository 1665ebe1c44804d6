"""Files that hold messages in a form that can't be judged as they are: said in one line, with what to do, and never taken for damage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from doctor.errors import DoctorError
from doctor.jsontext import describe_mistake, is_cut_short, read_json_at
from doctor.sources.formats.messages import holds_messages, is_message_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 4
MOST_LOOKED_AT = 50
"""Keys or elements of each level in which messages are looked for."""


def refuse_wide(head: bytes, path: str) -> None:
    """Raises DoctorError for UTF-16, which PowerShell writes with `>`: every second byte is a NUL, as in a damaged file."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") and 0 in head[2:4]:
        raise DoctorError("unreadable", f"{path} is UTF-16; write it as UTF-8 (PowerShell: `| Out-File -Encoding utf8`)", path)


def refuse_several(path: str) -> None:
    raise DoctorError("unreadable", f"{path} holds several lists of messages; write each conversation into a file of its own", path)


def refuse_broken(data: bytes, path: str) -> None:
    """Raises DoctorError for one JSON text with messages in it that breaks off, or has something behind its end. Such an export is
    written anew: what is missing stands where it came from."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    if '"role"' not in text:
        return
    try:
        value, stop = read_json_at(text, len(text) - len(text.lstrip()))
    except RecursionError:
        return
    except json.JSONDecodeError as error:
        if is_cut_short(error):
            reason = f"is one JSON text that breaks off after {len(data):,} bytes"
        else:
            reason = f"is one JSON text with a mistake in it: {describe_mistake(error)}"
    except ValueError:
        reason = "is one JSON text with a number of too many digits to be read"
    else:
        if not (holds_messages(value) if isinstance(value, list) else is_message_list(value)):
            return
        reason = f"has something behind the end of its messages (line {text.count(chr(10), 0, stop) + 1})"
    raise DoctorError("unreadable", f"{path} {reason}; export it to a file again", path)


def refuse_nested(value: Any, path: str) -> None:
    """Raises DoctorError for an export whose messages stand somewhere inside: an answer of an API, a list of conversations."""
    found = list(islice(_find_messages(value, ""), 2))
    if len(found) > 1:
        places = " and ".join(found)
        raise DoctorError("unreadable", f"{path} holds several conversations ({places}, …); write each into a file of its own", path)
    if found:
        raise DoctorError("unreadable", f"{path} is an export; write the messages under {found[0]} into a file of their own", path)


def _find_messages(value: Any, place: str, depth: int = 0) -> Iterator[str]:
    if depth and isinstance(value, list) and holds_messages(value):
        yield place
    elif depth < DEEPEST and isinstance(value, dict):
        for key, inner in islice(value.items(), MOST_LOOKED_AT):
            yield from _find_messages(inner, f"{place}.{key}".lstrip("."), depth + 1)
    elif depth < DEEPEST and isinstance(value, list):
        for number, inner in enumerate(value[:MOST_LOOKED_AT]):
            yield from _find_messages(inner, f"{place}[{number}]", depth + 1)
