"""Whose an event is, while several executions are open and nothing in it says so: by what each of them can do next.

An execution asks, is answered, runs the tools of that answer, and asks again; it ends behind an answer without calls, behind a failure, or
where it is cancelled. Of those that fit, the one that was heard of last goes on. Executions that were silent since the newest one began
may be dead: they are taken only where the newest can't be meant. All of it is a guess, and never a proof.
"""

from __future__ import annotations

from collections.abc import Sequence

from doctor.sources.events.traces import Trace


def find_asker(open_traces: Sequence[Trace], number: int) -> tuple[Trace | None, bool]:
    """Whose request with this iteration a provider:request is, and whether it can be nobody else's."""
    if len(open_traces) < 2:
        return (open_traces[0] if open_traces else None), True
    newest = open_traces[-1]
    expecting = [trace for trace in open_traces if trace.iteration + 1 == number and (trace.phase != "asked" or trace.is_blind)]
    if number > 1:
        expecting = [trace for trace in expecting if trace.phase == "tools"] or expecting
    # Calls that were denied never end: where all have open ones, those of the one that was heard of last may be such.
    free = [trace for trace in expecting if not trace.open_calls]
    free = free or ([_find_last(expecting)] if expecting else [])
    lively = [trace for trace in free if _is_lively(trace, newest)]
    is_sure = len(expecting) == 1
    if lively and (newest.open_calls or newest not in expecting or newest in lively):
        return _find_last(lively), is_sure
    if newest in expecting or not expecting:
        return newest, is_sure
    return _find_last(free or expecting), is_sure


def find_caller(open_traces: Sequence[Trace]) -> tuple[Trace | None, bool]:
    """Whose call the first tool:pre of a group is (of the one that was answered last), and whether it can be nobody else's."""
    if len(open_traces) < 2:
        return (open_traces[0] if open_traces else None), True
    answered = [trace for trace in open_traces if trace.phase == "answered"]
    blind = [trace for trace in open_traces if trace.phase == "asked" and trace.is_blind]
    asked = answered or blind or [trace for trace in open_traces if trace.phase == "asked"]
    if not asked:
        return open_traces[-1], False
    return max(asked, key=lambda trace: (trace.answered_line, trace.start.line)), len(answered) + len(blind) == 1


def find_failed(open_traces: Sequence[Trace], just_answered: Trace | None) -> tuple[Trace | None, Sequence[Trace]]:
    """Whose refusal a provider:error is, and all whose it may be where that is not sure."""
    failed = [trace for trace in open_traces if trace.failed]
    if failed:
        return _find_last(failed), ()
    if just_answered is not None and just_answered in open_traces:
        return just_answered, ()
    asked = [trace for trace in open_traces if trace.asked and trace.phase == "asked"] or open_traces
    return (asked[-1] if asked else None), (asked if len(asked) > 1 else ())


def find_closing(open_traces: Sequence[Trace], name: str, status: str) -> tuple[Trace | None, Sequence[Trace]]:
    """Whose end an event is, and all whose end it may be where that is not sure."""
    if len(open_traces) < 2:
        return (open_traces[0] if open_traces else None), ()
    newest = open_traces[-1]
    fitting = _list_closing(open_traces, name, status)
    lively = [trace for trace in fitting if _is_lively(trace, newest)]
    # A cancel can come at any time: also while the newest one waits for its first answer.
    chosen = lively or (fitting if status != "cancelled" else [])
    if not chosen:
        return newest, open_traces
    blind = [trace for trace in open_traces if trace.phase == "asked" and trace.is_blind and trace not in fitting]
    return _find_last(chosen), () if len(fitting) + len(blind) == 1 else [*fitting, *blind]


def _list_closing(open_traces: Sequence[Trace], name: str, status: str) -> list[Trace]:
    if status == "cancelled":
        # Its tools are done, and it did not ask again; else it was stopped in the middle of them.
        done = [trace for trace in open_traces if trace.phase == "tools" and not trace.open_calls]
        return done or [trace for trace in open_traces if trace.phase in ("tools", "answered")]
    if status == "error":
        return [trace for trace in open_traces if trace.failed]
    # Newest loops write execution:end behind a failure as well.
    fitting = [trace for trace in open_traces if trace.is_ready and (name == "execution:end" or not trace.failed)]
    return fitting or [trace for trace in open_traces if trace.phase == "asked" and trace.is_blind]


def _is_lively(trace: Trace, newest: Trace) -> bool:
    return trace is newest or trace.last.line > newest.start.line or trace.answered_line > newest.start.line


def _find_last(traces: Sequence[Trace]) -> Trace:
    return max(traces, key=lambda trace: max(trace.last.line, trace.answered_line))
