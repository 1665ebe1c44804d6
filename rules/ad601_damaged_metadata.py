"""metadata.json can't be read, or is not what belongs to this session.

## Why it matters
The client keeps there what it needs besides the conversation: the bundle, the model, the working directory, and for a sub-session the
configuration that it is built from. A root session still loads without it, but forgets them; a sub-session does not load at all.

## How it happens
The client writes transcript and metadata one after the other and without syncing them, so that a crash can cut one short. The hook that
names sessions reads the file and writes it back later.

## How it is fixed
It is only shown: the doctor writes transcripts. The client's own previous version lies beside it as metadata.json.backup, and the client
takes that one if it can be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Fix, Safety, Session, Severity, examples, rule

TRANSCRIPT = examples.user("hi") + examples.reply("hello")
BAD = {"transcript.jsonl": TRANSCRIPT, "metadata.json": '{"session_id": "s", "crea'}
GOOD = {"transcript.jsonl": TRANSCRIPT, "metadata.json": '{"bundle": "bundle:sample"}'}


@rule(code="AD601", name="damaged-metadata", severity=Severity.ERROR, bad=BAD, good=GOOD)
def find_damaged_metadata(session: Session) -> Iterator[Finding]:
    problem, metadata = session.metadata_problem, session.metadata
    if problem and metadata is not None:
        fix = Fix("copy metadata.json.backup over metadata.json", Safety.MANUAL, source="metadata.json.backup")
        message = f"metadata.json is damaged, {problem}; the client takes metadata.json.backup, which is one save older"
        yield Finding(None, message, fix, at_most=Severity.WARNING)
    elif problem:
        fix = Fix("take metadata.json away: the client writes a new one at its next save", Safety.MANUAL)
        yield Finding(None, f"metadata.json is damaged, {problem}, and there is no backup of it", fix)
    elif metadata is not None:
        yield from find_foreign_id(session, metadata.get("session_id"))


def find_foreign_id(session: Session, named: object) -> Iterator[Finding]:
    """A copied or renamed folder is no damage: the client goes by the folder's name."""
    if isinstance(named, str) and named and session.session_id and named != session.session_id:
        message = f"metadata.json belongs to session {named}, the folder is called {session.session_id}: it was copied or renamed"
        yield Finding(None, message, at_most=Severity.INFO)
