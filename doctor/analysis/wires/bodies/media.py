"""Images in a Messages request: their size in bytes and in pixels, and whether they are what they say they are."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence

from doctor.analysis.wires.shape import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 5 * 1024 * 1024
MOST_PIXELS = 8_000
MOST_PIXELS_OF_MANY = 2_000
MANY = 20
"""Above this number of images the smaller limit holds for each: a long session dies at the 21st screenshot."""
HEAD = 64 * 1024
"""Base64 characters that are decoded to find a JPEG's size; its headers may hold a preview."""
_SIGNS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def check_images(messages: Sequence[Any], problems: list[Violation]) -> None:
    """Rules AN-36, AN-37 and AN-38 for all base64 images of a request."""
    images = list(_find_images(messages))
    limit = MOST_PIXELS_OF_MANY if len(images) > MANY else MOST_PIXELS
    for index, path, source in images:
        data = source.get("data")
        if source.get("type") != "base64" or not isinstance(data, str):
            continue
        param = f"{path}.image.source.base64.data"
        size = len(data) * 3 // 4 - data[-2:].count("=")
        if size > MOST_BYTES:
            text = f"{path}.image.source.base64: image exceeds 5 MB maximum: {size} bytes > {MOST_BYTES} bytes"
            problems.append(Violation("AN-37", text, index, param, (index,)))
            continue
        head = _decode(data[:HEAD])
        real = find_type(head)
        declared = source.get("media_type")
        if real and isinstance(declared, str) and declared != real:
            text = (
                f"{path}.image.source.base64: The image was specified using the {declared} media type, "
                f"but the image appears to be a {real} image"
            )
            problems.append(Violation("AN-38", text, index, param, (index,)))
        width, height = find_dimensions(head)
        if max(width, height) > limit:
            request = " for many-image requests" if limit == MOST_PIXELS_OF_MANY else ""
            text = f"{param}: At least one of the image dimensions exceed max allowed size{request}: {limit} pixels"
            problems.append(Violation("AN-36", text, index, param, (index,)))


def _find_images(messages: Sequence[Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(message index, path, source) of all images, those inside tool results too."""
    for index, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        for place, block in enumerate(content if isinstance(content, list) else ()):
            path = f"messages.{index}.content.{place}"
            if not isinstance(block, dict):
                continue
            yield from _read_source(index, path, block)
            inner = block.get("content")
            if block.get("type") == "tool_result" and isinstance(inner, list):
                for number, part in enumerate(inner):
                    if isinstance(part, dict):
                        yield from _read_source(index, f"{path}.tool_result.content.{number}", part)


def _read_source(index: int, path: str, block: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    if block.get("type") == "image" and isinstance(block.get("source"), dict):
        yield index, path, block["source"]


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except ValueError:
        return b""


def find_type(head: bytes) -> str:
    """The media type that the first bytes show; "" when they show none of the four that the API takes."""
    for sign, name in _SIGNS:
        if head.startswith(sign):
            return name
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else ""


def find_dimensions(head: bytes) -> tuple[int, int]:
    """Width and height in pixels; zeros where the head does not tell."""
    if head.startswith(b"\x89PNG") and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head.startswith(b"GIF8") and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    if head.startswith(b"\xff\xd8"):
        return _find_jpeg_dimensions(head)
    return 0, 0


def _find_jpeg_dimensions(head: bytes) -> tuple[int, int]:
    """From the first frame header; segments before it are skipped by their lengths."""
    place = 2
    while place + 9 < len(head) and head[place] == 0xFF:
        marker = head[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[place + 5 : place + 9])
            return width, height
        place += 2 + struct.unpack(">H", head[place + 2 : place + 4])[0]
    return 0, 0
