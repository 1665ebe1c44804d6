"""Where a result belongs, and the edits that bring it there. A move copies the stored bytes of a row; it never writes the row anew."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, pairwise

from doctor.findings import Content, Edit, FileSpan, Fix, LineOf, Safety
from doctor.model import BROKEN_SHAPE, DAMAGED_LINE, MIXED_CONTENT, SHARED_LINE, Backup, Message
from doctor.pairing import CallPair, ResultSite
from doctor.refusals import ACCEPTED, GEMINI, REFUSED, WireVerdict
from doctor.session import Session

DAMAGED = DAMAGED_LINE | BROKEN_SHAPE
TELLING_BYTES = 20
"""`{"role": "assistant"` begins many rows: with fewer bytes than this the place has to tell which one was meant."""
SOUND_GEMINI = WireVerdict(GEMINI, ACCEPTED)
NEAR_LINES = 50
"""A row of the client's backup is looked for this many lines around its old place."""


def find_answer_line(session: Session, index: int) -> int:
    """The line before which a result of the call row `index` is inserted: behind the row and the results that follow it already."""
    return session.transcript.messages[session.transcript.find_break(index + 1) - 1].line + 1


def insert_result(session: Session, pair: CallPair, content: Content) -> Edit:
    """Puts a row behind the call of `pair`; rows that land at the same place keep the order of their calls."""
    line = find_answer_line(session, pair.index)
    return Edit(line, line, (content,), pair.position)


def find_owner(session: Session, index: int) -> int:
    """The index of the message with calls in whose answering run the message at `index` stands; -1 when it stands in none."""
    transcript = session.transcript
    owner = transcript.find_break_before(index)
    while owner >= 0 and transcript.messages[owner].kind == "result":
        owner = transcript.find_break_before(owner)
    return owner if owner >= 0 and transcript.messages[owner].calls else -1


def find_strays(session: Session) -> dict[int, ResultSite]:
    """By the index of a message with calls the first result in its answering run that answers no call at all."""
    return {find_owner(session, site.index): site for site in reversed(session.pairing.orphans)}


def wait_for_stray(session: Session, strays: Mapping[int, ResultSite], pair: CallPair, fix: Fix) -> Fix:
    """A fix that adds a result behind a call, or the same as an unsafe one where it helps only together with taking a stray out.

    Gemini compares numbers: a result too many beside one too few is sound to it, and would no longer be.
    """
    stray = strays.get(pair.index) if GEMINI in session.targets else None
    if stray is None or fix.safety < Safety.SAFE or session.wires.get(GEMINI, SOUND_GEMINI).answer == REFUSED:
        return fix
    title = f"{fix.title}, once the stray result in row {line_of(session, stray) + 1} is out"
    return fix._replace(title=title, safety=Safety.UNSAFE)


def delete_line(line: int) -> Edit:
    return Edit(line, line + 1)


def is_movable(session: Session, site: ResultSite) -> bool:
    """Whether the row of a result holds this result alone, so that it can change its place whole."""
    message = session.transcript.messages[site.index]
    return len(message.results) == 1 and not message.flags & (MIXED_CONTENT | SHARED_LINE)


def line_of(session: Session, site: ResultSite) -> int:
    return session.transcript.messages[site.index].line


def refuse_guess(pair: CallPair, fix: Fix) -> Fix:
    """The fix, or only its title where several calls share the id and it can't be told which of them a result answers."""
    if not pair.ambiguous:
        return fix
    return Fix(f"{fix.title}: by hand, since several calls have this id and their results can't be told apart", Safety.MANUAL)


def move_result(session: Session, pair: CallPair, site: ResultSite) -> Fix:
    """Moves a real result directly behind its call."""
    line, call_line = line_of(session, site), session.transcript.messages[pair.index].line
    title = f"move row {line + 1} behind its call (row {call_line + 1})"
    if not is_movable(session, site):
        return Fix(f"{title}: by hand, the row holds more than this result", Safety.MANUAL)
    return refuse_guess(pair, Fix(title, Safety.SAFE, (delete_line(line), insert_result(session, pair, LineOf(line)))))


def choose_kept(session: Session, pair: CallPair) -> ResultSite | None:
    """The result that stays: a real one before a placeholder, a sound row before a damaged one, what the event log recorded before what
    it did not, one in place before one out of place, the first before later ones."""
    sites = [*pair.placed, *pair.late, *pair.early]
    messages = session.transcript.messages
    recorded = session.recorded_result(pair.call.id) if sum(not site.result.maker for site in sites) > 1 else None

    def weigh(site: ResultSite) -> tuple[bool, bool, bool]:
        message = messages[site.index]
        row = session.transcript.read_row(message.line) if recorded is not None and not recorded.refusal else None
        unlike = isinstance(row, dict) and recorded is not None and row.get("content") != recorded.content
        return bool(site.result.maker), bool(message.flags & DAMAGED), unlike

    return min(sites, key=weigh, default=None)


def is_same_row(session: Session, earlier: int, later: int) -> bool:
    """Whether two call rows are one recorded event: the same bytes, with a time stamp or one right behind the other.

    Rows that got different results are two calls: a model that polls with numbered ids writes the same row again and again.
    """
    transcript = session.transcript
    first, second = transcript.messages[earlier], transcript.messages[later]
    if first.line == second.line or transcript.read_line(first.line) != transcript.read_line(second.line):
        return False
    answers = [_read_answers(session, index) for index in (earlier, later)]
    if all(answers) and answers[0] != answers[1]:
        return False
    row = transcript.read_row(first.line)
    metadata = row.get("metadata") if isinstance(row, dict) else None
    return later == earlier + 1 or (isinstance(metadata, dict) and bool(metadata.get("timestamp")))


