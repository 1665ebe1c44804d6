"""What Amplifier's own provider modules do to a transcript on its way out, as far as it changes what an API sees.

Measured with the modules for Anthropic, OpenAI (Responses) and Gemini of summer 2026; its chat-completions module and Bedrock have no
entry, there the plain reading holds. What is healed here is healed in memory for one request: the stored file stays as it is, and the
same call is not healed a second time in one process. So a plain verdict counts; this one says what the client hides for the moment.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.analysis.wires.shape import ANTHROPIC, CALL, EMPTY, GEMINI, OPENAI_RESPONSES, OTHER, RESULT, TEXT, UNKNOWN_TYPE, Block, Sent
from doctor.analysis.wires.stored import SENT_ROLES, arrange, lower_message
from doctor.model import SPELLED_AS_BLOCK, SPELLED_FOREIGN, SPELLED_IN_LIST, Message, ToolCall


def lower_as_amplifier(messages: Sequence[Message], wire: str) -> list[Sent]:
    """A whole transcript as Amplifier would send it to one wire."""
    called = {call.id for message in messages for call in message.calls}
    answered = {result.call_id for message in messages for result in message.results}
    neutral: list[Sent] = []
    for message in messages:
        if message.role not in SENT_ROLES:
            continue
        sent = lower_message(message)
        if message.calls:
            sent = sent._replace(blocks=_convert_calls(message, sent, wire))
        elif message.results:
            sent = _convert_results(sent, wire, called)
        if sent is None:
            continue
        neutral.append(sent)
        if wire in (ANTHROPIC, OPENAI_RESPONSES, GEMINI):
            neutral += [
                _stand_in(call, message.line) for call in message.calls if call.spelling & SPELLED_AS_BLOCK and call.id not in answered
            ]
    arranged = arrange(wire, neutral)
    if wire == GEMINI:
        # Its module drops empty texts, and then sends the assistant message without parts.
        arranged = [
            _empty(sent) if sent.role == "model" and sent.blocks and all(_is_empty(block) for block in sent.blocks) else sent
            for sent in arranged
        ]
    return arranged


def _convert_calls(message: Message, sent: Sent, wire: str) -> tuple[Block, ...]:
    spelling = {call.id: call.spelling for call in message.calls}
    blocks = []
    for block in sent.blocks:
        spelled = spelling.get(block.id, 0) if block.kind == CALL else 0
        if block.kind != CALL:
            blocks.append(block)
        elif wire == ANTHROPIC:
            blocks.append(_convert_for_anthropic(block, spelled))
        elif (wire == OPENAI_RESPONSES and not spelled & (SPELLED_AS_BLOCK | SPELLED_FOREIGN)) or (
            wire == GEMINI and not spelled & SPELLED_IN_LIST
        ):
            # One reads the name under a key that the client never stores, the other never looks at the blocks: the call vanishes.
            continue
        else:
            blocks.append(block)
    return tuple(blocks)


def _convert_for_anthropic(block: Block, spelled: int) -> Block:
    """Calls come from the list, names from its key `tool`; a block that no list item stands for passes as it is stored."""
    if not spelled & SPELLED_IN_LIST:
        return Block(OTHER, block.id, "tool_call", UNKNOWN_TYPE, block.line)
    return block._replace(name="") if spelled & SPELLED_FOREIGN else block


def _convert_results(sent: Sent, wire: str, called: set[str]) -> Sent | None:
    if wire == ANTHROPIC:
        blocks = tuple(block for block in sent.blocks if block.kind != RESULT or block.id in called)
        return sent._replace(blocks=blocks) if blocks else None
    if wire == OPENAI_RESPONSES and any(block.kind == RESULT and not block.id for block in sent.blocks):
        return Sent("user", (Block(TEXT, line=sent.line),), 0, 0, sent.line)
    return sent


def _stand_in(call: ToolCall, line: int) -> Sent:
    """The result that the provider module invents for a call without one."""
    return Sent("tool", (Block(RESULT, call.id, call.name, 0, line),), 0, 0, line)


def _is_empty(block: Block) -> bool:
    return block.kind == TEXT and block.flags & EMPTY != 0


def _empty(sent: Sent) -> Sent:
    return sent._replace(blocks=(), flags=EMPTY)
