"""Which rows of a transcript belong to an execution, a request or a tool run of its event log, and where a repair is to be drawn."""

from __future__ import annotations

import re
from bisect import bisect_right

from doctor.eventlog import EventLog, Request
from doctor.session import Session

_WORD = r"[\w.:|-]*\w"


def find_ids(text: str) -> list[str]:
    """What could be call ids in an error text; whether they are, the transcript and the log say."""
    return [word for word in re.findall(_WORD, text) if len(word) > 5]


class RowFinder:
    """Rows are matched by call ids and by the prompt's whole text, as far as the log has it."""

    def __init__(self, session: Session, log: EventLog) -> None:
        self.messages = session.transcript.messages
        self.log = log
        self.prompts = self._match_prompts()
        """Message index of the prompt, by the start line of its execution."""
        self.starts = {prompt: start for start, prompt in self.prompts.items()}
        self.executions = {execution.start_line: execution for execution in log.executions}
        self.calls: dict[str, list[int]] = {}
        self.results: dict[str, list[int]] = {}
        """Lines by call id."""
        for message in self.messages:
            for call in message.calls:
                self.calls.setdefault(call.id, []).append(message.line)
            for result in message.results:
                self.results.setdefault(result.call_id, []).append(message.line)
        self.turns = session.turns
        self.turn_of_prompt = {prompt: turn for turn in self.turns for prompt in turn.prompts}
        self.runs: dict[int, list[tuple[int, str]]] = {}
        """(line of the tool:pre, call id) by execution."""
        for run in log.runs.values():
            self.runs.setdefault(run.execution, []).append((run.pre_line, run.call_id))
        for own in self.runs.values():
            own.sort()
        self.request_lines: dict[int, list[int]] = {}
        for request in log.requests:
            self.request_lines.setdefault(request.execution, []).append(request.line)

    def _match_prompts(self) -> dict[int, int]:
        """Prompts with the same words are taken in order."""
        waiting: dict[int, list[int]] = {}
        for index, message in enumerate(self.messages):
            if message.role == "user" and message.text_key:
                waiting.setdefault(message.text_key, []).append(index)
        for indexes in waiting.values():
            indexes.reverse()
        found = {}
        for execution in self.log.executions:
            indexes = waiting.get(execution.text_key)
            if execution.text_key and indexes:
                found[execution.start_line] = indexes.pop()
        return found

    def rows_of_call(self, call_id: str) -> tuple[int, ...]:
        return tuple(sorted({*self.calls.get(call_id, ()), *self.results.get(call_id, ())}))

    def rows_of_text(self, text: str) -> tuple[int, ...]:
        """The rows of the calls that a provider's error text names."""
        return tuple(sorted({row for call_id in find_ids(text) for row in self.rows_of_call(call_id)}))

    def rows_of_execution(self, start_line: int) -> tuple[int, ...]:
        """Its prompt, its calls with all their results, and the replies behind the prompt."""
        rows = {row for _, call_id in self.runs.get(start_line, ()) for row in self.rows_of_call(call_id)}
        prompt = self.prompts.get(start_line)
        if prompt is not None:
            rows.add(self.messages[prompt].line)
            rows.update(self._find_replies(prompt))
        return tuple(sorted(rows))

    def _find_replies(self, prompt: int) -> list[int]:
        turn = self.turn_of_prompt.get(prompt)
        # Of adjoining prompts, the last one was answered.
        return [self.messages[index].line for index in turn.replies] if turn is not None and turn.prompts[-1] == prompt else []

    def rows_of_request(self, request: Request) -> tuple[int, ...]:
        """The assistant row that answered it; for one that was refused, the rows of the calls that others had open."""
        own = self.request_lines.get(request.execution, [])
        position = bisect_right(own, request.line)
        stop = own[position] if position < len(own) else None
        runs = self.runs.get(request.execution, [])
        begin = bisect_right(runs, (request.line, ""))
        end = len(runs) if stop is None else bisect_right(runs, (stop, ""))
        calls = [call_id for _, call_id in runs[begin:end]]
        rows = {row for call_id in calls for row in self.calls.get(call_id, ())[:1]}
        if not rows and request.error_line >= 0:
            rows = {row for call_id in request.open_calls for row in self.rows_of_call(call_id)}
            rows.update(self.rows_of_text(request.error))
        elif not rows and stop is None and request.execution in self.prompts:
            rows = set(self._find_replies(self.prompts[request.execution])[-1:])
        return tuple(sorted(rows))

    def place_repair(self, group: list[int]) -> tuple[int, str]:
        """(line, time) of the next execution's start, or of the last that is known of the execution whose calls were repaired."""
        for index in range(group[-1] + 1, len(self.messages)):
            if index in self.starts:
                execution = self.executions[self.starts[index]]
                return execution.start_line, execution.start_time
            if self.messages[index].kind == "prompt":
                break
        for index in group:
            for result in self.messages[index].results:
                run = self.log.runs.get(result.call_id)
                if run is not None and run.execution in self.executions:
                    execution = self.executions[run.execution]
                    return execution.last_line, execution.last_time
        return max(((execution.last_line, execution.last_time) for execution in self.log.executions), default=(0, ""))
