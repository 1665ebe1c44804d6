"""A run's progress counter goes backwards between two replies.

## Why it matters
The user reads two answers that contradict each other; the later row was written from an older view of the run.

## How it happens
Two turns overlap and each reads the state of one run at a moment of its own.

## How it is fixed
It is only reported. The finding is certain only for the same run and the same total with no user message or restart between; without
the name of the run it is possible at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.rulekit import SHOWS_PROGRESS, Confidence, Finding, Record, Related, Session, Severity, examples, rule

FIRST = examples.user("how far?") + examples.reply("Run 47bf3703 is at step 3/40.")
BAD = FIRST + examples.reply("Run 47bf3703 is at step 1/40.")
GOOD = FIRST + examples.reply("Run 47bf3703 is at step 4/40.")
COUNTER = r"(?i)\b(?:step|task|progress|iteration)\b[^\n]{0,12}?(\d+)\s*(?:/|of)\s*(\d+)"
RUN = r"(?i)\brun\s+(?:id\s+)?[`#]?([0-9a-f]{6,}|[\w-]*\d[\w-]*)"
RESTART = r"(?i)\b(?:restart|retry|retrying|again|new run|start(?:ed|ing)? over)\b"


class Progress(Record):
    line: int
    run: str
    done: int
    total: int


@rule(code="AD404", name="contradictory-progress", severity=Severity.WARNING, bad=BAD, good=GOOD)
def find_contradiction(session: Session) -> Iterator[Finding]:
    messages = session.transcript.messages
    previous: tuple[int, Progress] | None = None
    for index in session.transcript.unusual:
        if not messages[index].flags & SHOWS_PROGRESS:
            continue
        progress = read_progress(session, messages[index].line)
        if progress is None:
            previous = None
            continue
        if previous is not None and is_contradiction(session, previous, (index, progress)):
            earlier = previous[1]
            same_run = bool(progress.run) and progress.run == earlier.run
            text = f"progress goes back from {earlier.done}/{earlier.total} (row {earlier.line + 1}) to {progress.done}/{progress.total}"
            related = (Related(earlier.line, "says more"), Related(progress.line, "says less, later"))
            if same_run:
                yield Finding(progress.line, f"{text} for run {progress.run}", None, related)
            else:
                yield Finding(progress.line, text, None, related, confidence=Confidence.POSSIBLE, at_most=Severity.INFO)
        previous = (index, progress)


def read_progress(session: Session, line: int) -> Progress | None:
    row = session.transcript.read_row(line)
    content = row.get("content") if isinstance(row, dict) else ""
    if isinstance(content, list):
        content = " ".join(block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))
    counter = re.search(COUNTER, content)
    if counter is None or int(counter[1]) > int(counter[2]) or re.search(RESTART, content):
        return None
    run = re.search(RUN, content)
    return Progress(line, run[1] if run else "", int(counter[1]), int(counter[2]))


def is_contradiction(session: Session, earlier: tuple[int, Progress], later: tuple[int, Progress]) -> bool:
    (first, before), (second, after) = earlier, later
    if after.done >= before.done or after.total != before.total or (before.run and after.run and before.run != after.run):
        return False
    return not any(message.kind == "prompt" for message in session.transcript.messages[first:second])
