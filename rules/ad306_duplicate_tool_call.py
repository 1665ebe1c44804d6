"""One call stands twice: its id twice in one row, or its whole row twice.

## Why it matters
Ids must be unique within a turn; providers refuse the request.

## How it happens
A stream that delivered a call twice, or a row that was saved twice.

## How it is fixed
A row that repeats an earlier one byte for byte goes to the quarantine. Copies inside one row are merged only with `--unsafe`, since that
edits a recorded row; calls that share an id but differ are left for a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from doctor.rulekit import Finding, Fix, Related, Safety, Session, Severity, examples, moves, rewrites, rule, short_id, traits

BAD = examples.call("a", "a") + examples.result("a")
GOOD = examples.call("a") + examples.result("a")


@rule(code="AD306", name="duplicate-tool-call", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS)
def find_duplicate_call(session: Session) -> Iterator[Finding]:
    messages = session.transcript.messages
    for index, call_id in session.pairing.twice_in_row:
        line = messages[index].line
        fix = rewrites.rewrite_line(session, line, f"merge the copies of the call in row {line + 1}", rewrites.merge_repeated_calls)
        yield Finding(line, f"the id {short_id(call_id)} stands twice in one assistant row", fix, ids=(call_id,))
    reported: set[int] = set()
    for call_id, indexes in session.pairing.reused:
        for earlier, later in pairwise(indexes):
            if later in reported or not moves.is_same_row(session, earlier, later):
                continue
            reported.add(later)
            # The copy that has the results behind it stays.
            keep_later = not messages[earlier + 1].results and later + 1 < len(messages) and bool(messages[later + 1].results)
            first, line = messages[earlier].line, messages[later].line
            if keep_later:
                first, line = line, first
            related = (Related(first, "the call"), Related(line, "its copy"))
            fix = Fix(f"take row {line + 1} out, into the quarantine", Safety.SAFE, (moves.delete_line(line),), (line,))
            yield Finding(line, f"row {line + 1} repeats the call of row {first + 1} byte for byte", fix, related, (call_id,))
