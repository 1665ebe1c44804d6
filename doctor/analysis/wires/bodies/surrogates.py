"""Lone UTF-16 surrogates, left behind where a text was cut through an emoji."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def find_lone_surrogate(body: Any) -> int | None:
    """Where (0-based) a strict JSON parser stops in the request, written in ASCII without needless spaces; None when there is none."""
    if not _has_surrogate(body):
        return None
    text = json.dumps(body, separators=(",", ":"))
    for match in re.finditer(r"\\u([dD][89a-fA-F][0-9a-fA-F]{2})", text):
        if not _is_paired(text, match):
            return match.end()
    return None


def _is_paired(text: str, match: re.Match[str]) -> bool:
    """json.dumps writes lower-case escapes, and a backslash that stands for itself as two."""
    start, code = match.start(), match[1]
    backslashes = len(text[:start]) - len(text[:start].rstrip("\\"))
    if backslashes % 2:
        return True
    if code[1] in "89ab":
        return re.match(r"\\ud[c-f]", text[match.end() : match.end() + 4]) is not None
    return re.search(r"\\ud[89ab][0-9a-f]{2}$", text[max(0, start - 6) : start]) is not None


def _has_surrogate(body: Any) -> bool:
    # No recursion: a body may be nested deeper than Python's own calls may be.
    waiting = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if not value.isascii() and _is_lone(value):
                return True
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def _is_lone(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