def _read_answers(session: Session, index: int) -> list[bytes]:
    """The result rows right behind a call row."""
    transcript = session.transcript
    found = []
    for message in islice(transcript.messages, index + 1, None):
        if not message.results:
            break
        found.append(transcript.read_line(message.line))
    return found


def has_copy(session: Session, pair: CallPair) -> bool:
    """Whether the call's whole row stands twice, so that its copy goes first."""
    indexes = next((indexes for call_id, indexes in session.pairing.reused if call_id == pair.call.id), ())
    return any(is_same_row(session, earlier, later) for earlier, later in pairwise(indexes) if pair.index in (earlier, later))


def find_foreign_turn(session: Session, pair: CallPair, site: ResultSite) -> list[tuple[int, Message]]:
    """The messages between a call and its result that are neither results nor further replies of the same kind of row."""
    low, high = sorted((pair.index, site.index))
    messages = session.transcript.messages
    return [(index, messages[index]) for index in session.transcript.list_breaks(low + 1, high) if not messages[index].results]


def describe_message(session: Session, index: int) -> str:
    """A message as a sentence part: "a foreign assistant turn (row 9)"."""
    message = session.transcript.messages[index]
    names = {
        "prompt": "a user message",
        "reminder": "a reminder",
        "hook": "a row that a hook stored",
        "call": "a foreign assistant turn",
        "reply": "an assistant reply",
        "invented": "a reply that a repair invented",
        "system": "a system message",
    }
    return f"{names.get(message.kind, 'another row')} (row {message.line + 1})"


def restore_or_take_out(session: Session, line: int, prefix: bytes, suffix: bytes = b"") -> Fix:
    """What to do with a line that nothing can read: its whole row from the client's backup, else the quarantine.

    A file of which nothing would be left is not emptied: that is for a person to decide.
    """
    if not session.transcript.messages:
        # AD107 brings the whole backup back where there is one.
        return Fix("no row of this file can be read: restore it from a copy", Safety.MANUAL)
    whole = find_in_backup(session, line, prefix, suffix)
    if whole is not None:
        edits = (Edit(line, line + 1, (whole,)),)
        return Fix(f"restore row {line + 1} from the client's backup", Safety.SAFE, edits, (line,), "transcript.jsonl.backup")
    return Fix(f"take the unreadable line {line + 1} out, into the quarantine", Safety.SAFE, (delete_line(line),), (line,))


def has_debris(body: bytes, parts: tuple[tuple[int, int], ...]) -> bool:
    """Whether a line holds more than its whole records, blanks, NULs and a byte order mark: something that has to be kept."""
    rest = bytearray(body)
    for start, stop in reversed(parts):
        del rest[start:stop]
    return bool(bytes(rest).replace(b"\xef\xbb\xbf", b"").strip(b" \t\r\n\0"))


def find_in_backup(session: Session, line: int, prefix: bytes, suffix: bytes = b"") -> FileSpan | None:
    """The whole row of the client's backup that begins and ends like a damaged one; None when there is none, or more than one kind."""
    backup = session.backup
    if backup is None:
        return None
    if len(prefix) < TELLING_BYTES:
        return _find_in_place(backup, session, line, prefix)
    found: dict[bytes, FileSpan] = {}
    transcript = backup.transcript
    for message in transcript.messages:
        if abs(message.line - line) > NEAR_LINES or message.flags & SHARED_LINE:
            continue
        start = transcript.starts[message.line]
        length = transcript.starts[message.line + 1] - start
        if length < len(prefix) + len(suffix) or transcript.source.read(start, len(prefix)) != prefix:
            continue
        body = transcript.read_line(message.line)
        if body.endswith(suffix) and (message.line == line or not _stands_near(session, line, body)):
            found[body] = FileSpan(backup.path, start, len(body))
    return next(iter(found.values())) if len(found) == 1 else None


def _find_in_place(backup: Backup, session: Session, line: int, prefix: bytes) -> FileSpan | None:
    """A few bytes tell nothing; but where the backup goes on at the very same line, that row is the one that was begun."""
    transcript = backup.transcript
    index = transcript.message_at(line)
    if index is None or transcript.messages[index].flags & SHARED_LINE or line >= transcript.line_count:
        return None
    body = transcript.read_line(line)
    same = line == 0 or session.transcript.read_line(line - 1) == transcript.read_line(line - 1)
    return FileSpan(backup.path, transcript.starts[line], len(body)) if prefix and same and body.startswith(prefix) else None


def _stands_near(session: Session, line: int, body: bytes) -> bool:
    """Whether a row is in the transcript already: then it is not the one that a damaged line began to be."""
    transcript = session.transcript
    near = range(max(0, line - NEAR_LINES), min(transcript.line_count, line + NEAR_LINES))
    sizes = (len(body), len(body) + 1, len(body) + 2)
    return any(transcript.starts[at + 1] - transcript.starts[at] in sizes and transcript.read_line(at) == body for at in near if at != line)
