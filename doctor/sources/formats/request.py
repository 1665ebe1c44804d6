"""Request bodies as a client sends them to a provider: one JSON file, or one body a line. Which API is meant is read from the body."""

from __future__ import annotations

from doctor.errors import DoctorError
from doctor.jsontext import read_json
from doctor.model import Source, Transcript
from doctor.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "request"
_CONVERSE_BLOCKS = frozenset(
    ("text", "toolUse", "toolResult", "image", "document", "video", "reasoningContent", "cachePoint", "guardContent")
)
_ANTHROPIC_BLOCKS = frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"))
_BARE = ({"messages"}, {"contents"})
_CHAT_ROLES = ("system", "developer", "tool", "function")


class RequestBody(Record):
    """One body, the wire that it is written for, and where it stands: the 0-based line, or 0 for a file that is one body.

    `host` is "" unless an envelope around the body names it; `model` is the envelope's or the body's own.
    """

    line: int
    wire: str
    body: dict[str, Any]
    host: str = ""
    model: str = ""


def is_request(row: Any) -> bool:
    """Whether a parsed value is a request body, or an envelope with one under `request` or `body`."""
    return unwrap_request(row) is not None


def unwrap_request(row: Any) -> dict[str, Any] | None:
    """The body itself; None where there is none. Recordings and logs keep it under `request` or `body`."""
    for candidate in (row, row.get("request"), row.get("body")) if isinstance(row, dict) else ():
        if isinstance(candidate, dict) and "role" not in candidate and detect_wire(candidate):
            return candidate
    return None


def detect_wire(body: dict[str, Any]) -> str:
    """The API that a body is written for, "" when it is none. A bare exchange of texts is the same on several; then the more exact
    sign (system prompt, parameters) decides, else Chat Completions."""
    if isinstance(body.get("contents"), (list, dict)):
        return "gemini"
    if isinstance(body.get("messages"), list) or ("messages" in body and isinstance(body.get("model"), str)):
        return _tell_messages(body)
    if isinstance(body.get("input"), (list, str)) and ("model" in body or isinstance(body["input"], list)):
        return "openai-responses"
    return ""


def _tell_messages(body: dict[str, Any]) -> str:
    if any(key in body for key in ("inferenceConfig", "toolConfig", "additionalModelRequestFields")):
        return "converse"
    if any(key in body for key in ("anthropic_version", "stop_sequences")):
        return "anthropic"
    for message in body["messages"] if isinstance(body["messages"], list) else ():
        if not isinstance(message, dict):
            continue
        if (message.get("role") in _CHAT_ROLES and not isinstance(message.get("content"), list)) or "tool_calls" in message:
            return "openai-chat"
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            wire = _tell_block(block)
            if wire:
                return wire
    model = body.get("model")
    is_claude = isinstance(model, str) and "claude" in model and "/" not in model
    return "anthropic" if is_claude or isinstance(body.get("system"), (str, list)) else "openai-chat"


def _tell_block(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    kind = block.get("type")
    if kind is None:
        return "converse" if block.keys() & _CONVERSE_BLOCKS else ""
    if kind in _ANTHROPIC_BLOCKS or (kind == "image" and "source" in block):
        return "anthropic"
    return "openai-chat" if kind in ("image_url", "input_audio", "refusal", "file") else ""


def read_transcript(source: Source, path: str) -> Transcript:
    """A Transcript of this format without messages: bodies are no stored conversation, `read_requests` gives them. Lines are counted."""
    transcript = Transcript(path, NAME, source)
    offset = 0
    with source.open() as stream:
        for raw in stream:
            offset += len(raw)
            transcript.starts.append(offset)
    return transcript


def read_requests(source: Source, path: str) -> list[RequestBody]:
    """All bodies of a file. Lines that hold something else are passed over.

    Lone surrogates are let through: the provider's own refusal of them is part of the verdict.

    Raises DoctorError: there is no body in it.
    """
    data = source.read(0, source.size)
    found: list[RequestBody] = []
    whole = parse_body(data)
    rows = [(0, whole)] if whole is not None else [(line, parse_body(raw)) for line, raw in enumerate(data.split(b"\n"))]
    if isinstance(whole, list):
        rows = list(enumerate(whole))
    if not any(unwrap_request(row) for _, row in rows):
        raise DoctorError("unreadable", f"{path} holds no request body (a JSON object with messages, contents or input)", path)
    for line, row in rows:
        # What holds nothing but a spoilt conversation is a body where it stands beside others.
        body = row if isinstance(row, dict) and row.keys() in _BARE else unwrap_request(row)
        if body is not None:
            wire = detect_wire(body) or ("gemini" if "contents" in body else "openai-chat")
            found.append(RequestBody(line, wire, body, _read(row, "host"), _read(row, "model") or _read(body, "model")))
    return found


def parse_body(data: bytes) -> Any:
    """The value of a JSON text; lone surrogates are let through. None when it is none."""
    try:
        return read_json(data.decode("utf-8", "surrogateescape").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _read(row: Any, key: str) -> str:
    value = row.get(key) if isinstance(row, dict) else None
    return value if isinstance(value, str) else ""
