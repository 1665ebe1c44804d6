"""Checks a session, or says what was said of it before; see `doctor.api.caching` for what makes that true."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from doctor.api.caching import Cache, Entry
from doctor.api.outcomes import Judged, Outcome
from doctor.api.reading import Target
from doctor.eventlog import EventLog
from doctor.model import Sibling
from doctor.records import Record
from doctor.resuming import IN_PROGRESS
from doctor.session import Session
from doctor.sources.fingerprints import Fingerprint, is_unchanged, take_fingerprint
from doctor.sources.liveness import RECENT_SECONDS, find_locks, probe_liveness
from doctor.sources.siblings import find_sibling
from doctor.sources.surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Memory(Record):
    """Where verdicts are remembered. `salt` stands for all that decides beside a session's bytes; `day` counts from the epoch."""

    folder: str
    salt: bytes
    day: int


class Notes:
    """What a check finds out beside its report: whether it would say the same tomorrow, and what it asked of other sessions."""

    __slots__ = ("is_lasting", "siblings")

    def __init__(self) -> None:
        self.is_lasting = False
        self.siblings: dict[str, Sibling] = {}

    def watch(self, session: Session) -> None:
        """Called between the reading and the rules."""
        log, metadata = session.events, session.metadata or {}
        is_open = log is not None and log.is_open
        # Formats that others keep look elsewhere too: into databases, into events of their own, at the clock.
        is_known = session.transcript.format == "amplifier"
        self.is_lasting = is_known and not (
            session.liveness.is_live or session.liveness.reason or is_open or metadata.get("status") == IN_PROGRESS
        )
        ask = session.find_sibling
        if ask is not None:

            def ask_and_note(session_id: str) -> Sibling:
                found = self.siblings[session_id] = ask(session_id)
                return found

            session.find_sibling = ask_and_note


class Rememberer:
    """Judges one target after the other, with one connection to the cache."""

    def __init__(self, check: Callable[[Target, Notes], Outcome], memory: Memory, how: Mapping[str, Any]) -> None:
        self.check = check
        self.memory = memory
        self.cache = Cache(memory.folder)
        self.how = how
        self.around: Surroundings = how["around"]

    def judge(self, target: Target) -> Judged:
        found = self._take_fingerprint(target)
        known = self.cache.find(found.key) if found is not None else None
        if found is not None and known is not None and self._is_still_true(found, known[0]):
            return Judged(Outcome(known[0].file), found.key if known[1] < self.memory.day else b"")
        notes = Notes()
        outcome = self.check(target, notes)
        if found is None or outcome.file is None or outcome.failures or not notes.is_lasting or not is_unchanged(found):
            return Judged(outcome)
        return Judged(outcome, found.key, Entry(outcome.file, tuple(notes.siblings.items())))

    def _take_fingerprint(self, target: Target) -> Fingerprint | None:
        if not isinstance(target, (str, os.PathLike)):
            return None
        return take_fingerprint(os.fspath(target), self.how["events"], self.memory.salt, self.around)

    def _is_still_true(self, found: Fingerprint, entry: Entry) -> bool:
        """Nobody is in the session, and the sessions that it offers are as they were."""
        folder = found.folder
        if any(find_sibling(folder, session_id) != sibling for session_id, sibling in entry.siblings):
            return False
        name, state_home = entry.file.session_id or os.path.basename(folder), self.how["state_home"]
        locks = find_locks(name, self.around.list_workspaces(state_home)) if state_home else ()
        own, now, names = os.path.basename(found.real), self.how["now"], found.names
        if (
            not locks
            and f".{own}.doctor.lock" not in names
            and own + ".append-pending" not in names
            and now - found.modified > RECENT_SECONDS
        ):
            return True
        log = EventLog(found.own_events, None) if found.own_events else None
        liveness = probe_liveness(
            session_id=name, log=log, now=now, state_home=state_home, path=found.real, names=names, locks=locks, modified=found.modified
        )
        return not liveness.is_live and not liveness.reason
