"""A Responses request as a History: each item is one Sent whose role is the message's, else the item's type."""

from __future__ import annotations

from doctor.analysis.wires.bodies.shapes import BAD_CONTENT, BAD_ROLE, NOT_AN_OBJECT, name_kind, refuse, refuse_absence, refuse_kind
from doctor.analysis.wires.bodies.texts import judge_arguments, judge_text
from doctor.analysis.wires.shape import (
    CALL,
    OTHER,
    RESULT,
    TEXT,
    THINKING,
    Block,
    History,
    Sent,
    Settings,
    Violation,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLIENT_CALLS = (
    "function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call",
)  # fmt: skip
"""Calls that the client answers. Those that OpenAI runs itself (web search, code interpreter, MCP, …) carry their own results."""
LONGEST_OUTPUT = 10_485_760
FOREIGN_FIELDS = ("tool_calls", "tool_call_id", "reasoning_content", "function", "timestamp", "metadata")
ROLES = ("assistant", "system", "developer", "user")
STANDS_FOR_INPUT = ("previous_response_id", "conversation", "prompt")
_ASSISTANT_PARTS = ("output_text", "refusal")


def lower_request(body: dict[str, Any], host: str = "") -> History:
    """Lowers a Responses body, `as_request`. A string as `input` is one user message."""
    problems: list[Violation] = []
    model, stored = body.get("model"), body.get("store")
    chained = bool(body.get("previous_response_id") or body.get("conversation"))
    settings = Settings(model if isinstance(model, str) else "", host, True, "", stored if isinstance(stored, bool) else None, chained)
    given = body.get("input")
    if (not given and not any(body.get(field) for field in STANDS_FOR_INPUT)) or not isinstance(given, (str, list)):
        problems.append(_refuse_input(body))
        return History((), settings, tuple(problems))
    if isinstance(given, str):
        return History((Sent("user", (Block(TEXT, "", "", judge_text(given), 0),), 0, 0, 0),), settings)
    items = [_lower_item(item, index, problems) for index, item in enumerate(given)]
    # A referenced item is the server's own copy: which calls it holds is not known here.
    if any(isinstance(item, dict) and item.get("type") == "item_reference" for item in given):
        settings = settings._replace(chained=True)
    return History(tuple(items), settings, tuple(problems))


def _refuse_input(body: dict[str, Any]) -> Violation:
    if "input" not in body:
        return refuse_absence("OR-15", "input", 0, BAD_CONTENT, False)
    given = body["input"]
    if given in ([], ""):
        text = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
        return refuse("OR-15", text, "input", 0, "AD107", "input is empty", False)
    found = refuse_kind("OR-15", "input", 0, "one of a string or array of input items", given, BAD_CONTENT, False)
    return found if isinstance(given, dict) else found._replace(text="")


def _lower_item(item: Any, index: int, problems: list[Violation]) -> Sent:
    if not isinstance(item, dict):
        problems.append(refuse_kind("OR-15", f"input[{index}]", index, "an input item", item, NOT_AN_OBJECT))
        return Sent("", (), index, 0, index)
    kind = item.get("type")
    if kind is not None and not isinstance(kind, str):
        problems.append(refuse("OR-15", "", f"input[{index}].type", index, BAD_CONTENT, "the item's type is no text"))
    kind = kind if isinstance(kind, str) else "message"
    id = item.get("id") if isinstance(item.get("id"), str) and kind != "item_reference" else ""
    for field in FOREIGN_FIELDS:
        if field in item:
            param = f"input[{index}].{field}"
            problems.append(Violation("OR-11", f"Unknown parameter: '{param}'.", index, param, (index,)))
    if kind == "message":
        role = item.get("role")
        if not isinstance(role, str) or role not in ROLES:
            said = f"Invalid value: '{role if isinstance(role, str) else ''}'. Supported values are: {_list_roles()}."
            rule = "OR-16" if isinstance(role, str) else "OR-15"
            problems.append(refuse(rule, said, f"input[{index}]", index, BAD_ROLE, "the message has no role"))
        return Sent(role if isinstance(role, str) else "", tuple(_lower_content(item, index, problems)), index, 0, index, id)
    call_id = item.get("call_id")
    call_id = call_id if isinstance(call_id, str) else ""
    if kind in CLIENT_CALLS and call_id and item.get("execution") != "server":
        name = item.get("name")
        flags = judge_arguments(item.get("arguments")) if kind == "function_call" else 0
        return Sent(kind, (Block(CALL, call_id, name if isinstance(name, str) else "", flags, index),), index, 0, index, id)
    if kind.endswith("_output") and call_id and item.get("execution") != "server":
        _check_output(item, index, problems)
        return Sent(kind, (Block(RESULT, call_id, "", 0, index),), index, 0, index, id)
    if kind == "reasoning":
        _check_reasoning(item, index, problems)
        return Sent(kind, (Block(THINKING, line=index),), index, 0, index, id)
    return Sent(kind, (Block(OTHER, "", kind, 0, index),), index, 0, index, id)


def _lower_content(item: dict[str, Any], index: int, problems: list[Violation]) -> list[Block]:
    content, role = item.get("content"), item.get("role")
    if isinstance(content, str):
        return [Block(TEXT, "", "", judge_text(content), index)]
    param = f"input[{index}].content"
    if "content" not in item:
        problems.append(refuse_absence("OR-15", param, index, BAD_CONTENT))
    elif content is None:
        text = f"Invalid type for '{param}': expected a string or a list, but got null"
        problems.append(Violation("OR-12", text, index, param, (index,)))
    elif not isinstance(content, list):
        problems.append(refuse("OR-15", "", param, index, BAD_CONTENT, f"the content is {name_kind(content)}"))
    blocks = []
    for place, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict):
            problems.append(refuse("OR-15", "", f"{param}[{place}]", index, BAD_CONTENT, f"the part is {name_kind(part)}"))
        if isinstance(kind, str):
            _check_part(kind, role, f"{param}[{place}].type", index, problems)
        text = part.get("text") if isinstance(part, dict) else None
        blocks.append(
            Block(TEXT if isinstance(text, str) else OTHER, "", kind or "", judge_text(text) if isinstance(text, str) else 0, index)
        )
    return blocks


