"""Gemini generateContent, on AI Studio and on Vertex."""

from __future__ import annotations

from doctor.analysis.errors_catalogue.entry import Entry

PROVIDER = "Gemini"

ENTRIES = (
    Entry(
        "GM-01",
        r"number of function response parts is equal to the number of function call parts",
        ("AD301", "AD304", "AD306", "AD303"),
        "The turn behind a turn of calls holds more or fewer results than there were calls. Only the number counts, ids don't.",
        "Give each call exactly one result, in the turn right behind it.",
    ),
    Entry(
        "GM-02",
        r"function call turn comes immediately after a user turn",
        ("AD406",),
        "The conversation opens with a call, usually because compaction cut its head off.",
        "Start at a user message, or put one in front.",
    ),
    Entry(
        "GM-03",
        r"function response turn comes immediately after a function call turn",
        ("AD303", "AD302", "AD307"),
        "Results stand where no calls are open.",
        "Move them behind their calls; if no call is left, take them out.",
    ),
    Entry(
        "GM-04",
        r"is missing a `?thought_signature`?",
        ("AD405",),
        "A call of the current turn has lost the signature that Gemini 3 and later want back.",
        "Send the signature as it was received, or close the tool loop and go on with a user message.",
    ),
    Entry(
        "GM-05",
        r"Corrupted thought signature|thought_signature' \(TYPE_BYTES\), Base64 decoding failed",
        ("AD405",),
        "A thought signature is not what the model returned; a cut one is no longer valid base64.",
        "Restore the signature, or remove it together with its thought.",
    ),
    Entry(
        "GM-06",
        r"contents\.parts must not be empty|required oneof field 'data'",
        ("AD208",),
        "A message has no parts, or a part without any data.",
        "Delete the empty message.",
    ),
    Entry(
        "GM-07",
        r"Please use a valid role: user, model",
        ("AD202",),
        "A message has a role that this API does not know.",
        "Send system texts as the system instruction and tool results as the user.",
    ),
    Entry(
        "GM-08",
        r"contents is not specified",
        ("AD107",),
        "No message was sent.",
        "Restore the transcript from its backup.",
    ),
    Entry(
        "GM-12",
        r"function_response\.name: Name cannot be empty",
        ("AD204",),
        "A result does not say which tool it is of.",
        "Write the tool's name into the result: that of the call it answers.",
    ),
    Entry(
        "GM-10",
        r"Invalid JSON payload received\. Unknown name \"?(\w+)",
        (),
        "The request has a field that this API does not know.",
        "Leave the field out.",
    ),
)
