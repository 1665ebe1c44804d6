"""Plans the fix of one session, pass by pass, and proves the plan before anybody may write it. Reads, never writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doctor.analysis.engine import Diagnosis, diagnose
from doctor.findings import AppliedFix, Diagnostic, Failure, Fix, Safety
from doctor.records import Record
from doctor.repair.answers import Answers
from doctor.repair.changes import compare_lines, measure_line
from doctor.repair.edits import apply_and_trace, choose, list_lines
from doctor.repair.pieces import Piece, PiecedSource, Span
from doctor.repair.plans import Plan, Quarantined
from doctor.repair.proof import Proof
from doctor.repair.rereading import reread_edited
from doctor.rulekit import Rule
from doctor.session import Session

__all__ = ["Plan", "plan_fix"]

MOST_ROUNDS = 20
TAIL = 4096
READABLE = frozenset({"surrogate", "constant", "duplicate-key", "utf8"})
"""Problems of a line that holds one whole record all the same, if any: moving its bytes can't make it worse."""


class NotPlanned(Exception):
    """Why there is no plan. `kind` as in Failure."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def plan_fix(session: Session, rules: Sequence[Rule], safety: Safety = Safety.SAFE) -> Plan:
    """Applies fixes of at least this safety until none is left, lowest pass first, and proves the outcome.

    Fixes of a pass go in together where they don't clash. If that can't be proved, each code gets a round of its own: the one thing that
    two rules can't know is what the other one is about to do. If that fails too, one code is left out, an unsafe one first: a rule with
    a flaw must not keep all others from helping. If even that fails, nothing is planned.
    """
    before = diagnose(session, rules)
    safety = max(safety, Safety.UNSAFE)
    ways = [Way(False), Way(True)]
    failure = None
    while ways:
        draft = _Draft(session, rules, safety, before, ways.pop(0))
        try:
            return draft.finish()
        except NotPlanned as error:
            if failure is None:
                failure = Failure(session.transcript.path, error.kind, f"{session.transcript.path}: {error}; nothing was written")
                if error.kind != "internal":
                    break
            elif draft.way.without == "" and not ways:
                codes = sorted({(fix.safety, fix.code) for fix in draft.applied})
                ways = [Way(True, code, str(error)) for _, code in codes] if len(codes) > 1 else []
    transcript = session.transcript
    nothing = compare_lines(transcript, transcript)
    return Plan(session, before, session, before, transcript.source, False, (), tuple(_list_held_back(before)), (), nothing, b"", failure)


class Way(Record):
    """How to try: a round for each code or for each pass, and perhaps without the fixes of one code, and why."""

    by_code: bool
    without: str = ""
    reason: str = ""


class _Draft:
    """One attempt at a plan: the rounds, and what the proof has to know about each."""

    def __init__(self, session: Session, rules: Sequence[Rule], safety: Safety, before: Diagnosis, way: Way) -> None:
        self.session = session
        self.rules = rules
        self.safety = safety
        self.before = before
        self.way = way
        self.applied: list[AppliedFix] = []
        self.quarantined: list[Quarantined] = []
        self.proof = Proof(session, before)
        self.answers = Answers(session)
        source = session.transcript.source
        self.tail = source.read(max(0, source.size - TAIL), min(TAIL, source.size))

    def finish(self) -> Plan:
        current, after = self._run_rounds()
        try:
            changes = compare_lines(self.session.transcript, current.transcript)
        except ValueError as error:
            raise NotPlanned("internal", f"{error}: plan from the file on disk, not from a planned one") from error
        flaw = (self.proof.find_flaw(current, after, changes) or self.answers.find_new(current)) if self.applied else ""
        if flaw:
            raise NotPlanned("internal", f"the fix could not be proved, {flaw}; please report it")
        left = self.answers.find_left(current) if self.applied else ""
        if left:
            raise NotPlanned("refused", f"after the fix {left}{self._suggest(after)}")
        return Plan(
            session=self.session,
            before=self.before,
            after_session=current,
            after=after,
            source=current.transcript.source,
            changed=bool(self.applied),
            applied=tuple(self.applied),
            held_back=tuple(_list_held_back(after, self.way)),
            quarantined=tuple(self.quarantined),
            changes=changes,
            tail=self.tail,
        )

    def _suggest(self, after: Diagnosis) -> str:
        held = self.safety > Safety.UNSAFE and any(found.fix and found.fix.safety is Safety.UNSAFE for found in after.diagnostics)
        return " (fixes that need --unsafe are on offer)" if held else ""

    def _run_rounds(self) -> tuple[Session, Diagnosis]:
        current, diagnosis = self.session, self.before
        source = self.session.transcript.source
        seen: set[tuple[Piece, ...]] = {(Span(source, 0, source.size),)}
        for number in range(1, (2 if self.way.by_code else 1) * MOST_ROUNDS + 2):
            if diagnosis.failures:
                raise NotPlanned("rule-crash", f"can't plan a fix: {diagnosis.failures[0].message}")
            chosen = pick_fixes(current, diagnosis, self.safety, self.way)
            if not chosen:
                return current, diagnosis
            edits = [edit for found in chosen if found.fix is not None for edit in found.fix.edits]
            try:
                source, runs = apply_and_trace(current.transcript, edits)
            except ValueError as error:
                raise NotPlanned("internal", f"the fixes of {chosen[0].code} can't be applied: {error}; please report it") from error
            if source.pieces in seen:
                break
            seen.add(source.pieces)
            self._note_round(current, chosen, number)
            current = reread_edited(current, source, runs)
            diagnosis = diagnose(current, self.rules)
            self.proof.note_round(diagnosis, chosen)
            if chosen[0].fix_pass == 1:
                self.answers.note_restored(current)
        raise NotPlanned("internal", "the fix does not come to an end, each round finds something new; please report it")

    def _note_round(self, current: Session, chosen: Sequence[Diagnostic], number: int) -> None:
        for found in chosen:
            fix = found.fix
            if fix is None:
                continue
            self.applied.append(AppliedFix(found.code, fix.title, fix.safety, number, fix.source, missing=fix.missing))
            if fix.safety < Safety.SAFE:
                self.proof.release(current.transcript, list_lines(fix))
            for line in fix.quarantined:
                item = self._cut_line(current, line, found.code)
                if item is not None:
                    self.quarantined.append(item)
                    self.proof.note_quarantined(current, line, fix.safety)

    def _cut_line(self, current: Session, line: int, code: str) -> Quarantined | None:
        """A line's bytes as spans of the file. None for a placeholder that this plan itself had put there."""
        transcript = current.transcript
        base = self.session.transcript
        start, length = transcript.starts[line], measure_line(transcript, line)
        source = transcript.source
        content = source.cut(start, length) if isinstance(source, PiecedSource) else [Span(source, start, length)]
        recorded = [piece for piece in content if isinstance(piece, Span) and piece.source is base.source]
        if recorded:
            return Quarantined(find_line(base.starts, recorded[0].offset) + 1, code, tuple(content))
        messages = self.proof.find_messages(transcript, line)
        own = bool(messages) and all(result.maker == "doctor" for message in messages for result in message.results)
        return None if own and all(message.results for message in messages) else Quarantined(0, code, tuple(content))


