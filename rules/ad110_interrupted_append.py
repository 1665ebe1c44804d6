"""The client announced an append to the transcript and did not finish it.

## Why it matters
The last complete state is the client's backup. Rows that were on their way may stand in the transcript, in the announcement, or nowhere
but in the event log.

## How it happens
Newer clients append rows instead of rewriting the file, and note it in `transcript.jsonl.append-pending` until the append is done. One
that is killed in between leaves the note behind.

## How it is fixed
Rows of the backup and of the announcement that the transcript lacks are put back byte for byte with `fix --recover`, if the transcript
agrees with the backup as far as it goes. Rows that are there already stay. The note itself is the client's and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Fix, Safety, Session, Severity, examples, rule, traits

FIRST = examples.user("one") + examples.reply("1")
BAD = {"transcript.jsonl": FIRST, "transcript.jsonl.append-pending": examples.user("two"), "transcript.jsonl.backup": FIRST}
GOOD = {"transcript.jsonl": FIRST + examples.user("two"), "transcript.jsonl.backup": FIRST}


@rule(code="AD110", name="interrupted-append", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.PENDING_APPEND)
def find_interrupted_append(session: Session) -> Iterator[Finding]:
    if session.pending is None or session.liveness.is_live:
        return
    text = "the client did not finish an append: transcript.jsonl.append-pending lies beside the transcript"
    from doctor.rulekit import recovery

    found = recovery.plan_append(session)
    if not found.edits:
        yield Finding(None, f"{text}; {found.reason}", at_most=Severity.INFO)
    elif session.recover:
        title = f"put {found.rows} rows back" if found.rows != 1 else "put the row back"
        yield Finding(None, text, Fix(f"{title} at the end", Safety.SAFE, found.edits, (), found.source))
    else:
        title = f"put {found.rows} rows back with --recover" if found.rows != 1 else "put the row back with --recover"
        yield Finding(None, text, Fix(title, Safety.MANUAL, source=found.source, recoverable=True))
