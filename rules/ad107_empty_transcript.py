"""The transcript is empty, or nothing in it can be read, although a backup or the event log knows better.

## Why it matters
The client loads an empty file as an empty conversation, without a word: the whole session seems gone.

## How it happens
A crash between emptying the file and writing it, or a full disk.

## How it is fixed
All rows of the client's backup are put back; lines that can't be read go to the quarantine. Where only the event log knows the session,
`fix --recover` rebuilds the rows from it. An empty transcript of which nothing else knows anything is only noted.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Edit, FileSpan, Finding, Fix, Safety, Session, Severity, rule, traits

BAD = {"transcript.jsonl": "", "transcript.jsonl.backup": '{"role": "user", "content": "hi"}\n'}
GOOD = {"transcript.jsonl": '{"role": "user", "content": "hi"}\n', "transcript.jsonl.backup": '{"role": "user", "content": "hi"}\n'}


@rule(code="AD107", name="empty-transcript", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.NO_ROWS)
def find_empty_transcript(session: Session) -> Iterator[Finding]:
    transcript = session.transcript
    if (session.unsaved and not session.recover) or transcript.messages or transcript.shape_problem_count:
        return
    backup = session.backup
    rows = len(backup.transcript.messages) if backup is not None else 0
    executions = len(session.events.executions) if session.events is not None else 0
    if transcript.line_problems:
        if rows:
            text = f"no row of the transcript can be read, but the client's backup holds {rows} rows"
            yield Finding(None, text, restore_backup(session, rows))
        elif executions:
            text = "no row of the transcript can be read, and there is no backup, but the event log is there"
            yield Finding(None, text, offer_rebuilding(session))
        return
    if rows:
        yield Finding(None, f"the transcript is empty, but the client's backup holds {rows} rows", restore_backup(session, rows))
    elif executions:
        text = f"the transcript is empty, but the event log holds {executions} execution{'s' if executions > 1 else ''}"
        yield Finding(None, text, offer_rebuilding(session))
    else:
        yield Finding(None, "the transcript is empty, and nothing beside it says what it held", at_most=Severity.INFO)


def restore_backup(session: Session, rows: int) -> Fix:
    assert session.backup is not None
    transcript, path = session.backup.transcript, session.backup.path
    lines = dict.fromkeys(message.line for message in transcript.messages)
    spans = tuple(FileSpan(path, transcript.starts[line], len(transcript.read_line(line))) for line in lines)
    edit = Edit(0, session.transcript.line_count, spans)
    unreadable = tuple(dict.fromkeys(problem.line for problem in session.transcript.line_problems))
    return Fix(f"restore {rows} rows from the client's backup", Safety.SAFE, (edit,), unreadable, "transcript.jsonl.backup")


def offer_rebuilding(session: Session) -> Fix:
    if not session.recover:
        return Fix("rebuild it from the event log with --recover", Safety.MANUAL, recoverable=True)
    from doctor.rulekit import recovery

    found = recovery.plan_transcript(session, "AD107")
    if not found.edits:
        return Fix(f"nothing can be rebuilt: {found.reason}", Safety.MANUAL, missing=found.missing)
    unreadable = tuple(dict.fromkeys(problem.line for problem in session.transcript.line_problems))
    title = f"rebuild {found.rows} row{'s' if found.rows != 1 else ''} from the event log"
    return Fix(title, Safety.SAFE, found.edits, unreadable, found.source, missing=found.missing)
