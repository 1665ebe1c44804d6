"""What is no message at all: values of a wrong kind where a body should hold its conversation.

Texts of OpenAI and of Anthropic are those that the APIs answered in August 2026; of Gemini and of Bedrock it is known that they refuse such
a body, not in which words: those violations carry a reason and no text.
"""

from __future__ import annotations

from doctor.analysis.wires.shape import ERROR, Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOT_AN_OBJECT, BAD_ROLE, BAD_CONTENT = "AD201", "AD202", "AD203"
"""The doctor's own codes for these defects."""
_KINDS = {bool: "a boolean", int: "an integer", float: "a decimal number", str: "a string", list: "an array", dict: "an object"}


def name_kind(value: Any) -> str:
    """`an integer`, `null`: a JSON value's kind, as OpenAI's texts call it."""
    return _KINDS.get(type(value), "null")


def refuse(rule: str, text: str, param: str, index: int, code: str, reason: str = "", is_listed: bool = True) -> Violation:
    """One refusal of a shape. `is_listed`: it is about the message at `index`, not about the list itself. Without a `text` the reason
    is all that is known; with one, the reason is for servers that have other words."""
    return Violation(rule, text, index, param, (index,) if is_listed else (), ERROR, "", (), reason, code)


def refuse_kind(rule: str, param: str, index: int, expected: str, value: Any, code: str, is_listed: bool = True) -> Violation:
    """OpenAI's text for a value of a wrong kind."""
    text = f"Invalid type for '{param}': expected {expected}, but got {name_kind(value)} instead."
    return refuse(rule, text, param, index, code, f"{param} is {name_kind(value)}, not {expected}", is_listed)


def refuse_absence(rule: str, param: str, index: int, code: str, is_listed: bool = True) -> Violation:
    """OpenAI's text for something that is not there."""
    return refuse(rule, f"Missing required parameter: '{param}'.", param, index, code, f"{param} is missing", is_listed)
