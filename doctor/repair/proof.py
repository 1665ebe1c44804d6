"""Proves a plan without trusting the rules that made it: nothing new is wrong, what was fixed is gone, and no recorded row is lost.

The check works on what a reader finds in the planned file. Lines that stayed are spans of the old file and need no look; every other line
has to be accounted for by its bytes.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

from doctor.analysis.engine import Diagnosis
from doctor.findings import Diagnostic, Safety, Severity
from doctor.jsontext import read_json
from doctor.model import LineProblem, Message, Transcript
from doctor.placeholders import MARK
from doctor.records import Record
from doctor.repair.changes import LineChanges
from doctor.repair.pieces import PiecedSource
from doctor.session import Session

Key = tuple[str, object]

UNCOVERED = frozenset({"AD401"})
"""What no edit brings about, but what may come to light when other rows leave the end: a prompt without a reply never had one."""


class Departure(Record):
    """A quarantined line and what must be true of the planned file for it to leave the transcript.

    `needs`: "" (a placeholder or unreadable), "result" (a real result for `ids` stays) or "copy" (the same bytes stay on another line).
    """

    body_hash: bytes
    length: int
    needs: str
    ids: tuple[str, ...]
    line: int


def name_finding(found: Diagnostic) -> Key:
    """What stays the same about a finding while rows move: its ids, or its message without the numbers in it."""
    return (found.code, found.ids) if found.ids else (found.code, re.sub(r"\d+", "#", found.message))


def hash_line(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).digest()


class Proof:
    """Collects round by round what the final check needs; `find_flaw` then says what is wrong with the plan, "" if nothing is."""

    def __init__(self, session: Session, before: Diagnosis) -> None:
        self._old = session.transcript
        self._is_view = session.is_record
        self._must_mark = session.recover and session.transcript.format == "amplifier"
        self._known_ids: set[tuple[str, str]] = set()
        self._known: Counter[Key] = Counter()
        self._peak: Counter[Key] = Counter()
        self._fixed: Counter[Key] = Counter()
        self._released: set[bytes] = set()
        self._departures: list[Departure] = []
        self._damaged: tuple[Transcript | None, frozenset[int]] = (None, frozenset())
        self._learn(before.diagnostics)
        self._count_peak(before.diagnostics)

    def note_round(self, diagnosis: Diagnosis, chosen: Sequence[Diagnostic]) -> None:
        self._fixed.update(name_finding(found) for found in chosen)
        self._count_peak(diagnosis.diagnostics)
        if chosen[0].fix_pass == 1:
            # Rows that could not be read before say for the first time what is wrong with them. That is no harm done by the fix.
            self._learn(diagnosis.diagnostics)
        elif chosen[0].fix_pass == 5:
            # A turn that came back shows what the log has beyond it: that was lost before, too.
            self._learn([found for found in diagnosis.diagnostics if found.fix_pass == 5])

    def _learn(self, diagnostics: Sequence[Diagnostic]) -> None:
        errors = [found for found in diagnostics if found.severity is Severity.ERROR]
        self._known_ids.update((found.code, call_id) for found in errors for call_id in found.ids)
        self._known |= Counter(name_finding(found) for found in errors if not found.ids)

    def _count_peak(self, diagnostics: Sequence[Diagnostic]) -> None:
        self._peak |= Counter(name_finding(found) for found in diagnostics)

    def release(self, transcript: Transcript, lines: Iterable[int]) -> None:
        """Lines that an unsafe fix changes, moves or takes out: the user agreed to that."""
        self._released.update(hash_line(transcript.read_line(line)) for line in lines)

    def note_quarantined(self, session: Session, line: int, safety: Safety) -> None:
        transcript = session.transcript
        body = transcript.read_line(line)
        messages = self.find_messages(transcript, line)
        results = [result for message in messages for result in message.results]
        only_results = bool(results) and all(message.kind == "result" for message in messages)
        if self._damaged[0] is not transcript:
            self._damaged = (transcript, frozenset(problem.line for problem in transcript.line_problems))
        damaged = line in self._damaged[1]
        needs, ids = "copy", ()
        if damaged or safety < Safety.SAFE or (only_results and all(result.maker for result in results)):
            needs = ""
        elif only_results:
            needs, ids = "result", tuple(result.call_id for result in results)
        self._departures.append(Departure(hash_line(body), len(body), needs, ids, line))

    @staticmethod
    def find_messages(transcript: Transcript, line: int) -> list[Message]:
        """All messages on a line. Messages stand in the order of their lines."""
        messages = transcript.messages
        index = bisect_left(messages, line, key=lambda message: message.line)
        found = []
        while index < len(messages) and messages[index].line == line:
            found.append(messages[index])
            index += 1
        return found

    def find_flaw(self, session: Session, after: Diagnosis, changes: LineChanges) -> str:
        form = self._old.form
        if form is not None:
            found = self._find_new_error(after.diagnostics) or self._find_unfixed(after.diagnostics)
            return found or str(form.find_loss(self._old, session.transcript))
        return (
            self._find_new_error(after.diagnostics)
            or self._find_unfixed(after.diagnostics)
            or self._find_unmarked_row(session.transcript)
            or self._find_lost_row(session.transcript, changes)
            or self._find_wrong_departure(session.transcript)
            or self._find_wrong_move(session.transcript, changes)
        )

    def _find_new_error(self, diagnostics: Sequence[Diagnostic]) -> str:
        errors = [found for found in diagnostics if found.severity is Severity.ERROR and found.code not in UNCOVERED]
        for found in errors:
            for call_id in found.ids:
                if (found.code, call_id) not in self._known_ids:
                    return f"it would cause {found.code} in row {found.line}: {found.message}"
        more = Counter(name_finding(found) for found in errors if not found.ids) - self._known
        return f"it would cause {next(iter(more))[0]}: {next(iter(more))[1]}" if more else ""

    def _find_unfixed(self, diagnostics: Sequence[Diagnostic]) -> str:
        left = Counter(name_finding(found) for found in diagnostics)
        for key, count in self._fixed.items():
            if left[key] > max(0, self._peak[key] - count):
                return f"{key[0]} is still there after its fix: {key[1]}"
        return ""

    def _find_unmarked_row(self, new: Transcript) -> str:
        """What a recovery adds is a recorded row byte for byte, or says in its metadata where it comes from."""
        if not self._must_mark or self._released or not isinstance(new.source, PiecedSource):
            return ""
        added = [row for piece in new.source.pieces if isinstance(piece, bytes) for row in piece.split(b"\n") if row.strip()]
        return "" if all(is_marked(row) for row in added) else "it would add a row that does not say where it comes from"

    def _find_lost_row(self, new: Transcript, changes: LineChanges) -> str:
        """Every line that is gone from its place has to stand elsewhere, or be in the quarantine."""
        arrived = Counter(hash_line(new.read_line(line)) for line in changes.added)
        quarantined = Counter(departure.body_hash for departure in self._departures)
        problems: dict[int, LineProblem] = {problem.line: problem for problem in self._old.line_problems if problem.parts}
        for line in changes.removed:
            body = self._old.read_line(line)
            in_quarantine = False
            if not body.strip():
                continue
            if not _take(arrived, hash_line(body)):
                in_quarantine = _take(quarantined, hash_line(body))
                problem = problems.get(line)
                if problem is not None:
                    if self._find_lost_part(body, problem, arrived, quarantined, in_quarantine):
                        return f"a record on row {line + 1}, or a piece of one, would be lost"
                elif not in_quarantine and hash_line(body) not in self._released:
                    return f"row {line + 1} would be lost"
        return ""

    def _find_lost_part(
        self, body: bytes, problem: LineProblem, arrived: Counter[bytes], quarantined: Counter[bytes], in_quarantine: bool
    ) -> bool:
        """A line of several records, or one record among debris: each record counts for itself, and so does the rest."""
        if hash_line(body) in self._released:
            return False
        rest = bytearray(body)
        for start, stop in reversed(problem.parts):
            key = hash_line(body[start:stop])
            # Told apart at the wrong byte, a record would be split as damage and then thrown out as damage.
            if not is_json(body[start:stop]):
                return True
            if not (_take(arrived, key) or _take(quarantined, key) or key in self._released):
                return True
            del rest[start:stop]
        return not in_quarantine and bool(bytes(rest).replace(b"\xef\xbb\xbf", b"").strip(b" \t\r\n\0"))

    def _find_wrong_departure(self, new: Transcript) -> str:
        """Only placeholders, copies and unreadable lines may go; what stays instead is looked for in the planned file."""
        if not any(departure.needs for departure in self._departures):
            return ""
        wanted = {call_id for departure in self._departures for call_id in departure.ids}
        real = {result.call_id for message in new.messages for result in message.results if result.call_id in wanted and not result.maker}
        lengths = {departure.length for departure in self._departures if departure.needs == "copy"}
        copies = {hash_line(new.read_line(line)) for line in _find_lines_of(new, lengths)} if lengths else set()
        for departure in self._departures:
            if departure.needs == "result" and not real.issuperset(departure.ids):
                return f"the real result of {departure.ids[0]} would leave the transcript"
            if departure.needs == "copy" and departure.body_hash not in copies:
                return f"row {departure.line + 1} would leave the transcript although it is no placeholder, no copy and readable"
        return ""

    def _find_wrong_move(self, new: Transcript, changes: LineChanges) -> str:
        """Rows may move only to stand behind their call. A view of a platform's record is made for sending: any order will do."""
        if self._is_view:
            return ""
        called: dict[int, set[str]] = {}
        for old_line, line in changes.moved:
            if hash_line(self._old.read_line(old_line)) in self._released:
                continue
            if not _stands_behind_call(new, line, called):
                return f"row {old_line + 1} would move to a place that is not behind its call"
        return ""


