"""One call has several results.

## Why it matters
Anthropic and OpenAI refuse a second result for one call; with a second result far from the call the session is refused for ever.

## How it happens
A late result was added although a repair, a retry or a second execution had answered the call already.

## How it is fixed
One result stays: a real one before a placeholder, one in its place before one elsewhere, the first before later ones. Identical copies
collapse; a result that differs goes to the quarantine, where it can be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import (
    CallPair,
    Finding,
    Fix,
    Related,
    ResultSite,
    Safety,
    Session,
    Severity,
    examples,
    moves,
    rule,
    short_id,
    traits,
)

BAD = examples.call("a") + examples.result("a") + examples.result("a")
GOOD = examples.call("a") + examples.result("a")


@rule(code="AD304", name="duplicate-tool-result", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.UNPAIRED_CALLS)
def find_duplicate_result(session: Session) -> Iterator[Finding]:
    for pair in session.pairing.pairs:
        kept = moves.choose_kept(session, pair)
        if kept is None or not pair.call.id:
            continue
        for site in (*pair.placed, *pair.late, *pair.early):
            # A placeholder in the place of a real result is AD305's.
            if site is not kept and not (site.result.maker and site in pair.placed and not kept.result.maker):
                yield describe(session, pair, kept, site)


def describe(session: Session, pair: CallPair, kept: ResultSite, extra: ResultSite) -> Finding:
    line, kept_line = moves.line_of(session, extra), moves.line_of(session, kept)
    transcript = session.transcript
    same = get_content(transcript.read_row(line)) == get_content(transcript.read_row(kept_line))
    kind = "a copy of" if same else ("a placeholder beside" if extra.result.maker else "different from")
    name = f"{pair.call.name or 'call'} ({short_id(pair.call.id)})"
    text = f"a second result of {name}, {kind} the one in row {kept_line + 1}"
    foreign = moves.find_foreign_turn(session, pair, extra)
    if foreign:
        text += f", behind {moves.describe_message(session, foreign[0][0])}"
    if moves.is_movable(session, extra):
        fix = Fix(
            f"take row {line + 1} out, into the quarantine; row {kept_line + 1} stays", Safety.SAFE, (moves.delete_line(line),), (line,)
        )
    else:
        fix = Fix(f"take the second result out of row {line + 1} by hand, the row holds more", Safety.MANUAL)
    fix = moves.refuse_guess(pair, fix)
    related = (
        Related(transcript.messages[pair.index].line, "the call"),
        Related(kept_line, "the result that stays"),
        *(Related(message.line, "in between") for _, message in foreign[:3]),
        Related(line, "the second result"),
    )
    return Finding(line, text, fix, related, (pair.call.id,))


def get_content(row: object) -> object:
    return row.get("content") if isinstance(row, dict) else None
