"""The shapes that OpenCode's own import takes, rebuilt as JSON Schema: for machines without the client, and for its second generation."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

TEXT, NUMBER, OBJECT = {"type": "string"}, {"type": "number"}, {"type": "object"}


def record(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": required | optional}


def one_of(key: str, **shapes: dict[str, Any]) -> dict[str, Any]:
    """A union told by one member."""
    return {
        "type": "object",
        "required": [key],
        "properties": {key: {"enum": list(shapes)}},
        "allOf": [{"if": {"properties": {key: {"const": name}}}, "then": shape} for name, shape in shapes.items()],
    }


TOKENS = record({"input": NUMBER, "output": NUMBER, "reasoning": NUMBER, "cache": record({"read": NUMBER, "write": NUMBER})})
SPAN = record({"start": NUMBER, "end": NUMBER})
FIRST_STATE = one_of(
    "status",
    pending=record({"input": OBJECT, "raw": TEXT}),
    running=record({"input": OBJECT, "time": record({"start": NUMBER})}, title=TEXT, metadata=OBJECT),
    completed=record({"input": OBJECT, "output": TEXT, "title": TEXT, "metadata": OBJECT, "time": SPAN}),
    error=record({"input": OBJECT, "error": TEXT, "time": SPAN}, metadata=OBJECT),
)
PART = one_of(
    "type",
    text=record({"text": TEXT}),
    reasoning=record({"text": TEXT, "time": record({"start": NUMBER})}),
    tool=record({"callID": TEXT, "tool": TEXT, "state": FIRST_STATE}),
    patch=record({"hash": TEXT, "files": {"type": "array"}}),
    compaction=record({"auto": {"type": "boolean"}}, tail_start_id=TEXT),
    **{"step-start": record({}), "step-finish": record({"reason": TEXT, "cost": NUMBER, "tokens": TOKENS})},
)
PART_IDS = record({"id": {"pattern": "^prt"}, "sessionID": {"pattern": "^ses"}, "messageID": {"pattern": "^msg"}})
MESSAGE_INFO = one_of(
    "role",
    user=record({"time": record({"created": NUMBER}), "agent": TEXT, "model": record({"providerID": TEXT, "modelID": TEXT})}),
    assistant=record(
        {"time": record({"created": NUMBER}, completed=NUMBER), "parentID": TEXT, "modelID": TEXT, "providerID": TEXT, "mode": TEXT,
         "agent": TEXT, "path": record({"cwd": TEXT, "root": TEXT}), "cost": NUMBER, "tokens": TOKENS},
    ),
)  # fmt: skip
IDS = record({"id": {"pattern": "^msg"}, "sessionID": {"pattern": "^ses"}})
FIRST = record(
    {
        "info": record({"id": {"pattern": "^ses"}, "time": record({"created": NUMBER, "updated": NUMBER})}),
        "messages": {
            "type": "array",
            "items": record(
                {"info": {"allOf": [IDS, MESSAGE_INFO]}, "parts": {"type": "array", "items": {"allOf": [PART_IDS, PART]}}},
            ),
        },
    }
)

ERROR = record({"type": TEXT, "message": TEXT}, status=NUMBER)
CONTENT = {"type": "array", "minItems": 1}
SECOND_STATE = one_of(
    "status",
    streaming=record({"input": TEXT}),
    running=record({"input": OBJECT, "metadata": OBJECT}),
    completed=record({"input": OBJECT, "content": CONTENT}, metadata=OBJECT),
    error=record({"input": OBJECT, "error": ERROR}, content=CONTENT, metadata=OBJECT),
)
CREATED = record({"created": NUMBER}, completed=NUMBER)
SAID = one_of(
    "type",
    text=record({"text": TEXT}),
    reasoning=record({"text": TEXT}),
    tool=record({"id": TEXT, "name": TEXT, "state": SECOND_STATE, "time": record({"created": NUMBER}, ran=NUMBER, completed=NUMBER)}),
)
MESSAGE = one_of(
    "type",
    user=record({"text": TEXT}),
    synthetic=record({"text": TEXT}),
    assistant=record({"agent": TEXT, "model": record({"id": TEXT, "providerID": TEXT}), "content": {"type": "array", "items": SAID}}),
    compaction=record({"status": {"enum": ["running", "completed", "failed"]}, "reason": {"enum": ["auto", "manual"]}}),
    idle=record({"outcome": {"enum": ["succeeded", "failed", "interrupted"]}}),
)
ITEM = {"allOf": [record({"id": {"pattern": "^msg_"}, "time": CREATED}), MESSAGE]}
SECOND = record({"info": record({"id": {"pattern": "^ses"}}), "messages": {"type": "array", "items": ITEM}})


def list_errors(document: Any) -> list[str]:
    """Why the import would refuse an export, [] when it takes it."""
    first = next(iter(document["messages"]), {})
    schema = FIRST if "parts" in first else SECOND
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in Draft202012Validator(schema).iter_errors(document)]
