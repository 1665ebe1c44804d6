"""The event log holds a provider's refusal of a request, and its text says which defect was to blame.

## Why it matters
It is the provider's own word on what was wrong at that moment. Where the transcript is sound by now, this is history; where it is not,
the same request will be refused again.

## How it happens
See the finding that this one names, or `amplifier-doctor explain --error` with the text. Refusals that have to do with something else
(limits, overload, keys) are not reported.

## How it is fixed
The named finding carries the fix. The event log is never changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.rulekit import Finding, Related, Session, Severity, evidence, examples, rule, traits

LONGEST_TEXT = 300
ANSWER = (
    "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: a. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
ROWS = examples.user("go") + examples.call("a") + examples.result("a")
BAD = {
    "transcript.jsonl": ROWS,
    "events.jsonl": examples.event(0, "execution:start", prompt="go")
    + examples.event(1, "provider:request", iteration=1)
    + examples.event(2, "provider:error", error={"message": ANSWER})
    + examples.event(3, "orchestrator:complete", "error"),
}
GOOD = {"transcript.jsonl": ROWS, "events.jsonl": examples.event(0, "execution:start", prompt="go")}


@rule(code="AD506", name="provider-refusal", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.EVENTS | traits.PLATFORM_RECORD)
def find_refusals(session: Session) -> Iterator[Finding]:
    if session.is_record:
        yield from find_in_rows(session)
    log = session.events
    if log is None or session.explain_error is None:
        return
    seen: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    said: dict[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]] = {}
    for request in log.requests:
        meaning = session.explain_error(request.error) if request.error else None
        if meaning is None:
            continue
        key = (meaning.rule, meaning.ids)
        seen.setdefault(key, []).append(request.error_line if request.error_line >= 0 else request.line)
        said.setdefault(key, (" ".join(request.error.split()), meaning.codes))
    for (name, ids), lines in seen.items():
        text, codes = said[name, ids]
        text = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
        times = "" if len(lines) == 1 else f" {len(lines)} times"
        cause = f"; see {', '.join(codes)}" if codes else "; no stored row is the cause"
        related = tuple(Related(line, "the refusal", "events") for line in lines[:3])
        yield Finding(lines[0], f"a provider refused the request{times} ({name}{cause}): {text}", None, related, ids, where="events")


def find_in_rows(session: Session) -> Iterator[Finding]:
    """Error rows of a chat log that hold a provider's answer."""
    messages = session.transcript.messages
    for index in session.transcript.unusual:
        if messages[index].kind != "failure" or session.explain_error is None:
            continue
        said = " ".join(evidence.join_text(session.transcript, messages[index]).split())
        meaning = session.explain_error(said)
        if meaning is not None:
            cause = f"; see {', '.join(meaning.codes)}" if meaning.codes else "; no stored row is the cause"
            text = said if len(said) <= LONGEST_TEXT else said[: LONGEST_TEXT - 1] + "…"
            yield Finding(messages[index].line, f"a provider refused the request ({meaning.rule}{cause}): {text}", None, ids=meaning.ids)
