"""A run's progress counter goes backwards between two replies.

## Why it matters
The user reads two answers that contradict each other; the later row was written from an older view of the run.

## How it happens
Two turns overlap and each reads the state of one run at a moment of its own.

## How it is fixed
It is only reported: what was said can't be unsaid. The finding is certain only for the same run and the same total with no user message or
restart between; without the name of the run it is possible at most. The run is named in the reply or in the tool receipts right before it.
Where receipts show when each reply read the counter, they decide: the later reply read it earlier, or the run itself went back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from doctor.rulekit import SHOWS_PROGRESS, Confidence, Finding, Record, Related, Session, Severity, evidence, examples, rule, traits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FIRST = examples.user("how far?") + examples.reply("Run 47bf3703 is at step 3/40.")
BAD = FIRST + examples.reply("Run 47bf3703 is at step 1/40.")
GOOD = FIRST + examples.reply("Run 47bf3703 is at step 4/40.")
COUNTER = (
    r"(?i)\b(?:step|task|progress|iteration)\b[\s:#=*_`~(\[→]*(?:(?:is|at|now|still|currently|on|no|number)\b[\s.:#*_`]*){0,3}"
    r"(\d+)\s*(?:/|of)\s*(\d+)(?![\d/%]|\.\d|[-–]\d|\s*(?:%|percent)|\W*(?:fail|pass|error|skip|test|page)\w*)"
)
"""A page, a date, a percentage, a range and the outcome of tests are no progress of a run."""
RUN = r"(?i)\brun[\s_-]*(?:id\b)?[\s:=`#]+([0-9a-f]{6,}|[\w-]*\d[\w-]*)"
RESTART = (
    r"(?i)\b(?:re-?start(?:ed|ing|s)?|re-?run(?:ning)?|retry|retrying|retried|again|new run|start(?:ed|ing)? over|from scratch|"
    r"run \S+ ?:? ?(?:started|created|queued|launched))\b"
)
PHASE = r"(?i)\b(?:phase|stage|round|epoch|batch|milestone)\s+#?(\w+)"
QUOTED = r'(?m)"[^"\n]*"|“[^”]*”|«[^»]*»|^\s*>.*$'


class Progress(Record):
    """What a reply says: `done` of `total`, of which run and phase ("" where it names none)."""

    index: int
    line: int
    run: str
    done: int
    total: int
    phase: str


@rule(code="AD404", name="contradictory-progress", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNUSUAL_ROWS)
def find_contradiction(session: Session) -> Iterator[Finding]:
    messages = session.transcript.messages
    flagged = [index for index in session.transcript.unusual if messages[index].flags & SHOWS_PROGRESS]
    if len(flagged) < 2:
        return
    from doctor.rulekit import conversations

    for conversation in conversations.list_conversations(session):
        own = sorted((index for index in flagged if index in conversation.place), key=conversation.place.__getitem__)
        seen: list[Progress] = []
        for index in own:
            text = evidence.join_text(session.transcript, messages[index])
            if re.search(RESTART, text):
                seen = []
            progress = read_progress(session, conversation, index, text)
            if progress is None:
                continue
            earlier = find_earlier(seen, progress)
            if earlier is not None and is_contradiction(session, conversation, earlier, progress):
                yield describe(session, conversation, earlier, progress)
            seen.append(progress)


def read_progress(session: Session, conversation: Any, index: int, text: str) -> Progress | None:
    """The first counter of a reply, outside of quotes; None where it has none, or only repeats what the user said."""
    if re.search(RESTART, text):
        return None
    plain = re.sub(QUOTED, " ", text)
    counter = re.search(COUNTER, plain)
    if counter is None or int(counter[1]) > int(counter[2]):
        return None
    if any(f"{counter[1]}/{counter[2]}" in said for said in read_block(session, conversation, index, ("prompt",))):
        return None
    phase = re.search(PHASE, plain)
    line = session.transcript.messages[index].line
    run = find_run(session, conversation, index, plain, counter.start())
    return Progress(index, line, run, int(counter[1]), int(counter[2]), phase[1].casefold() if phase else "")


def find_run(session: Session, conversation: Any, index: int, text: str, place: int) -> str:
    """The run that a reply names before its counter, else behind it; else the only one that the receipts right before the reply name."""
    named = list(re.finditer(RUN, text))
    before = [found[1] for found in named if found.start() < place]
    if named:
        return before[-1] if before else str(named[0][1])
    runs = {found[1] for said in read_block(session, conversation, index, ("system", "result")) for found in re.finditer(RUN, said)}
    return runs.pop() if len(runs) == 1 else ""


def read_block(session: Session, conversation: Any, index: int, kinds: tuple[str, ...]) -> Iterator[str]:
    """The texts of the receipts right before a reply, or of the user messages of its stretch."""
    messages = session.transcript.messages
    found = False
    for place in range(conversation.place[index] - 1, -1, -1):
        message = messages[conversation.order[place]]
        if message.kind in kinds:
            found = True
            yield evidence.join_text(session.transcript, message)
        elif message.kind == "prompt" or (message.kind == "reply" and (found or "prompt" not in kinds)):
            return


def find_earlier(seen: list[Progress], progress: Progress) -> Progress | None:
    """The last reply about the same run; where one side names no run, simply the last."""
    same = [one for one in seen if one.run == progress.run]
    if progress.run and same:
        return same[-1]
    return seen[-1] if seen and not (progress.run and seen[-1].run) else None


def is_contradiction(session: Session, conversation: Any, before: Progress, after: Progress) -> bool:
    if after.done >= before.done or after.total != before.total or after.phase != before.phase:
        return False
    between = conversation.order[conversation.place[before.index] + 1 : conversation.place[after.index]]
    messages = [session.transcript.messages[index] for index in between]
    if any(message.kind == "prompt" for message in messages):
        return False
    told = (message for message in messages if message.kind in ("system", "result", "aside", "reply"))
    return not any(re.search(RESTART, evidence.join_text(session.transcript, message)) for message in told)


def describe(session: Session, conversation: Any, before: Progress, after: Progress) -> Finding:
    from doctor.rulekit import conversations, notes

    named = conversations.name_row(session, before.index)
    place = named.replace(" (", ", ").rstrip(")")
    text = f"progress goes back from {before.done}/{before.total} ({place}) to {after.done}/{after.total}"
    related = [Related(before.line, "says more"), Related(after.line, "says less, later")]
    times = [session.note(one.index).time for one in (before, after)]
    is_certain = bool(after.run) and after.run == before.run
    text += f" for run {after.run}" if is_certain else ""
    if times[0] is not None and times[1] is not None:
        name = session.note(after.index).id
        text += f" ({f'{name}, ' if name else ''}{notes.write_clock(times[1])}, {times[1] - times[0]:.1f} s later)"
    why = "proof: both name the run" if is_certain else ""
    samples = [find_sample(session, conversation, one) for one in (before, after)]
    if samples[0] is not None and samples[1] is not None:
        rows = [session.transcript.messages[index].line for index, _ in samples]  # type: ignore[misc]
        clocks = [notes.write_clock(time) for _, time in samples]  # type: ignore[misc]
        related += [Related(row, f"read at {clock}") for row, clock in zip(rows, clocks, strict=True)]
        if samples[1][1] < samples[0][1]:
            stale = f"a stale reading: the later reply read the counter first, at {clocks[1]} (row {rows[1] + 1}), the other at {clocks[0]}"
            why = f"{why}; {stale}" if why else stale
        else:
            why, is_certain = "the run's own reports went back in the same order: it may have started over", False
    if is_certain:
        return Finding(after.line, text, None, tuple(related), why=why)
    return Finding(after.line, text, None, tuple(related), confidence=Confidence.POSSIBLE, at_most=Severity.INFO, why=why)


def find_sample(session: Session, conversation: Any, progress: Progress) -> tuple[int, float] | None:
    """(row, time) of the receipt or tool result that a reply took its counter from. A time that is the reply's own says nothing: receipts
    are often stored together with it."""
    turn = session.note(progress.index).turn
    own = session.note(progress.index).time
    for index in list_candidates(session, conversation, progress.index, turn):
        time = session.note(index).time
        said = evidence.join_text(session.transcript, session.transcript.messages[index])
        if f"{progress.done}/{progress.total}" in said and time is not None and time != own:
            return index, time
    return None


def list_candidates(session: Session, conversation: Any, index: int, turn: str) -> Iterable[int]:
    """Receipts and results before a reply, the nearest first: those of its turn; without turn ids those right before it."""
    for place in range(conversation.place[index] - 1, -1, -1):
        other = conversation.order[place]
        message = session.transcript.messages[other]
        if message.kind in ("system", "result") and (not turn or session.note(other).turn == turn):
            yield other
        elif message.kind == "prompt" or (message.kind == "reply" and not turn):
            return
