"""Servers that speak OpenAI's protocols but accept more than OpenAI does, or word their refusals differently.

Only what was recorded or reported is here. A server of another name keeps the rules on order, which all of them have, but its limits of
form (lengths, patterns, empty lists) are its own: there OpenAI's are a warning.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from doctor.analysis.wires.shape import ERROR, WARNING, Violation
from doctor.records import Record

Rewording = tuple[str, Callable[[Violation], str]]


class Host(Record):
    """`accepts`: rule -> why it is no matter there. `rewords`: rule -> the server's own rule and text for the same defect."""

    name: str
    pattern: re.Pattern[str]
    accepts: dict[str, str]
    rewords: dict[str, Rewording]


def _first_id(violation: Violation) -> str:
    return violation.ids[0] if violation.ids else ""


FORM_RULES = frozenset((
    "OC-04", "OC-05", "OC-06", "OC-08", "OC-09", "OC-14", "OR-05", "OR-08", "OR-09", "OR-10", "OR-11", "OR-12", "OR-13", "OR-16", "OR-17",
))  # fmt: skip
SHAPE_RULES = frozenset(("OC-12", "OC-13", "OR-15"))
"""What is no message at all is refused by every server, each in its own words."""
OPENAI = re.compile(r"(?:^|\.)(?:openai\.com|openai\.azure\.com|services\.ai\.azure\.com|cognitiveservices\.azure\.com)$")
_QWEN = "<400> InternalError.Algo.InvalidParameter: "
HOSTS = (
    Host(
        "Mistral",
        re.compile(r"(?:^|\.)mistral\.ai$"),
        {
            "OC-05": "an empty tool_calls list was accepted (recorded)",
            "OC-06": "empty content was accepted (recorded)",
            "OC-09": "its assistant messages have parts of their own, such as thinking",
        },
        {
            "OC-01": ("MI-01", lambda found: "Not the same number of function calls and responses"),
            "OC-02": ("MI-04", lambda found: f"Unexpected tool call id {_first_id(found)} in tool results"),
            "OC-03": ("MI-04", lambda found: f"Duplicate tool call id {_first_id(found)} in tool results"),
        },
    ),
    Host(
        "DeepSeek",
        re.compile(r"(?:^|\.)deepseek\.com$"),
        {
            "OR-03": "reasoning with an id, in front of an item without one, was accepted (recorded)",
            "OR-10": "reasoning is sent with its content (recorded)",
        },
        {
            "OC-01": ("DS-02", lambda found: f"{found.text} (insufficient tool messages following tool_calls message)"),
            "OC-02": ("DS-02", lambda found: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
        },
    ),
    Host("xAI", re.compile(r"(?:^|\.)x\.ai$"), {"OR-05": "the same item id twice was accepted (recorded)"}, {}),
    Host(
        "Moonshot",
        re.compile(r"(?:^|\.)(?:moonshot|kimi)\.(?:ai|cn|com)$"),
        {},
        {
            "OC-01": ("KI-04", lambda found: f"Invalid request: {found.text[0].lower()}{found.text[1:]}"),
            "OC-02": ("KI-01", lambda found: f"Invalid request: tool_call_id {_first_id(found)} is not found"),
            "OC-03": ("KI-02", lambda found: "Invalid request: tokenization failed"),
            "OC-06": (
                "KI-03",
                lambda found: f"Invalid request: the message at position {found.index} with role 'assistant' must not be empty",
            ),
        },
    ),
    Host(
        "MiniMax",
        re.compile(r"(?:^|\.)(?:minimax|minimaxi)\.(?:io|com|chat)$"),
        {},
        {
            "OC-01": ("MM-02", lambda found: "invalid params, tool call result does not follow tool call (2013)"),
            "OC-02": ("MM-01", lambda found: f"invalid params, tool result's tool id({_first_id(found)}) not found (2013)"),
            "OC-03": ("MM-03", lambda found: "invalid params, tool call and result not match (2013)"),
            "OC-07": (
                "MM-04",
                lambda found: f"invalid params, invalid function arguments json string, tool_call_id: {_first_id(found)} (2013)",
            ),
        },
    ),
    Host(
        "DashScope",
        re.compile(r"(?:^|\.)dashscope(?:-intl)?\.aliyuncs\.com$"),
        {},
        {
            "OC-01": ("QW-01", lambda found: _QWEN + found.text.replace("'", '"')),
            "OC-07": ("QW-01", lambda found: f'{_QWEN}The "function.arguments" parameter of the code model must be in JSON format.'),
        },
    ),
)


def find_host(address: str) -> Host | None:
    """The entry for a host name (a port is left out); None when nothing is known of it."""
    name = address.lower().partition(":")[0]
    return next((host for host in HOSTS if host.pattern.search(name)), None)


def judge_host(found: list[Violation], address: str) -> list[Violation]:
    """Violations as this server would see them: without what it accepts, in its own words, and with doubt where a limit is OpenAI's own."""
    name = address.lower().partition(":")[0]
    if not name or OPENAI.search(name):
        return found
    host = find_host(name)
    judged = []
    for violation in found:
        if host is not None and violation.rule in host.accepts:
            continue
        if host is not None and violation.rule in host.rewords:
            rule, word = host.rewords[violation.rule]
            violation = violation._replace(rule=rule, text=word(violation), severity=ERROR, depends="")
        elif violation.rule in SHAPE_RULES:
            violation = violation._replace(text="")
        elif violation.rule in FORM_RULES and violation.severity == ERROR:
            violation = violation._replace(severity=WARNING, depends=f"the server: this limit is OpenAI's own, {name} may have another")
        judged.append(violation)
    return judged
