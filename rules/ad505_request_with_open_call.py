"""A request left for the provider while a tool call of another execution was still running.

## Why it matters
A call without its result makes a provider refuse the request: that turn failed, or went out only because the provider layer patched the
request in memory. The transcript can look sound afterwards, so this explains a refusal that nothing on disk explains.

## How it happens
A second execution started on the session while a tool of the first one ran (AD501). Both write into one context. A request that was
refused for something else, such as an overload, is none.

## How it is fixed
There is nothing to fix in a request that has left. It is a note once the transcript is sound.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import EventLog, Finding, Related, Request, Session, Severity, ToolRun, evidence, examples, rule, short_id, traits

LONGEST_ERROR = 300
TRANSCRIPT = examples.user("slow") + examples.user("quick")
BEFORE = (
    examples.event(0, "execution:start", prompt="slow")
    + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
    + examples.event(2, "execution:start", prompt="quick")
    + examples.event(3, "provider:request", iteration=1)
)
ANSWER = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
ERROR = examples.event(4, "provider:error", error={"type": "E", "msg": ANSWER})
AFTER = examples.event(5, "tool:post", tool_name="bash", tool_call_id="a", result="ok")
BAD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": BEFORE + ERROR + AFTER}
GOOD = {"transcript.jsonl": TRANSCRIPT, "events.jsonl": BEFORE + AFTER}


@rule(code="AD505", name="request-with-open-call", severity=Severity.ERROR, bad=BAD, good=GOOD, needs=traits.EVENTS)
def find_requests(session: Session) -> Iterator[Finding]:
    log = session.events
    if log is None:
        return
    proven: dict[int, list[Request]] = {}
    for request in log.requests:
        if request.open_calls and (is_repaired_for_it(request) or is_refused_for_it(session, request)):
            proven.setdefault(request.execution, []).append(request)
    at_most = Severity.INFO if proven and not evidence.bears_trace(session) else None
    for start_line, requests in proven.items():
        yield describe(log, start_line, requests, at_most)


def is_repaired_for_it(request: Request) -> bool:
    return request.repaired_line >= 0 and (not request.repaired or bool(set(request.repaired) & set(request.open_calls)))


def is_refused_for_it(session: Session, request: Request) -> bool:
    """Whether a request was refused, and nothing says that it was for something else: an overload, or a call that was not open."""
    if not request.error:
        return request.error_line >= 0
    if session.explain_error is None or session.events is None or session.events.source is None:
        return True
    meaning = session.explain_error(request.error)
    return meaning is not None and bool(meaning.codes) and (not meaning.ids or bool(set(meaning.ids) & set(request.open_calls)))


def describe(log: EventLog, start_line: int, requests: list[Request], at_most: Severity | None) -> Finding:
    """One finding for the requests of one execution, about the refused one where there is one."""
    request = next((request for request in requests if request.error_line >= 0), requests[0])
    names = ", ".join(name_run(log, log.runs[call_id]) for call_id in request.open_calls)
    prompt = next((execution.prompt for execution in log.executions if execution.start_line == start_line), "")
    place = evidence.name_line(log, request.line)
    if log.source is None:
        place += f", {request.id}, {evidence.clock_time(request.time)}"
    whose = "" if all(log.runs[call_id].execution == start_line for call_id in request.open_calls) else " of another execution"
    message = f"request ({place}) of {evidence.quote(prompt)} "
    if request.was_stale:
        message += f"was made of an older state: {names}{whose} had its result by then; it left without that result"
    else:
        message += f"left while {names}{whose} was still running"
    if request.error_line >= 0:
        error = request.error if len(request.error) <= LONGEST_ERROR else request.error[: LONGEST_ERROR - 1] + "…"
        message += f" and was refused: {error}" if error else " and was refused"
    else:
        layer = "client" if log.source is None else "provider layer"
        message += f"; the {layer} put a stand-in for its result into the request"
    related = [Related(request.line, "the request", "events")]
    for call_id in request.open_calls:
        run = log.runs[call_id]
        related += [Related(run.pre_line, "the open call", "events"), Related(run.end_line, "it finishes", "events")]
    for other in requests:
        related += [Related(other.error_line, "the refusal", "events")] if other.error_line >= 0 else []
        related += [Related(other.repaired_line, "repaired in memory", "events")] if other.repaired_line not in (-1, other.line) else []
    related.sort(key=lambda row: row.line)
    return Finding(request.line, message, related=tuple(related), ids=request.open_calls, at_most=at_most, where="events")


def name_run(log: EventLog, run: ToolRun) -> str:
    """`bash (toolu_01…9f2c)`; where no log can be looked into, with its times and the whole id."""
    name = run.name or "a call"
    if log.source is not None:
        return f"{name} ({short_id(run.call_id)})"
    return f"{name} ({run.call_id}, {evidence.clock_time(run.pre_time)} – {evidence.clock_time(run.end_time)})"