def find_line(starts: Sequence[int], offset: int) -> int:
    """The line that a byte offset lies in."""
    from bisect import bisect_right

    return bisect_right(starts, offset) - 1


def pick_fixes(session: Session, diagnosis: Diagnosis, safety: Safety, way: Way = Way(False)) -> list[Diagnostic]:  # noqa: B008 - frozen
    """The fixes to apply in one round: of the lowest pass that has any, those that do not clash."""
    offered = [found for found in diagnosis.diagnostics if found.fix is not None and found.fix.safety >= safety and found.fix.edits]
    offered = [found for found in offered if found.code != way.without and (found.fix_pass == 1 or not touches_damage(session, found.fix))]
    if not offered:
        return []
    first = min(found.code if way.by_code else found.code[:3] for found in offered)
    group = [found for found in offered if found.code.startswith(first)]
    return [group[index] for index in choose([found.fix for found in group if found.fix is not None]).accepted]


def touches_damage(session: Session, fix: Fix | None) -> bool:
    """Whether a fix of a later pass would work on a line that nobody can read properly, since its own fix was not wanted."""
    if fix is None:
        return False
    damaged = {problem.line: problem.kind for problem in session.transcript.line_problems if problem.kind not in READABLE}
    if not damaged:
        return False
    if any(line in damaged for line in list_lines(fix)):
        return True
    # Behind a torn line there is no line end to start from; behind glued records another record may be the last; before a byte order
    # mark there is no place in a file.
    places = {edit.start for edit in fix.edits if edit.start == edit.stop}
    return any(damaged.get(place - 1) in ("torn", "glued") or damaged.get(place) == "bom" for place in places)


def _list_held_back(diagnosis: Diagnosis, way: Way = Way(False)) -> Iterator[AppliedFix]:  # noqa: B008 - frozen
    for found in diagnosis.diagnostics:
        fix = found.fix
        if fix is not None:
            title = f"{fix.title} ({way.reason})" if found.code == way.without else fix.title
            yield AppliedFix(found.code, title, fix.safety, 0, fix.source, fix.recoverable, fix.missing)
