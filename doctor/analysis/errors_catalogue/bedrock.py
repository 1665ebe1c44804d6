"""AWS Bedrock Converse."""

from __future__ import annotations

from doctor.analysis.errors_catalogue.entry import Entry

PROVIDER = "Bedrock Converse"
_RESTORE = (
    "Put the result into the user message right behind the call; where it is lost, take it from the event log or write a placeholder."
)

ENTRIES = (
    Entry(
        "BC-01",
        r"Expected toolResult blocks at messages\.(\d+)\.content for the following Ids: (.+)",
        ("AD301", "AD303"),
        "The user message behind a call does not hold its result.",
        _RESTORE,
        r"for the following Ids: ([\w.:,\s-]+)",
    ),
    Entry(
        "BC-02",
        r"number of toolResult blocks at messages\.(\d+)\.content exceeds the number of toolUse blocks of previous turn",
        ("AD303", "AD302", "AD304"),
        "There are more results than calls in the turn before: one stands too late, or its call is gone.",
        "Move it to its call; if no call is left, take it out or keep its text as a user message.",
    ),
    Entry(
        "BC-03",
        r"toolResult blocks at messages\.(\d+)\.content contain duplicate Ids",
        ("AD304", "AD305"),
        "One call is answered twice.",
        "Keep the real result and set the other aside.",
        r"contain duplicate Ids: ([\w.:,\s-]+)",
    ),
    Entry(
        "BC-04",
        r"toolUse blocks at messages\.(\d+)\.content contain duplicate Ids",
        ("AD306",),
        "The same call id stands twice in one assistant turn.",
        "Remove the repeated row, or give the second call and its result an id of their own.",
        r"contain duplicate Ids: ([\w.:,\s-]+)",
    ),
    Entry(
        "BC-05",
        r"conversation must start with a user message",
        ("AD406",),
        "The conversation opens with the assistant; some models refuse that.",
        "Start at a user message, or put one in front.",
    ),
    Entry(
        "BC-06",
        r"conversation must alternate between user and assistant roles",
        (),
        "Two messages of one role follow each other; some models refuse that.",
        "Merge neighbouring messages of one role before sending.",
    ),
    Entry(
        "BC-07",
        r"toolConfig field must be defined when using toolUse and toolResult",
        (),
        "The conversation uses tools, but the request lists none.",
        "Send the tools along, also where the model should call none.",
    ),
    Entry(
        "BC-08",
        r"content field in the Message object at messages\.(\d+) is empty",
        ("AD208",),
        "A message has no content.",
        "Delete the empty message.",
    ),
    Entry(
        "BC-09",
        r"text field in the ContentBlock object at messages\.(\d+)\.content\.(\d+) is blank",
        ("AD208",),
        "A text block holds nothing but white space.",
        "Delete the blank block.",
    ),
    Entry(
        "BC-10",
        r"toolResult cannot be empty when status value is error",
        ("AD208",),
        "A failed call's result has no content.",
        "Write the error into the result.",
    ),
    Entry(
        "BC-11",
        r"Conversation blocks and tool result blocks cannot be provided in the same turn",
        (),
        "This model takes no text beside tool results in one message.",
        "Send the text in a turn of its own.",
    ),
    Entry(
        "BC-12",
        r"1 validation error detected: Value '.*' at 'messages\.\d+\.member|"
        r"value at messages\.\d+\.content\.\d+\.toolUse\.input is invalid",
        ("AD206", "AD207", "AD204"),
        "An id, a tool name or the arguments of a call have a form that this API does not take.",
        "Rename the id in the call and in its result together; write arguments as an object.",
    ),
    Entry(
        "BC-13",
        r"extraneous key \[toolResult\] is not permitted",
        ("AD302", "AD303"),
        "Nova's wording for a result whose call is not in the turn before.",
        "Move the result to its call; if no call is left, take it out.",
    ),
)
