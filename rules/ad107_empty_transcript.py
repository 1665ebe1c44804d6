"""The transcript is empty although a backup or the event log knows better.

## Why it matters
The client loads an empty file as an empty conversation, without a word: the whole session seems gone.

## How it happens
A crash between emptying the file and writing it, or a full disk.

## How it is fixed
All rows of the client's backup are put back. An empty transcript of which nothing else knows anything is only noted.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Edit, FileSpan, Finding, Fix, Safety, Session, Severity, rule

BAD = {"transcript.jsonl": "", "transcript.jsonl.backup": '{"role": "user", "content": "hi"}\n'}
GOOD = {"transcript.jsonl": '{"role": "user", "content": "hi"}\n', "transcript.jsonl.backup": '{"role": "user", "content": "hi"}\n'}


@rule(code="AD107", name="empty-transcript", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_empty_transcript(session: Session) -> Iterator[Finding]:
    transcript = session.transcript
    if transcript.messages or transcript.line_problems or transcript.shape_problem_count:
        return
    backup = session.backup
    rows = len(backup.transcript.messages) if backup is not None else 0
    executions = len(session.events.executions) if session.events is not None else 0
    if rows:
        yield Finding(None, f"the transcript is empty, but the client's backup holds {rows} rows", restore_backup(session, rows))
    elif executions:
        yield Finding(None, f"the transcript is empty, but the event log holds {executions} execution{'s' if executions > 1 else ''}")
    else:
        yield Finding(None, "the transcript is empty, and nothing beside it says what it held", at_most=Severity.INFO)


def restore_backup(session: Session, rows: int) -> Fix:
    assert session.backup is not None
    transcript, path = session.backup.transcript, session.backup.path
    lines = dict.fromkeys(message.line for message in transcript.messages)
    spans = tuple(FileSpan(path, transcript.starts[line], len(transcript.read_line(line))) for line in lines)
    edit = Edit(0, session.transcript.line_count, spans)
    return Fix(f"restore {rows} rows from the client's backup", Safety.SAFE, (edit,), (), "transcript.jsonl.backup")
