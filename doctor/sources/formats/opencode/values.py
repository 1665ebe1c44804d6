"""Reads fields out of stored JSON whose types nobody vouches for, and writes the store's times as the doctor's."""

from __future__ import annotations

from datetime import UTC, datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SAFE_INTEGER = 2**53
"""Beyond that the client itself can't tell integers apart."""


def get_text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def get_object(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def get_list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def get_time(value: Any, key: str) -> int:
    """Milliseconds since 1970; 0 where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, float) and abs(found) < SAFE_INTEGER:
        found = int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < SAFE_INTEGER else 0


def write_time(moment: int) -> str:
    """`2026-11-29T12:06:44.544Z`; "" for none."""
    if not moment:
        return ""
    try:
        head = datetime.fromtimestamp(moment // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{head:%Y-%m-%dT%H:%M:%S}.{moment % 1000:03d}Z"


def write_clock(moment: int) -> str:
    """`12:06:44.544`"""
    return write_time(moment).partition("T")[2].removesuffix("Z")
