"""Tools that Anthropic runs itself: calls and results stand in the assistant's own turns, paired by id alone."""

from __future__ import annotations

import re

from doctor.analysis.wires.shape import RESULT, SERVER_CALL, SERVER_RESULT, Block, Turn, Violation

SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+\Z")
MCP = "mcp_tool_use"
_RESULT_TYPES = {"tool_search_tool_regex": "tool_search_tool_result", "tool_search_tool_bm25": "tool_search_tool_result"}


def check_server_tools(turns: list[Turn], found: list[Violation]) -> None:
    """Rules AN-30, AN-31 and AN-32.

    A call without a result is in flight, and fine, while only results of client tools follow it, or nothing at all.
    """
    open_calls: dict[str, tuple[int, int, Block]] = {}
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        for sent in turn.messages:
            for place, block in enumerate(sent.blocks):
                if block[0] == SERVER_CALL:
                    seen.add(block.id)
                    open_calls[block.id] = (number, sent.index, block)
                    _check_id(block, f"messages.{sent.index}.content.{place}", sent.index, found)
                elif block[0] == SERVER_RESULT:
                    open_calls.pop(block.id, None)
                    if block.id not in seen:
                        _refuse_result(block, f"messages.{sent.index}.content.{place}", sent.index, found)
    for number, index, block in open_calls.values():
        if not _is_in_flight(turns[number + 1 :]):
            kind = "mcp_tool_result" if block.name == MCP else _RESULT_TYPES.get(block.name, f"{block.name}_tool_result")
            name = "mcp" if block.name == MCP else block.name
            text = f"`{name}` tool use with id `{block.id}` was found without a corresponding `{kind}` block"
            found.append(Violation("AN-30", text, index, f"messages.{index}", (block.line,)))


def _is_in_flight(later: list[Turn]) -> bool:
    return all(turn.role == "user" and all(block.kind == RESULT for sent in turn.messages for block in sent.blocks) for turn in later)


def _check_id(block: Block, param: str, index: int, found: list[Violation]) -> None:
    if block.name != MCP and SERVER_ID.match(block.id) is None:
        text = f"{param}.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
        found.append(Violation("AN-32", text, index, f"{param}.server_tool_use.id", (block.line,)))


def _refuse_result(block: Block, param: str, index: int, found: list[Violation]) -> None:
    """`name` of a server result is its type."""
    text = (
        f"{param}: unexpected `tool_use_id` found in `{block.name}` blocks: {block.id}. "
        f"Each `{block.name}` block must have a corresponding `server_tool_use` block before it."
    )
    found.append(Violation("AN-31", text, index, param, (block.line,)))
