"""What of a transcript is lost by a fix: `find_losses(before, after, quarantine)`; shares no code with the package.

A record is a line that is JSON, or one of several on a line (glued, or behind a piece of a torn one). Every record of the input must stand
in the output byte for byte, or in the quarantine; and in the quarantine only if it is a placeholder, a second result for a call whose
result is kept, or one of several identical copies. Bytes that are no record (the piece of a torn one) must be in one of both.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

MARK = "amplifier-doctor"
BOM = b"\xef\xbb\xbf"
FILLER = b" \t\r\n\0"


class Loss(NamedTuple):
    """`line` is 0-based in the input (-1: a line of the output); `why` says what is wrong with it."""

    line: int
    why: str
    data: bytes


class Piece(NamedTuple):
    """A stretch of one line: a record with its row, or something unreadable (row None)."""

    line: int
    data: bytes
    row: Any


def find_losses(before: bytes, after: bytes, quarantine: bytes) -> list[Loss]:
    left = Counter(piece.data for piece in read_pieces(after))
    kept_results = {find_result_id(piece.row) for piece in read_pieces(after) if piece.row is not None and not is_placeholder(piece.row)}
    present = set(left)
    losses = []
    for piece in read_pieces(before):
        if left[piece.data] > 0:
            left[piece.data] -= 1
        elif piece.data not in quarantine:
            losses.append(Loss(piece.line, "neither in the output nor in the quarantine", piece.data))
        elif piece.row is not None and piece.data not in present:
            result = find_result_id(piece.row)
            if not is_placeholder(piece.row) and (result is None or result not in kept_results):
                losses.append(Loss(piece.line, "a record that nothing stands for is in the quarantine only", piece.data))
    return losses


def find_moves(before: bytes, after: bytes) -> list[Loss]:
    """Rows other than results that stand in another order than before."""
    old = [piece.data for piece in read_pieces(before) if piece.row is not None and find_result_id(piece.row) is None]
    new = [piece.data for piece in read_pieces(after) if piece.row is not None and find_result_id(piece.row) is None]
    shared = set(old)
    waiting = iter(old)
    # What is left has to be the old order with rows taken out; of two copies either may have gone.
    return [Loss(-1, "a row that is no result has moved", data) for data in new if data in shared and data not in waiting][:1]


def find_inventions(before: bytes, after: bytes) -> list[Loss]:
    """Rows of the output that the input does not have and that are not marked as added."""
    known = {piece.data for piece in read_pieces(before)}
    losses = []
    for piece in read_pieces(after):
        if piece.data in known:
            continue
        metadata = piece.row.get("metadata") if isinstance(piece.row, dict) else None
        if not isinstance(metadata, dict) or MARK not in metadata:
            losses.append(Loss(-1, "added without a mark", piece.data))
    return losses


def read_pieces(data: bytes) -> list[Piece]:
    pieces = []
    for line, raw in enumerate(data.split(b"\n")):
        # A byte order mark and NULs hold nothing, in whatever order they stand.
        body = raw.removesuffix(b"\r").strip(FILLER).removeprefix(BOM).strip(FILLER)
        if not body:
            continue
        row = parse(body)
        if row is not None:
            pieces.append(Piece(line, body, row))
        else:
            pieces += split_line(line, body)
    return pieces


def split_line(line: int, body: bytes) -> list[Piece]:
    """Records that begin the line or reach its end, and what stands between them."""
    text = body.decode("utf-8", "surrogateescape")
    front, stop = read_chain(text, 0)
    back: list[tuple[int, int, Any]] = []
    start = text.find("{", stop + 1)
    while start >= 0:
        chain, end = read_chain(text, start)
        if chain and not text[end:].strip():
            back = chain
            break
        start = text.find("{", start + 1)
    pieces = []
    place = 0
    for begin, end, row in [*front, *back]:
        if text[place:begin].strip():
            pieces.append(Piece(line, text[place:begin].strip().encode("utf-8", "surrogateescape"), None))
        pieces.append(Piece(line, text[begin:end].encode("utf-8", "surrogateescape"), row))
        place = end
    if text[place:].strip():
        pieces.append(Piece(line, text[place:].strip().encode("utf-8", "surrogateescape"), None))
    return pieces


def read_chain(text: str, place: int) -> tuple[list[tuple[int, int, Any]], int]:
    """Records that follow one another from `place` on, and where they end."""
    chain: list[tuple[int, int, Any]] = []
    decoder = json.JSONDecoder()
    while place < len(text):
        try:
            row, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        # A torn record's own arguments may hold objects with a role; a message has it first, or has content beside it.
        if not isinstance(row, dict) or "role" not in row or ("content" not in row and next(iter(row)) != "role"):
            break
        chain.append((place, end, row))
        place = end
    return chain, place


def parse(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def find_result_id(row: Any) -> str | None:
    """The id that a tool row answers, as text; None for every other row."""
    if not isinstance(row, dict) or row.get("role") != "tool":
        return None
    return json.dumps(row.get("tool_call_id"))


def is_placeholder(row: Any) -> bool:
    if not isinstance(row, dict) or row.get("role") != "tool":
        return False
    metadata = row.get("metadata")
    mark = metadata.get(MARK) if isinstance(metadata, dict) else None
    if isinstance(mark, dict):
        return mark.get("from") == "placeholder"
    content = row.get("content")
    value = parse(content.encode("utf-8", "surrogateescape")) if isinstance(content, str) and content.startswith("{") else None
    return isinstance(value, dict) and value.get("error") == "unknown_error" and set(value) == {"error", "message"}