def is_marked(body: bytes) -> bool:
    """Whether a row says in its metadata that the doctor wrote it, and from what."""
    try:
        mark = read_json(body)["metadata"][MARK]
        return isinstance(mark["code"], str) and isinstance(mark["from"], str)
    except (ValueError, RecursionError, LookupError, TypeError):
        return False


def is_json(body: bytes) -> bool:
    try:
        # A byte that is not UTF-8 inside a record is a matter of its own (AD105): the record is a record all the same.
        read_json(body.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return False
    return True


def _take(counter: Counter[bytes], key: bytes) -> bool:
    if counter[key] <= 0:
        return False
    counter[key] -= 1
    return True


def _find_lines_of(transcript: Transcript, lengths: set[int]) -> Iterable[int]:
    """Lines whose length, with any line end, is one of these."""
    possible = {length + end for length in lengths for end in (0, 1, 2)}
    starts = transcript.starts
    return (line for line in range(transcript.line_count) if starts[line + 1] - starts[line] in possible)


def _stands_behind_call(transcript: Transcript, line: int, called: dict[int, set[str]]) -> bool:
    """Whether the results on a line answer the calls of the message that their run begins behind. `called`: its ids by its index."""
    messages = transcript.messages
    index = bisect_left(messages, line, key=lambda message: message.line)
    if index >= len(messages) or messages[index].line != line or messages[index].kind != "result":
        return False
    owner = transcript.find_break_before(index)
    while owner >= 0 and messages[owner].kind == "result":
        owner = transcript.find_break_before(owner)
    if owner not in called:
        called[owner] = {call.id for call in messages[owner].calls} if owner >= 0 else set()
    return {result.call_id for result in messages[index].results} <= called[owner]
