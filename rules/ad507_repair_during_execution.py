"""A repair wrote placeholders for tool calls that were still running, or a closing reply for calls which did finish.

## Why it matters
The model was told that its tools were interrupted and carried on from there. When the real results come they have no place any more:
they are stored as second results, or dropped.

## How it happens
The client's repair runs before each turn and takes every call without a result for dead. A second execution (AD501) then repairs the
first one's running calls. A request that left with the call open shows that there was no placeholder yet; where a later repair may have
written it as well, it is `possible`.

## How it is fixed
The placeholders give way to the real results (AD305). The closing reply that the repair made up stays by default, since later replies
were written with it in view; with `--unsafe` it goes to the quarantine once the real results stand before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import (
    Confidence,
    EventLog,
    Finding,
    Fix,
    Message,
    Related,
    Request,
    Safety,
    Session,
    Severity,
    ToolRun,
    evidence,
    examples,
    moves,
    rule,
    short_id,
    traits,
)

TRANSCRIPT = examples.user("slow") + examples.call("a") + examples.placeholder("a") + examples.user("quick")
PRE = examples.event(0, "execution:start", prompt="slow") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
SECOND = examples.event(3, "execution:start", prompt="quick")
POST = examples.event(4, "tool:post", tool_name="bash", tool_call_id="a", result="ok")
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": PRE + SECOND + POST}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": PRE + examples.event(2, "session:resume") + SECOND}
REPAIRED = "automatically repaired"


@rule(code="AD507", name="repair-during-execution", severity=Severity.WARNING, bad=BAD, good=GOOD, needs=traits.UNUSUAL_ROWS)
def find_early_repairs(session: Session) -> Iterator[Finding]:
    yield from find_early_placeholders(session)
    for index in session.transcript.unusual:
        if session.transcript.messages[index].kind == "invented":
            yield from find_false_closing(session, index)


def find_early_placeholders(session: Session) -> Iterator[Finding]:
    """One finding for each call row whose placeholders were written while its calls ran."""
    log = session.events
    if log is None or len(log.executions) < 2:
        return
    early: dict[tuple[int, int], list[tuple[int, ToolRun]]] = {}
    for index in session.transcript.unusual:
        message = session.transcript.messages[index]
        for result in message.results:
            run = log.runs.get(result.call_id) if result.maker == "repair" else None
            start = find_writer(session, log, run) if run is not None else -1
            if run is not None and start >= 0:
                early.setdefault((find_call(session, index, result.call_id), start), []).append((message.line, run))
    for (call_index, start), found in early.items():
        yield describe_placeholders(session, log, call_index, start, found)


def describe_placeholders(session: Session, log: EventLog, call_index: int, start: int, found: list[tuple[int, ToolRun]]) -> Finding:
    line = found[0][0]
    is_certain = is_proved(session, log, call_index, start, found)
    names = ", ".join(f"{run.name or 'a call'} ({short_id(run.call_id)})" for _, run in found)
    prompt = next(execution.prompt for execution in log.executions if execution.start_line == start)
    verb = "was" if len(found) == 1 else "were"
    wrote = "wrote" if is_certain else "may have written"
    message = f"a repair before {evidence.quote(prompt)} {wrote} placeholders for {names}, which {verb}"
    related = [Related(session.transcript.messages[call_index].line, "the calls")] if call_index >= 0 else []
    related += [Related(row, "placeholder") for row, _ in found]
    related += [Related(start, "the second execution starts", "events")]
    related += [Related(run.end_line, f"{run.name or 'the call'} finishes", "events") for _, run in found]
    confidence = Confidence.CONFIRMED if is_certain else Confidence.POSSIBLE
    ids = tuple(run.call_id for _, run in found)
    return Finding(line, f"{message} still running then", related=tuple(related), ids=ids, confidence=confidence)


def find_writer(session: Session, log: EventLog, run: ToolRun) -> int:
    """Start of the execution before which a repair may have found a run of another one unfinished; -1 for none.

    Where the provider layer had to put a stand-in into its first request, or the provider refused it for lack of results, there was no
    placeholder yet.
    """
    if run.end_line < 0 or run.pre_line < 0:
        return -1
    for execution in log.executions:
        if run.pre_line < execution.start_line < run.end_line:
            first = next((request for request in log.requests if request.execution == execution.start_line), None)
            if first is None or not (had_open_call(first, run.call_id) or lacked_results(session, first)):
                return execution.start_line
    return -1


def had_open_call(request: Request, call_id: str) -> bool:
    """Whether the provider layer put a stand-in for a call into a request."""
    return call_id in request.repaired if request.repaired else request.repaired_line >= 0


def lacked_results(session: Session, request: Request) -> bool:
    """Whether the provider refused a request since calls had no result: a repair before it would have cured them all."""
    meaning = session.explain_error(request.error) if request.error and session.explain_error is not None else None
    return meaning is not None and "AD301" in meaning.codes


def is_proved(session: Session, log: EventLog, call_index: int, start: int, found: list[tuple[int, ToolRun]]) -> bool:
    """Whether this repair wrote them, not a later one: the real result came behind them, or the prompt stands behind the call."""
    messages = session.transcript.messages
    ids = {run.call_id for _, run in found}
    if find_real_results(messages, tuple(ids)):
        return True
    execution = next(one for one in log.executions if one.start_line == start)
    prompt = evidence.find_prompt(session, execution)
    return prompt is not None and prompt > call_index >= 0


def find_call(session: Session, index: int, call_id: str) -> int:
    """Index of the nearest row before `index` that makes a call; -1 for none."""
    messages = session.transcript.messages
    return next((at for at in range(index - 1, -1, -1) if any(call.id == call_id for call in messages[at].calls)), -1)


def find_false_closing(session: Session, index: int) -> Iterator[Finding]:
    """A closing reply that says that calls were interrupted, though all of them finished."""
    messages = session.transcript.messages
    start = index - 1
    while start >= 0 and messages[start].results:
        start -= 1
    line = messages[index].line
    if start < 0 or not messages[start].calls or REPAIRED.encode() not in session.transcript.read_line(line):
        return
    ids = tuple(call.id for call in messages[start].calls)
    here = {result.call_id for message in messages[start + 1 : index] for result in message.results if not result.maker}
    elsewhere = find_real_results(messages, ids) | find_recorded_results(session, ids)
    if not all(call_id in here or call_id in elsewhere for call_id in ids):
        return
    is_settled = all(call_id in here for call_id in ids)
    text = f"row {line + 1} says that the calls in row {messages[start].line + 1} were interrupted, but all of them finished"
    title = f"take row {line + 1} out, into the quarantine"
    fix = Fix(title, Safety.UNSAFE, (moves.delete_line(line),), (line,)) if is_settled else None
    related = (Related(messages[start].line, "the calls"), Related(line, "the reply that a repair made up"))
    yield Finding(line, text, fix, related, ids, at_most=Severity.INFO)


def find_real_results(messages: list[Message], ids: tuple[str, ...]) -> set[str]:
    return {result.call_id for message in messages for result in message.results if not result.maker and result.call_id in ids}


def find_recorded_results(session: Session, ids: tuple[str, ...]) -> set[str]:
    found = ((call_id, session.recorded_result(call_id)) for call_id in ids)
    return {call_id for call_id, recorded in found if recorded is not None and not recorded.refusal}
