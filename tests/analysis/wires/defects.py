"""The stored defects whose fate was measured on their way through Amplifier to four wires, row by row and cell by cell.

A cell holds the rules that fire there: "" for none, "AN-01/02" for both or either of two, "crash" where the client's own loader refuses
the row before any request. Cells in square brackets were not measured, or are settled here otherwise; `NOTES` says why.
"""

# ruff: noqa: E501

from __future__ import annotations

import json
from typing import Any, NamedTuple

Row = dict[str, Any]


def user(text: Any = "go on") -> Row:
    return {"role": "user", "content": text}


def call(*ids: str, text: str = "", arguments: Any = None) -> Row:
    arguments = {"x": 1} if arguments is None else arguments
    blocks: list[Row] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_call", "id": id, "name": "bash", "input": arguments} for id in ids]
    return {"role": "assistant", "content": blocks, "tool_calls": [{"id": id, "tool": "bash", "arguments": arguments} for id in ids]}


def result(id: str | None) -> Row:
    return {"role": "tool", "name": "bash", **({"tool_call_id": id} if id is not None else {}), "content": "done"}


def reply(content: Any = "all done") -> Row:
    return {"role": "assistant", "content": content}


REMINDER = user("<system-reminder>mind the tests</system-reminder>")


class Defect(NamedTuple):
    """`client` is whether Amplifier's own repair calls it broken. Then, by wire, what fires behind that repair and the provider's
    conversion, and last what fires on a textbook Chat request."""

    name: str
    rows: tuple[Row, ...]
    client_repairs: bool
    anthropic: str = ""
    responses: str = ""
    gemini: str = ""
    chat: str = ""

    def transcript(self) -> bytes:
        return b"".join(json.dumps(row).encode() + b"\n" for row in self.rows)


def string_in_list(id: str) -> Row:
    return {"role": "assistant", "content": "reading", "tool_calls": [{"id": id, "tool": "bash", "arguments": {"x": 1}}]}


def text_arguments(id: str) -> Row:
    return {"role": "assistant", "content": "reading", "tool_calls": [{"id": id, "tool": "bash", "arguments": '{"x": 1}'}]}


def blocks_only(id: str) -> Row:
    return {"role": "assistant", "content": [{"type": "tool_call", "id": id, "name": "bash", "input": {}}]}


DEFECTS = (
    Defect("result missing", (user(), call("a"), user()), True),
    Defect("result missing in part", (user(), call("a", "b"), result("a"), user()), True),
    Defect("result missing at the end", (user(), call("a")), True),
    Defect("late behind a user", (user(), call("a"), user(), result("a"), user()), True),
    Defect("late behind a reply", (user(), call("a"), reply(), result("a"), reply()), True),
    Defect("second copy far away", (user(), call("a"), result("a"), reply(), user(), result("a"), user()), True),
    Defect("reminder inside the loop", (user(), call("a"), REMINDER, result("a"), reply()), False, "AN-01", chat="OC-01/02"),
    Defect(
        "reminder between parallel results", (user(), call("a", "b"), result("a"), REMINDER, result("b"), reply()), False, "AN-01", chat="OC-01/02"
    ),
    Defect("developer row inside the loop", (user(), call("a"), {"role": "developer", "content": "x"}, result("a"), reply()), False, chat="OC-01/02"),
    Defect("system row inside the loop", (user(), call("a"), {"role": "system", "content": "x"}, result("a"), reply()), False, chat="OC-01/02"),
    Defect("result without call, first", (result("zz"), user(), reply()), False, "", "OR-02", "GM-03", "OC-02"),
    Defect("result without call, in the middle", (user(), reply(), result("zz"), reply()), False, "", "OR-02", "GM-03", "OC-02"),
    Defect("result before its call", (user(), result("a"), call("a"), reply()), False, "AN-01/02", "OR-02", "GM-01/03", "OC-01/02"),
    Defect(
        "results swapped between steps",
        (user(), call("a"), result("b"), call("b"), result("a"), reply()),
        False, "AN-01/02", "OR-02", "", "OC-01/02",
    ),
    Defect("result row twice", (user(), call("a"), result("a"), result("a"), reply()), False, "AN-03", "[]", "GM-01", "OC-03"),
    Defect("assistant row twice", (user(), call("a"), call("a"), result("a"), reply()), False, "AN-04", "OR-05", "GM-01", "OC-01"),
    Defect("one id twice in a turn", (user(), call("a", "a"), result("a"), reply()), False, "AN-04", "OR-05", "GM-01", "[]"),
    Defect(
        "id used again, unanswered", (user(), call("a"), result("a"), reply(), user(), call("a"), user()), False, "AN-01", "[OR-05]", "GM-01", "OC-01"
    ),
    Defect(
        "id used again, both answered",
        (user(), call("a"), result("a"), reply(), user(), call("a"), result("a"), reply()),
        False, "", "[OR-05]", "", "",
    ),
    Defect("calls split over two rows", (user(), call("a"), call("b"), result("a"), result("b"), reply()), False, chat="OC-01/02"),
    Defect("id with foreign characters", (user(), call("functions.bash:0"), result("functions.bash:0"), reply()), False, "AN-06"),
    Defect("arguments stored as text", (user(), text_arguments("a"), result("a"), reply()), False, "AN-07", "OR-02"),
    Defect("empty text block", (user(), reply([{"type": "text", "text": ""}]), user()), False, "AN-10", gemini="[GM-06]"),
    Defect("empty text block beside a call", (user(), {**call("a"), "content": [{"type": "text", "text": ""}, *call("a")["content"]]}, result("a"), reply()), False, "AN-10"),
    Defect("empty user message", (user(), reply(), user(""), reply()), False, "AN-12"),
    Defect("empty assistant text", (user(), reply(""), user()), False, "", "", "GM-06"),
    Defect("empty assistant list", (user(), reply([]), user()), False, "", "", "GM-06", "[]"),
    Defect("assistant content null", (user(), reply(None), user()), False, "crash", "crash", "crash", "crash"),
    Defect("calls in content blocks only", (user(), blocks_only("a"), result("a"), reply()), False, "AN-02/19", "", "GM-03"),
    Defect("calls in the list only", (user(), string_in_list("a"), result("a"), reply()), False, "", "OR-02"),
    Defect("calls in the list only, unanswered", (user(), string_in_list("a"), user()), True, "", "OR-02"),
    Defect("result without an id", (user(), call("a"), result(None), reply()), True, "", "", "GM-01", "OC-02"),
    Defect("turn without a reply", (user(), call("a"), result("a"), user()), True),
    Defect("results at the end", (user(), call("a"), result("a")), True),
    Defect("two user messages in a row", (user(), user("and"), reply()), False),
    Defect("assistant first", (reply(), user(), reply()), False),
)  # fmt: skip
