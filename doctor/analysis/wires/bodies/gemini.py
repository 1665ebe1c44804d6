"""A generateContent request as a History. Field names come in camel case and in snake case, and both are taken."""

from __future__ import annotations

import re

from doctor.analysis.wires.bodies.shapes import BAD_CONTENT, BAD_ROLE, NOT_AN_OBJECT, name_kind, refuse
from doctor.analysis.wires.bodies.texts import CUT, judge_text
from doctor.analysis.wires.shape import (
    ARGUMENTS_NOT_OBJECT,
    CALL,
    EMPTY,
    EMPTY_LIST,
    NO_SIGNATURE,
    OTHER,
    RESULT,
    TEXT,
    Block,
    History,
    Sent,
    Settings,
    Violation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROLES = ("user", "model", "function")
"""`function` is the old role for results; older clients still send it, and it is taken for the user's."""
ABOUT_DATA = frozenset(
    ("thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "partMetadata", "part_metadata",
     "mediaResolution", "media_resolution")
)  # fmt: skip
"""Fields of a part that are no data of their own."""
FOREIGN_FIELDS = ("type", "content", "tool_calls", "tool_call_id")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}\Z")


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a generateContent body, `as_request`. The model stands in the URL, seldom in the body."""
    problems: list[Violation] = []
    model = body.get("model")
    settings = Settings(model if isinstance(model, str) else "", host, True)
    contents = body.get("contents")
    if isinstance(contents, dict):
        contents = [contents]
    if contents is not None and not isinstance(contents, list):
        problems.append(refuse("GM-11", "", "contents", 0, BAD_CONTENT, f"contents is {name_kind(contents)}", False))
        contents = []
    messages = [_lower_content(content, index, problems) for index, content in enumerate(contents or ())]
    return History(tuple(sent for sent in messages if sent is not None), settings, tuple(problems))


def _lower_content(content: Any, index: int, problems: list[Violation]) -> Sent | None:
    if not isinstance(content, dict):
        reason = f"contents[{index}] is {name_kind(content)}, not an object"
        problems.append(refuse("GM-11", "", f"contents[{index}]", index, NOT_AN_OBJECT, reason))
        return None
    role = content.get("role") or "user"
    if not isinstance(role, str):
        problems.append(refuse("GM-11", "", f"contents[{index}].role", index, BAD_ROLE, "the role is no text"))
    elif role not in ROLES:
        problems.append(Violation("GM-07", "Please use a valid role: user, model.", index, f"contents[{index}].role", (index,)))
    for field in FOREIGN_FIELDS:
        if field in content:
            text = f"Invalid JSON payload received. Unknown name \"{field}\" at 'contents[{index}]': Cannot find field."
            problems.append(Violation("GM-10", text, index, f"contents[{index}].{field}", (index,)))
    parts = content.get("parts")
    if isinstance(parts, dict):
        parts = [parts]
    if parts is not None and not isinstance(parts, list):
        reason = f"contents[{index}].parts is {name_kind(parts)}, not an array"
        problems.append(refuse("GM-11", "", f"contents[{index}].parts", index, BAD_CONTENT, reason))
        return None
    blocks = [_lower_part(part, index, place, problems) for place, part in enumerate(parts or ())]
    return Sent("model" if role == "model" else "user", tuple(blocks), index, 0 if blocks else EMPTY | EMPTY_LIST, index)


def _lower_part(part: Any, index: int, place: int, problems: list[Violation]) -> Block:
    if isinstance(part, str):
        # What clients take from their callers, and wrap before they send it; recorders may write down either.
        return Block(TEXT, "", "", judge_text(part), index)
    if not isinstance(part, dict):
        reason = f"contents[{index}].parts[{place}] is {name_kind(part)}, not an object"
        problems.append(refuse("GM-11", "", f"contents[{index}].parts[{place}]", index, BAD_CONTENT, reason))
        return Block(OTHER, line=index)
    signature = part.get("thoughtSignature", part.get("thought_signature"))
    if (
        isinstance(signature, str)
        and not signature.endswith(CUT)
        and (_BASE64.match(signature) is None or len(signature.rstrip("=")) % 4 == 1)
    ):
        param = f"contents[{index}].parts[{place}].thought_signature"
        text = f"Invalid value at '{param}' (TYPE_BYTES), Base64 decoding failed for \"{signature}\""
        problems.append(Violation("GM-05", text, index, param, (index,)))
    call = part.get("functionCall", part.get("function_call"))
    answer = part.get("functionResponse", part.get("function_response"))
    if isinstance(call, dict):
        arguments = call.get("args")
        flags = (0 if signature else NO_SIGNATURE) | (0 if arguments is None or isinstance(arguments, dict) else ARGUMENTS_NOT_OBJECT)
        return Block(CALL, _read(call, "id"), _read(call, "name"), flags, index)
    if isinstance(answer, dict):
        if not _read(answer, "name"):
            param = f"contents[{index}].parts[{place}].function_response.name"
            text = f"* GenerateContentRequest.{param}: Name cannot be empty."
            problems.append(Violation("GM-12", text, index, param, (index,)))
        return Block(RESULT, _read(answer, "id"), _read(answer, "name"), 0, index)
    if isinstance(part.get("text"), str):
        return Block(TEXT, "", "", judge_text(part["text"]), index)
    if not any(value is not None for key, value in part.items() if key not in ABOUT_DATA):
        param = f"contents[{index}].parts[{place}]"
        text = f"* GenerateContentRequest.{param}.data: required oneof field 'data' must have one initialized field"
        problems.append(Violation("GM-06", text, index, param, (index,)))
    return Block(OTHER, line=index)


def _read(part: dict[str, Any], key: str) -> str:
    value = part.get(key)
    return value if isinstance(value, str) else ""
