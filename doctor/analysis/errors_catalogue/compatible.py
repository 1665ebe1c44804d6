"""Servers that speak OpenAI's protocols in words of their own, and the chat templates of local servers."""

from __future__ import annotations

from doctor.analysis.errors_catalogue.entry import Entry

PROVIDERS = {
    "DS": "DeepSeek",
    "MI": "Mistral",
    "KI": "Moonshot (Kimi)",
    "MM": "MiniMax",
    "TP": "chat template (vLLM, llama.cpp, LM Studio)",
    "XA": "xAI",
}
_MOVE = "Move the result behind its call; if no call is left, take it out or keep its text as a user message."
_MERGE = "Merge neighbouring messages of one role before sending, or use a template that takes them."

ENTRIES = (
    Entry(
        "DS-01",
        r"The `(reasoning_content|content\[\]\.thinking)` in the thinking mode must be passed back",
        ("AD405",),
        "With thinking on, each assistant message with calls has to carry its reasoning, and one of them has lost it.",
        "Send the reasoning along, or switch thinking off for this conversation.",
    ),
    Entry(
        "MI-01",
        r"Not the same number of function calls and responses",
        ("AD301", "AD304"),
        "There are more calls than results behind them, or fewer.",
        "Give each call exactly one result, right behind it.",
    ),
    Entry(
        "MI-02",
        r"Tool call id was .* but must be a-z, A-Z, 0-9, with a length of 9",
        ("AD206",),
        "Older models take only ids of nine letters and digits.",
        "Rename the ids in calls and results together.",
    ),
    Entry(
        "MI-03",
        r"Unexpected role '(\w+)' after role '(\w+)'",
        ("AD303", "AD302"),
        "A message of this role may not follow one of that role.",
        "Put the messages in an order that the model takes: results right behind their calls, then the assistant.",
    ),
    Entry(
        "MI-04",
        r"(Duplicate|Unexpected) tool call id .* in (assistant message|tool results)",
        ("AD304", "AD306", "AD302"),
        "A call id stands twice, or a result names a call that is not open.",
        _MOVE,
    ),
    Entry(
        "MI-05",
        r"Expected last role User or Tool",
        ("AD401",),
        "The request ends with an assistant message.",
        "Put the unanswered user message last, or add one.",
    ),
    Entry(
        "KI-01",
        r"tool_call_id\s+.*is not found",
        ("AD302", "AD303"),
        "A result has no id, or names a call that is not open.",
        _MOVE,
    ),
    Entry(
        "KI-02",
        r"tokenization failed",
        ("AD304",),
        "This server's answer to two results for one call.",
        "Keep the real result and set the other aside.",
    ),
    Entry(
        "KI-03",
        r"the message at position \d+ with role '\w+' must not be empty",
        ("AD208",),
        "A message has no content.",
        "Delete the empty message.",
    ),
    Entry(
        "MM-01",
        r"tool result's tool id\(.*\) not found",
        ("AD302", "AD303"),
        "A result names a call that is not open.",
        _MOVE,
        r"tool id\(([^)]+)\)",
    ),
    Entry(
        "MM-02",
        r"tool call result does not follow tool call",
        ("AD303", "AD301"),
        "Something stands between a call and its result, or behind the result in the same message.",
        "Put the result directly behind its call, alone.",
    ),
    Entry(
        "MM-03",
        r"tool call id is invalid|tool call and result not match",
        ("AD206", "AD302"),
        "An id was changed on its way: this server wants its own ids back as they were.",
        "Restore the id in the call and in its result.",
    ),
    Entry(
        "MM-04",
        r"invalid function arguments json string",
        ("AD207",),
        "The arguments of a call are not a JSON object written as text.",
        "Write the arguments as JSON; what does not parse is wrapped in an object.",
        r"tool_call_id: (\S+)",
    ),
    Entry(
        "TP-01",
        r"[Cc]onversation roles must alternate user",
        (),
        "This model's chat template takes no two messages of one role in a row.",
        _MERGE,
    ),
    Entry(
        "TP-02",
        r"System message must be at the beginning",
        (),
        "This model's chat template takes a system message only in first place.",
        "Move its text to the front.",
    ),
    Entry(
        "TP-03",
        r"Cannot have 2 or more assistant messages at the end",
        ("AD401",),
        "The request ends with more than one assistant message.",
        "End the request with a user message.",
    ),
    Entry(
        "XA-01",
        r"Each message must have at least one content element",
        ("AD208",),
        "A message has no content.",
        "Delete the empty message.",
    ),
)
