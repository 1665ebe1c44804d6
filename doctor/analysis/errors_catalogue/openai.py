"""OpenAI Chat Completions and Responses, Azure, and what gateways pass on of them."""

from __future__ import annotations

from doctor.analysis.errors_catalogue.entry import Entry

PROVIDERS = {"OC": "OpenAI Chat Completions", "OR": "OpenAI Responses"}
_RESTORE = "Put the result directly behind the call; where it is lost, take it from the event log, else write a marked placeholder."
_CONVERT = "Convert the stored content to this API's own shape before sending."

ENTRIES = (
    Entry(
        "OC-01",
        r"'tool_calls' must be followed by tool messages responding to each 'tool_call_id'|\"tool_calls\" must be followed by",
        ("AD301", "AD303"),
        "An assistant message calls tools, and some other message comes before all of them are answered.",
        _RESTORE,
        r"did not have response messages: ([\w.:|,\s-]+)",
    ),
    Entry(
        "OC-02",
        r"role 'tool' must be a response to a prec(ee|e)ding message with 'tool_calls'",
        ("AD303", "AD302", "AD307"),
        "A tool message stands where no call is open: it came too late, too early, or its call is gone.",
        "Move it behind its call; if no call is left, take it out or keep its text as a user message.",
    ),
    Entry(
        "OC-03",
        r"Duplicate value for 'tool_call_id' of '([^']+)'",
        ("AD304", "AD305"),
        "One call is answered twice.",
        "Keep the real result and set the other aside.",
    ),
    Entry(
        "OC-04",
        r"Invalid 'messages\[\d+\]\.tool_calls\[\d+\]\.id': string too long. Expected a string with maximum length (\d+)",
        ("AD206",),
        "A tool call id is longer than this server takes.",
        "Rename the id in the call and in its result together.",
    ),
    Entry(
        "OC-05",
        r"Invalid 'messages\[\d+\]\.tool_calls': empty array",
        ("AD203",),
        "An assistant message carries an empty list of calls.",
        "Leave the field out where there is no call.",
    ),
    Entry(
        "OC-06",
        r"Invalid 'messages\[\d+\]\.content': empty array|Invalid value for 'content': expected a string, got null",
        ("AD203", "AD208"),
        "A message has an empty list, or nothing, as its content.",
        "Send an empty string, or delete the message.",
    ),
    Entry(
        "OC-07",
        r"function\.arguments: arguments must be a valid JSON|\"function\.arguments\" parameter .* must be in JSON format",
        ("AD207",),
        "The arguments of a call are not a JSON object written as text.",
        "Write the arguments as JSON; what does not parse is wrapped in an object.",
    ),
    Entry(
        "OC-08",
        r"Invalid 'messages\[\d+\]\.tool_calls\[\d+\]\.function\.name'",
        ("AD204",),
        "A call has no tool name, or one with characters or a length that this API does not take.",
        "Write the name under which the tool is offered.",
    ),
    Entry(
        "OC-09",
        r"Content blocks are expected to be either text or image_url type|Missing required parameter: 'messages\[\d+\]\.content\[",
        ("AD203",),
        "A content part is of a type that a message of this role may not hold.",
        _CONVERT,
    ),
    Entry(
        "OC-10",
        r"'messages\[\d+\]\.role' does not support '(system|developer)' with this model",
        (),
        "This model takes no system or developer message.",
        "Send the instructions as a user message.",
    ),
    Entry(
        "OC-12",
        r"Invalid type for 'messages(?:\[\d+\](?:\.(?:content|tool_calls)(?:\[\d+\])?)?)?': expected|"
        r"Missing required parameter: 'messages(?:\[\d+\]\.(?:role|content))?'",
        ("AD201", "AD202", "AD203"),
        "The list of messages, one of them, or its content is of a kind that this API does not take, or is not there.",
        _CONVERT,
    ),
    Entry(
        "OC-13",
        r"Invalid 'messages': empty array",
        ("AD107",),
        "No message was sent.",
        "Restore the transcript from its backup.",
    ),
    Entry(
        "OC-14",
        r"Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'",
        ("AD202",),
        "A message has a role that this API does not know.",
        "Send it as the user's or as the assistant's.",
    ),
    Entry(
        "OR-01",
        r"No tool output found for (function call|tool call|[\w ]+call) (\S+?)\.?$",
        ("AD301",),
        "A call has no output anywhere in the input.",
        _RESTORE,
    ),
    Entry(
        "OR-02",
        r"No tool call found for (function call output|tool output|[\w ]+output) with call_id (\S+)",
        ("AD302", "AD307"),
        "An output names a call that does not stand before it.",
        "Move the output behind its call; if no call is left, take it out or keep its text as a user message.",
    ),
    Entry(
        "OR-03",
        r"of type 'reasoning' was provided without its required following item",
        ("AD405",),
        "A reasoning item was sent with its id, and the item that it led to is missing or was sent without its own id.",
        "Send both with their ids, or neither: drop item ids together, never only some.",
        r"Item '(\w+)'",
    ),
    Entry(
        "OR-04",
        r"was provided without its required 'reasoning' item: '(rs_\w+)'",
        ("AD405",),
        "An item was sent with its id, but the reasoning that led to it was not.",
        "Send both with their ids, or neither.",
    ),
    Entry(
        "OR-05",
        r"Duplicate item found with id (\S+)\.|Duplicate call_ids submitted",
        ("AD306", "AD308"),
        "An item or a call id stands twice in the input.",
        "Remove the repeated row, or give the second call and its output an id of their own.",
        r"Duplicate call_ids submitted: \[([^\]]+)\]",
    ),
    Entry(
        "OR-06",
        r"Item with id '(\w+)' not found|Previous response with id .* not found",
        (),
        "The request refers to something that the server never stored, or no longer has.",
        "Send the items themselves, without ids.",
    ),
    Entry(
        "OR-07",
        r"encrypted content .* could not be verified|invalid_encrypted_content",
        ("AD405",),
        "Encrypted reasoning was changed, or belongs to another organisation.",
        "Take the reasoning out of the history that is sent.",
    ),
    Entry(
        "OR-08",
        r"Invalid 'input\[\d+\]\.(call_)?id': string too long",
        ("AD206",),
        "An id is longer than 64 characters.",
        "Rename the id in the call and in its output together.",
    ),
    Entry(
        "OR-09",
        r"Invalid value: '(input_text|output_text)'\. Supported values are",
        ("AD203",),
        "A text has the type of the other side: the assistant's is output_text, everybody else's input_text.",
        _CONVERT,
    ),
    Entry(
        "OR-10",
        r"Invalid 'input\[\d+\]\.content': array too long",
        ("AD405",),
        "A reasoning item carries its content, which this API does not take back.",
        "Send the summary and the encrypted content only.",
    ),
    Entry(
        "OR-11",
        r"Unknown parameter: 'input\[\d+\]",
        ("AD203",),
        "An item has a field that its type does not know.",
        "Leave the field out.",
    ),
    Entry(
        "OR-12",
        r"Invalid type for 'input\[\d+\]\.content'",
        ("AD203",),
        "A message has no content.",
        "Send an empty string, or delete the message.",
    ),
    Entry(
        "OR-13",
        r"Invalid 'input\[\d+\]\.(?:output|name)': string too long|Missing namespace for function_call '([^']+)'",
        (),
        "An output, a tool name or a namespace breaks this API's limits.",
        "Shorten the output, or send the namespace with the call.",
    ),
    Entry(
        "OR-15",
        r"Invalid type for 'input(?:\[\d+\])?': expected|Missing required parameter: 'input(?:\[\d+\]\.content)?'|"
        r"One of \"input\" or \"previous_response_id\"|"
        r"Invalid value: ''\. Supported values are: 'assistant', 'system', 'developer', and 'user'",
        ("AD201", "AD202", "AD203", "AD107"),
        "The input, one of its items, or an item's content is of a kind that this API does not take, or is not there.",
        _CONVERT,
    ),
    Entry(
        "OR-17",
        r"Invalid 'input\[\d+\]\.name': empty string",
        ("AD204",),
        "A call names no tool.",
        "Write the name under which the tool is offered.",
    ),
    Entry(
        "OR-16",
        r"Invalid value: '[^']+'\. Supported values are: 'assistant', 'system', 'developer', and 'user'",
        ("AD202",),
        "A message has a role that this API does not know.",
        "Send it as the user's or as the assistant's.",
    ),
)
