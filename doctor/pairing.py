"""Which result belongs to which call, and which of them stand where no provider looks for them.

A provider looks for a call's results in the run of result rows right behind the assistant row (contract rule AN-01 and Chat Completions).
Order inside the run is free. Sound groups are recognised in one pass and cost one dictionary entry a call; only the ids of groups that are
not sound are looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.model import Message, ToolCall, ToolResult
from doctor.records import Record


class ResultSite(Record):
    """Where a result stands: the index of its message and which of its results it is."""

    index: int
    result: ToolResult


class CallPair(Record):
    """One call and every result that names it.

    `placed` results stand where a provider looks for them: in the run of results right behind the call. `early` stand before the
    call, `late` behind it but out of place. A call with exactly one placed result and nothing else never appears here.
    """

    index: int
    call: ToolCall
    position: int
    placed: tuple[ResultSite, ...]
    early: tuple[ResultSite, ...]
    late: tuple[ResultSite, ...]
    reused: bool
    """The same id is called elsewhere too."""
    ambiguous: bool = False
    """The id is reused, and which of its calls each result answers can't be told: nothing may be moved, added or taken out."""


class Pairing(Record):
    """What is wrong with the calls and results of one transcript; all empty for a sound one."""

    pairs: tuple[CallPair, ...] = ()
    orphans: tuple[ResultSite, ...] = ()
    twice_in_row: tuple[tuple[int, str], ...] = ()
    """(message index, id) of a row that spells one id twice in one spelling."""
    reused: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """(id, message indexes) of an id that several rows call."""

    @property
    def is_sound(self) -> bool:
        return not (self.pairs or self.orphans or self.twice_in_row)

    def list_unsound_ids(self) -> set[str]:
        """Ids of calls that have not exactly one result in its place, or no call."""
        ids = {pair.call.id for pair in self.pairs} | {site.result.call_id for site in self.orphans}
        return ids | {call_id for _, call_id in self.twice_in_row}


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


class _Dealt:
    """One call of an id, and the results dealt to it so far."""

    def __init__(self, index: int, position: int, call: ToolCall) -> None:
        self.index, self.position, self.call = index, position, call
        self.placed: list[ResultSite] = []
        self.early: list[ResultSite] = []
        self.late: list[ResultSite] = []

    @property
    def real(self) -> int:
        return sum(not site.result.maker for site in (*self.placed, *self.early, *self.late))

    def take(self, site: ResultSite) -> None:
        (self.late if site.index > self.index else self.early).append(site)


def _match(sites: list[tuple[int, int, ToolCall]], found: list[tuple[int, ResultSite]]) -> list[CallPair]:
    """Deals the results of one id out to its calls: first in place, then to the nearest call before it, then to the nearest behind it.

    Models that number their calls anew in each turn reuse ids. A call that has only a placeholder is still hungry; a surplus real result
    goes to a hungry call where the tool's name tells that it is meant, and is ambiguous where two calls could be.
    """
    dealt = {index: _Dealt(index, position, call) for index, position, call in sites}
    astray: list[ResultSite] = []
    for owner, site in found:
        if owner not in dealt or (len(dealt) > 1 and site.result.name not in ("", dealt[owner].call.name) and dealt[owner].placed):
            astray.append(site)
        else:
            dealt[owner].placed.append(site)
    ambiguous = False
    for site in astray:
        hungry = [call for call in dealt.values() if not call.real]
        named = [call for call in hungry if call.call.name == site.result.name] or hungry
        before = [call for call in named if call.index < site.index]
        ambiguous = ambiguous or (len(named) > 1 and not site.result.maker)
        behind = [call for call in dealt.values() if call.index < site.index]
        (before or named or behind or list(dealt.values())[:1])[-1 if before or behind else 0].take(site)
    reals = [call.real for call in dealt.values()]
    ambiguous = len(dealt) > 1 and (ambiguous or (max(reals) > 1 and min(reals) == 0))
    return [
        CallPair(call.index, call.call, call.position, tuple(call.placed), tuple(call.early), tuple(call.late), len(dealt) > 1, ambiguous)
        for call in dealt.values()
        if len(call.placed) != 1 or call.early or call.late or ambiguous
    ]
