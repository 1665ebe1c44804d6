"""The event log of an Amplifier session: a fast reader for huge lines, and what the log proves about executions and tool runs.

`read_events` boils a log down, `read_result` fetches one recorded tool result from it.
"""

from __future__ import annotations

from collections.abc import Callable

from doctor.eventlog import EventLog, Moment
from doctor.model import Source
from doctor.sources.events.blocks import BLOCK_BYTES, scan_log
from doctor.sources.events.boiling import Event
from doctor.sources.events.executions import follow_executions
from doctor.sources.events.overlaps import find_overlaps, list_open
from doctor.sources.events.requests import list_requests
from doctor.sources.events.results import read_result
from doctor.sources.events.runs import list_runs, list_unnamed_runs, pair_tools
from doctor.sources.events.sightings import list_problems, select_own
from doctor.sources.source import FileSource

__all__ = ["read_events", "read_result"]

MOMENTS = frozenset((
    "provider:error", "provider:tool_sequence_repaired", "session:resume", "session:fork", "session:end", "cancel:requested",
    "cancel:completed", "context:compaction", "context:post_compact",
))  # fmt: skip
"""Events that are kept as a Moment each. session:start is none: clients of some months wrote it before every execution."""
_FREQUENT = frozenset(("tool:pre", "tool:post", "provider:request", "llm:request", "llm:response"))
"""Nine events out of ten."""


def read_events(
    path: str,
    session_id: str,
    block_bytes: int = BLOCK_BYTES,
    *,
    alias: str = "",
    guess: bool = False,
    watch: Callable[[int, int], None] | None = None,
    source: Source | None = None,
) -> EventLog:
    """Reads an event log in one streaming pass; `watch` is told how many bytes of a large one are read, and of how many.

    `source`: the bytes, when they are not those of `path`.

    `session_id`: whose events count; "" for the session that most of them belong to. Of a log that does not know it, those of `alias`
    count, and with `guess` those of the session that most of them belong to. Raises DoctorError when the file can't be read.
    """
    log = EventLog(path, source or FileSource(path))
    scan = scan_log(log.source, block_bytes, watch)
    own, foreign = select_own(scan.events, session_id, alias, guess)
    log.line_count = scan.line_count
    log.last_time = scan.last_time
    log.problems = list_problems(scan, foreign)
    _interpret(log, own)
    return log


def _interpret(log: EventLog, events: list[Event]) -> None:
    pairs = pair_tools(events)
    story = follow_executions(events, pairs)
    log.executions = tuple(trace.describe() for trace in story.traces)
    log.overlaps, log.abandoned = find_overlaps(story)
    log.still_open = list_open(story)
    log.runs = list_runs(pairs, story.callers)
    log.unnamed = list_unnamed_runs(pairs, story.callers) if len(log.runs) < len(pairs) else ()
    log.requests = list_requests(story, pairs)
    owners = story.callers
    rare = [event for event in events if event[1] not in _FREQUENT]
    log.moments = tuple(
        Moment(event.line, event.time, event.name, owners[event.line].start.line if event.line in owners else -1, event.text)
        for event in rare
        if event.name in MOMENTS
    )
    log.steered = frozenset(event.text_key for event in rare if event.name == "orchestrator:steering_injected")
    log.provider, log.model = _find_client(events)
    log.compacted_line = max((event.line for event in rare if event.name in ("context:compaction", "context:post_compact")), default=-1)
    for trace in story.traces:
        # Executions know their requests and their rivals, and those know them: without a garbage collector such a circle would keep all
        # events alive.
        trace.asked.clear()
        trace.rivals = frozenset()


def _find_client(events: list[Event]) -> tuple[str, str]:
    """The provider and the model of the loop's last request. Other requests, such as those that name a session, have models of their own;
    the loop's own is the first that is sent behind its `provider:request`."""
    provider = ""
    sent: Event | None = None
    for event in reversed(events):
        if event.name == "llm:request":
            sent = event
        elif event.name == "provider:request":
            provider = provider or event.provider
            if sent is not None:
                break
    if sent is None:
        return provider, ""
    return provider or sent.provider, sent.model if sent.provider in ("", provider or sent.provider) else ""