def _list_roles() -> str:
    return f"{', '.join(repr(role) for role in ROLES[:-1])}, and {ROLES[-1]!r}"


def _check_part(kind: str, role: object, param: str, index: int, problems: list[Violation]) -> None:
    """Rule OR-09: what the assistant said is output, what others said is input."""
    if role == "assistant" and kind.startswith("input_"):
        text = f"Invalid value: '{kind}'. Supported values are: 'output_text' and 'refusal'."
    elif role in ("user", "system", "developer") and kind in _ASSISTANT_PARTS:
        text = f"Invalid value: '{kind}'. Supported values are: 'input_text', 'input_image', and 'input_file'."
    else:
        return
    problems.append(Violation("OR-09", text, index, param, (index,)))


def _check_output(item: dict[str, Any], index: int, problems: list[Violation]) -> None:
    output = item.get("output")
    if isinstance(output, str) and len(output) > LONGEST_OUTPUT:
        text = (
            f"Invalid 'input[{index}].output': string too long. Expected a string with maximum length {LONGEST_OUTPUT}, "
            f"but got a string with length {len(output)} instead."
        )
        problems.append(Violation("OR-13", text, index, f"input[{index}].output", (index,)))


def _check_reasoning(item: dict[str, Any], index: int, problems: list[Violation]) -> None:
    content = item.get("content")
    if isinstance(content, list) and content:
        text = (
            f"Invalid 'input[{index}].content': array too long. Expected an array with maximum length 0, "
            f"but got an array with length {len(content)} instead."
        )
        problems.append(Violation("OR-10", text, index, f"input[{index}].content", (index,)))
