"""Which result belongs to which call, and which of them stand where no provider looks for them.

A provider looks for a call's results in the run of result rows right behind the assistant row (contract rule AN-01 and Chat Completions).
Order inside the run is free. Sound groups are recognised in one pass and cost one dictionary entry a call; only the ids of groups that are
not sound are looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.model import CallPair, Message, Pairing, ResultSite, ToolCall

SOUND = Pairing()


def pair_calls(messages: Sequence[Message]) -> Pairing:
    """Pairs all calls and results of one transcript; see Pairing for what comes back."""
    suspects = _find_suspects(messages)
    if not suspects:
        return SOUND
    calls: dict[str, list[tuple[int, int, ToolCall]]] = {}
    results: dict[str, list[tuple[int, ResultSite]]] = {}
    twice: list[tuple[int, str]] = []
    owner = -1
    for index, message in enumerate(messages):
        if message.calls:
            owner = index
            _collect_calls(message, index, suspects, calls, twice)
        elif message.results:
            for result in message.results:
                if result.call_id in suspects:
                    results.setdefault(result.call_id, []).append((owner, ResultSite(index, result)))
        else:
            owner = -1
    pairs: list[CallPair] = []
    orphans: list[ResultSite] = []
    reused: list[tuple[str, tuple[int, ...]]] = []
    for call_id in suspects:
        sites = calls.get(call_id, [])
        found = results.get(call_id, [])
        if not sites:
            orphans += [site for _, site in found]
            continue
        if len(sites) > 1:
            reused.append((call_id, tuple(index for index, _, _ in sites)))
        pairs += _match(sites, found)
    pairs.sort(key=lambda pair: (pair.index, pair.position))
    orphans.sort(key=lambda site: site.index)
    return Pairing(tuple(pairs), tuple(orphans), tuple(twice), tuple(reused))


def _find_suspects(messages: Sequence[Message]) -> dict[str, None]:
    """Ids of every group that is not exactly "calls, then one result for each, each id for the first time"; in order of appearance."""
    suspects: dict[str, None] = {}
    seen: set[str] = set()
    open_ids: set[str] = set()
    for message in messages:
        calls = message[3]
        if calls:
            if open_ids:
                suspects.update(dict.fromkeys(sorted(open_ids)))
                open_ids = set()
            for call in calls:
                call_id = call[0]
                if call_id in seen:
                    suspects[call_id] = None
                seen.add(call_id)
                open_ids.add(call_id)
            continue
        results = message[4]
        if results:
            for result in results:
                call_id = result[0]
                if call_id in open_ids:
                    open_ids.discard(call_id)
                else:
                    suspects[call_id] = None
        elif open_ids:
            suspects.update(dict.fromkeys(sorted(open_ids)))
            open_ids = set()
    suspects.update(dict.fromkeys(sorted(open_ids)))
    return suspects


def _collect_calls(
    message: Message,
    index: int,
    suspects: dict[str, None],
    calls: dict[str, list[tuple[int, int, ToolCall]]],
    twice: list[tuple[int, str]],
) -> None:
    here: set[str] = set()
    for position, call in enumerate(message.calls):
        if call.id in here:
            twice.append((index, call.id))
        elif call.id in suspects:
            calls.setdefault(call.id, []).append((index, position, call))
        here.add(call.id)


def _match(sites: list[tuple[int, int, ToolCall]], found: list[tuple[int, ResultSite]]) -> list[CallPair]:
    """Deals the results of one id out to its calls: first in place, then to the nearest call before it, then to the nearest behind it."""
    indexes = [index for index, _, _ in sites]
    placed: dict[int, list[ResultSite]] = {index: [] for index in indexes}
    early: dict[int, list[ResultSite]] = {index: [] for index in indexes}
    late: dict[int, list[ResultSite]] = {index: [] for index in indexes}
    astray: list[ResultSite] = []
    for owner, site in found:
        if owner in placed:
            placed[owner].append(site)
        else:
            astray.append(site)
    for site in astray:
        before = [index for index in indexes if index < site.index]
        hungry = [index for index in before if not placed[index] and not late[index]]
        if before:
            late[(hungry or before)[-1]].append(site)
        else:
            early[indexes[0]].append(site)
    reused = len(sites) > 1
    return [
        CallPair(index, call, position, tuple(placed[index]), tuple(early[index]), tuple(late[index]), reused)
        for index, position, call in sites
        if len(placed[index]) != 1 or early[index] or late[index]
    ]
