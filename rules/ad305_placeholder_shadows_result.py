"""A placeholder stands where a real result belongs, and the real one is recorded elsewhere.

## Why it matters
The model is told that its tool was interrupted, although it finished: hours of work look lost. Where the real result stands later in the
transcript as well, the call has two results and providers refuse the session for ever.

## How it happens
A repair ran while the tool was still running (a second execution on the same session), or after a crash that came after the tool had
finished but before its result was saved. A later save can drop the real row altogether; the event log still has it.

## How it is fixed
The real result takes the placeholder's place: its row from the transcript byte for byte, or its content rebuilt from the event log, marked.
The placeholder goes to the quarantine.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import (
    CallPair,
    Edit,
    Finding,
    Fix,
    LineOf,
    Message,
    Related,
    ResultSite,
    Safety,
    Session,
    Severity,
    examples,
    moves,
    placeholders,
    read_style,
    rule,
    short_id,
    traits,
    write_row,
)

BAD = examples.call("a") + examples.placeholder("a") + examples.user("and now?") + examples.result("a")
GOOD = examples.call("a") + examples.placeholder("a")

NEEDED = traits.UNPAIRED_CALLS | traits.UNUSUAL_ROWS


@rule(code="AD305", name="placeholder-shadows-result", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=NEEDED)
def find_shadowed_result(session: Session) -> Iterator[Finding]:
    paired = set()
    for pair in session.pairing.pairs:
        shadows = [site for site in pair.placed if site.result.maker]
        real = moves.choose_kept(session, pair)
        paired |= {site.index for site in (*pair.placed, *pair.late, *pair.early)}
        if shadows and real is not None and not real.result.maker and pair.call.id:
            yield describe_transcript_case(session, pair, shadows, real)
        elif shadows and pair.call.id and not pair.ambiguous:
            yield from describe_events_case(session, shadows[0].index)
    for index in session.transcript.unusual:
        message = session.transcript.messages[index]
        if index not in paired and len(message.results) == 1 and message.results[0].maker and message.role == "tool":
            yield from describe_events_case(session, index)


def describe_transcript_case(session: Session, pair: CallPair, shadows: list[ResultSite], real: ResultSite) -> Finding:
    messages = session.transcript.messages
    line, real_line, call_line = moves.line_of(session, shadows[0]), moves.line_of(session, real), messages[pair.index].line
    name = f"{pair.call.name or 'call'} ({short_id(pair.call.id)})"
    foreign = [(index, message) for index, message in moves.find_foreign_turn(session, pair, real) if message.kind != "invented"]
    text = f"{name} has two results: a placeholder in its place (row {line + 1}), and the real one displaced to row {real_line + 1}"
    if foreign:
        text += f", behind {moves.describe_message(session, choose_turn(foreign))}"
    related = (
        Related(call_line, "the call"),
        *(Related(moves.line_of(session, site), "placeholder") for site in shadows),
        *(Related(message.line, "foreign turn") for _, message in foreign[:4]),
        Related(real_line, f"the real result, belongs behind row {call_line + 1}"),
    )
    return Finding(
        line,
        text,
        moves.refuse_guess(pair, fix_from_transcript(session, pair, shadows, real)),
        related,
        (pair.call.id,),
        why=explain(session, pair, line),
    )


def explain(session: Session, pair: CallPair, line: int) -> str:
    """How the placeholder came there, as far as the event log proves it."""
    log = session.events
    if log is None or not log.overlaps:
        return ""
    run = log.runs.get(pair.call.id)
    story = "two executions ran on this session (AD501)"
    if run is not None and any(run.pre_line < overlap.newer.start_line < run.end_line for overlap in log.overlaps):
        story += f"; a repair wrote row {line + 1} while the call was still running (AD507)"
    return story


def choose_turn(foreign: list[tuple[int, Message]]) -> int:
    """The message to name: another assistant turn where there is one, since that is what the provider stumbles over."""
    return next((index for index, message in foreign if message.role == "assistant"), foreign[0][0])


def fix_from_transcript(session: Session, pair: CallPair, shadows: list[ResultSite], real: ResultSite) -> Fix:
    lines = [moves.line_of(session, site) for site in shadows]
    real_line = moves.line_of(session, real)
    title = f"row {real_line + 1} takes the place of row {lines[0] + 1}"
    if not all(moves.is_movable(session, site) for site in (*shadows, real)):
        return Fix(f"{title}: by hand, one of the rows holds more than this result", Safety.MANUAL)
    if real in pair.placed:
        edits = tuple(moves.delete_line(line) for line in lines)
        return Fix(f"take the placeholder in row {lines[0] + 1} out, into the quarantine", Safety.SAFE, edits, tuple(lines))
    first = Edit(lines[0], lines[0] + 1, (LineOf(real_line),))
    edits = (first, *(moves.delete_line(line) for line in lines[1:]), moves.delete_line(real_line))
    return Fix(title, Safety.SAFE, edits, tuple(lines))


def describe_events_case(session: Session, index: int) -> Iterator[Finding]:
    message = session.transcript.messages[index]
    result = message.results[0]
    recorded = session.recorded_result(result.call_id, result.name)
    if recorded is None or recorded.refusal or not result.call_id:
        return
    line = message.line
    stored = session.transcript.read_row(line)
    if isinstance(stored, dict) and stored.get("content") == recorded.content:
        # A tool may well answer in the very words of a placeholder.
        return
    row = placeholders.build_row(result.call_id, result.name, "AD305", recorded.content, recorded.source)
    body = write_row(row, read_style(session.transcript, line))
    title = f"the result recorded in {recorded.source} takes the place of row {line + 1}"
    fix = Fix(title, Safety.SAFE, (Edit(line, line + 1, (body,)),), (line,), recorded.source)
    run = session.events.runs[result.call_id] if session.events is not None else None
    related = [Related(line, "placeholder")]
    if run is not None:
        related.append(Related(run.end_line, "the real result", "events"))
    text = f"a placeholder stands for {result.name or 'the result'} ({short_id(result.call_id)}), whose real result is in {recorded.source}"
    yield Finding(line, text, fix, tuple(related), (result.call_id,))
