"""A tool call's id, or its tool's name, has characters or a length that a provider refuses.

## Why it matters
Each provider has its own pattern and its own limit for ids. Anthropic takes letters, digits, `_` and `-` only; OpenAI takes anything of up
to 64 characters (40 until early 2026, and behind some gateways still). One such id makes every later request fail.

## How it happens
The session was run with another provider, whose model makes ids such as `functions.bash:0`, and is resumed with this one.

## How it is fixed
With `--unsafe` the id is rewritten in the call and in its result together. A name is left alone: it has to match a tool that is offered.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Confidence, Finding, Fix, Message, Session, Severity, examples, refusals, rewrites, rule, short_id, traits

BAD = examples.user("go") + examples.call("functions.bash:0") + examples.result("functions.bash:0")
GOOD = examples.user("go") + examples.call("functions_bash_0") + examples.result("functions_bash_0")
RULES = ("AN-06", "AN-08", "OC-04", "OC-08", "OR-08", "OR-13", "BC-12")
WORDS = ("tool_use.id", "toolUseId", ".id':", "call_id'", "name")
LONGEST = 40


@rule(code="AD206", name="invalid-tool-id", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.MINDED_ROWS)
def find_invalid_id(session: Session) -> Iterator[Finding]:
    transcript = session.transcript
    for refused in refusals.find_refused(session, RULES, WORDS):
        index = transcript.message_at(refused.line)
        message = transcript.messages[index] if index is not None else None
        # A result is reported with its call; a result without one is AD302's, a call without an id or a name is AD204's.
        if message is None or not message.calls or any(not call.name or not call.id for call in message.calls):
            continue
        ids = tuple(call.id for call in message.calls if call.id in refused.ids)
        about_names = all("name" in found.text and "Id" not in found.text for found in refused.by_wire.values())
        names = ", ".join(call.name if about_names else short_id(call.id) for call in message.calls if call.id in refused.ids)
        what = "tool name" if about_names else "tool call id"
        yield Finding(
            refused.line,
            f"{what} {names}: {refusals.name_refusing(session, refused)}",
            None if about_names else rename(session, message, ids),
            ids=ids,
            confidence=Confidence.CONFIRMED if refused.is_sure else Confidence.POSSIBLE,
            wires=refused.answers,
        )


def rename(session: Session, message: Message, ids: tuple[str, ...]) -> Fix | None:
    """Calls and results that are paired soundly; others have to be put right first."""
    pairing, messages = session.pairing, session.transcript.messages
    unsound = pairing.list_unsound_ids() | {call_id for call_id, _ in pairing.reused}
    if not ids or unsound.intersection(ids):
        return None
    known = {call.id for other in messages for call in other.calls}
    names = {call_id: make_name(call_id, known) for call_id in ids}
    lines = [message.line] + [other.line for other in messages if any(result.call_id in names for result in other.results)]
    title = f"rename {', '.join(short_id(call_id) for call_id in ids)} in row {message.line + 1} and in its results"
    fix = rewrites.rewrite_lines(session, lines, title, lambda row: rewrites.rename_ids(row, names))
    return fix if fix is not None and len(fix.edits) == len(set(lines)) else None


def make_name(call_id: str, known: set[str]) -> str:
    """The id with what some provider refuses replaced: 40 characters at most, and unlike any other."""
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in call_id)
    if len(name) > LONGEST or name in known or name == call_id:
        from zlib import crc32

        name = f"{name[: LONGEST - 9]}_{crc32(call_id.encode('utf-8', 'surrogatepass')):08x}"
    return name
