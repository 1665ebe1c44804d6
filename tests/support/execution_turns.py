"""One simulated execution, from the repair before its prompt to the save behind its reply: a generator that stops between any two steps."""

from __future__ import annotations

import json

from tests.support.amplifier_client import PLACEHOLDER, list_calls, repair_rows
from tests.support.execution_log import Row, find_refusal, stamp_row
from tests.support.execution_parts import Ask, Process, Steps, Turn
from tests.support.execution_tools import Tools

TRANSIENT = "Overloaded"


class Turns(Tools):
    def run(self, turn: Turn) -> Steps:
        process, log = turn.process, self.log
        if process.repairs:
            self.repair(process)
            yield
        if self.is_child and self.checkpoints and process.context:
            self.save(process, status="in_progress", last_updated=log.stamp())
        if self.dialect.start == "each":
            log.emit("session:start")
        line = log.emit("prompt:submit", {"prompt": turn.prompt})
        yield
        if self.dialect.start != "prompt":
            name = "session:start" if self.dialect.start == "session" else "execution:start"
            line = log.emit(name, {"prompt": turn.prompt})
        turn.start, turn.born = line, self.step
        yield
        process.context.append({"role": "user", "content": turn.prompt, "metadata": stamp_row(log)})
        yield
        rounds = self.random.choice((0, 1, 1, 2, 3))
        for number in range(rounds + 1):
            if turn.cancel:
                break
            if number and self.odds(0.05):
                self.steer(turn)
            if self.compacts and self.odds(0.1):
                self.compact(process)
            yield from self.request(turn, number + 1)
            if turn.status:
                break
            yield from self.answer(turn, number == rounds)
            if number < rounds:
                yield from self.use_tools(turn)
        yield from self.end(turn)

    def repair(self, process: Process) -> None:
        """What the client does before each turn that is typed by hand: it takes every call without a result for dead."""
        rows = [row for row in process.context if row["role"] != "system"]
        before = {row["tool_call_id"] for row in rows if row.get("content") == PLACEHOLDER}
        broken, repaired = repair_rows(rows)
        if not broken:
            return
        self.note("repair")
        calls = {call.id: call for turn in self.turns for call in turn.calls}
        for row in repaired:
            if row.get("content") == PLACEHOLDER and row["tool_call_id"] not in before:
                calls[row["tool_call_id"]].placeholders.append(self.is_unfinished(calls[row["tool_call_id"]]))
        process.context[:] = repaired
        self.save(process)

    def steer(self, turn: Turn) -> None:
        text = f"steered {self.count()}"
        turn.steered.append(text)
        self.log.emit("orchestrator:steering_injected", {"content": text, "orchestrator": "loop-streaming"})
        turn.process.context.append({"role": "user", "content": text, "metadata": stamp_row(self.log)})
        self.note("steered")

    def compact(self, process: Process) -> None:
        """Most clients compact the request alone; some drop the oldest turns from the context. Those that go on stay."""
        self.log.emit("context:compaction", {"before": len(process.context)})
        ids = {row["tool_call_id"] for row in process.context if row["role"] == "tool"}
        busy = {turn.prompt for turn in process.turns if turn.steps is not None}
        cuts = []
        for index, row in enumerate(process.context):
            if row["role"] == "user" and index and row.get("metadata", {}).get("source") != "hook":
                cuts.append(index)
            if row["content"] in busy if isinstance(row["content"], str) else False:
                break
            if any(call["id"] not in ids for call in list_calls(row)):
                break
        prompts = {turn.prompt for turn in self.turns}
        cuts = [cut for cut in cuts if process.context[cut]["content"] in prompts and not self.is_between_pair(process, cut)]
        if cuts and not process.fails_saving and self.odds(0.5):
            cut = self.random.choice(cuts)
            self.drop(process.context[:cut])
            del process.context[:cut]
            self.note("compacted")

    def is_between_pair(self, process: Process, cut: int) -> bool:
        """Whether a call stands before a row and its result behind it."""
        before = {call["id"] for row in process.context[:cut] for call in list_calls(row)}
        return any(row.get("tool_call_id") in before for row in process.context[cut:])

    def request(self, turn: Turn, iteration: int) -> Steps:
        process, log = turn.process, self.log
        others = {call.id for other in self.turns if other is not turn for call in other.calls if call.is_running}
        ask = Ask(log.emit("provider:request", {"provider": "anthropic", "iteration": iteration}), others)
        turn.asks.append(ask)
        yield
        if self.is_child and self.checkpoints and self.odds(0.6):
            self.save(process, status="in_progress", last_updated=log.stamp())
        answered = {row["tool_call_id"] for row in process.context if row["role"] == "tool"}
        unanswered = [call for row in process.context for call in list_calls(row) if call["id"] not in answered]
        ask.seen = {call["id"] for call in unanswered} & others
        fresh = [call for call in unanswered if call["id"] not in process.patched]
        if fresh:
            process.patched |= {call["id"] for call in fresh}
            repairs = [{"tool_call_id": call["id"], "tool_name": call["tool"]} for call in fresh]
            log.emit("provider:tool_sequence_repaired", {"provider": "anthropic", "repair_count": len(fresh), "repairs": repairs})
            ask.patched = {call["id"] for call in fresh}
        refusal = find_refusal(process.context, {call["id"] for call in fresh})
        while True:
            request_id = self.write_id() if self.dialect.request_ids else None
            sent = {"provider": "anthropic", "model": "claude-sonnet-4-5", "message_count": len(process.context)}
            ask.sent, ask.has_id = log.emit("llm:request", sent, request_id=request_id), request_id is not None
            while self.odds(0.6):
                log.wait(0.5)
                yield from self.pause()
            error = refusal or (TRANSIENT if self.odds(0.03) else "")
            status, level = ("error", "ERROR") if error else ("ok", "INFO")
            wrapped = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": error}}) if error else None
            told = {"status": status, "duration_ms": 120, "error": wrapped, "request_id": request_id}
            ask.refusal = refusal
            ask.answered = log.emit("llm:response", {"provider": "anthropic", "model": "claude-sonnet-4-5"}, level=level, **told)
            yield
            if not error or refusal or self.odds(0.5):
                break
            log.emit("provider:retry", {"provider": "anthropic", "attempt": 1})
            log.wait(2.0)
        if error:
            ask.refusal = error
            self.note("refused" if refusal else "provider error")
            log.emit("provider:error", {"provider": "anthropic"}, level="ERROR", error={"msg": wrapped, "type": "InvalidRequestError"})
            turn.status = "error"
            yield

    def answer(self, turn: Turn, is_last: bool) -> Steps:
        """The reply, or a message with calls, which goes into the context before the tools begin."""
        texts = [f"reply {self.count()}: größer"] if is_last or self.odds(0.5) else []
        calls = [] if is_last else [self.make_call() for _ in range(self.random.choice((1, 1, 2, 3)))]
        turn.calls += calls
        blocks: list[Row] = [{"type": "text", "text": text} for text in texts]
        blocks += [{"type": "tool_call", "id": call.id, "name": call.tool, "input": call.arguments} for call in calls]
        for index, block in enumerate(blocks):
            self.log.emit("content_block:start", {"block_index": index, "block_type": block["type"], "total_blocks": len(blocks)})
            logged = {key if key != "input" else "arguments": value for key, value in block.items()}
            self.log.emit("content_block:end", {"block": logged, "block_index": index, "total_blocks": len(blocks)})
            yield
        row: Row = {"role": "assistant", "content": blocks}
        if calls:
            row["tool_calls"] = [{"id": call.id, "tool": call.tool, "arguments": call.arguments} for call in calls]
            group = self.write_id()
            for call in calls:
                call.group = group
        turn.process.context.append(row | {"metadata": stamp_row(self.log)})
        turn.texts += texts
        if is_last:
            turn.reply = texts[0]

    def end(self, turn: Turn) -> Steps:
        process, log = turn.process, self.log
        status = "cancelled" if turn.cancel else turn.status or "success"
        if status == "success" and self.dialect.start != "prompt":
            name = "session:end" if self.dialect.start == "session" else "execution:end"
            turn.ends[name] = log.emit(name)
            yield
        turn.status = status
        told = {"orchestrator": "loop-streaming", "turn_count": len(turn.asks)}
        turn.ends["orchestrator:complete"] = log.emit("orchestrator:complete", told, status=status)
        if turn.cancel:
            told = {"orchestrator": "loop-streaming", "was_immediate": turn.cancel == "immediate"}
            turn.ends["cancel:completed"] = log.emit("cancel:completed", told)
        turn.over = self.step
        yield
        if status == "success":
            yield from self.report(turn)
        elif self.saves_errors and not self.is_child:
            self.save(process)

    def report(self, turn: Turn) -> Steps:
        """The application's part of a turn that went well."""
        process, log = turn.process, self.log
        if self.is_child:
            self.save(process, **({"status": "complete", "last_updated": log.stamp()} if self.checkpoints else {}))
            return
        if self.dialect.cleanups:
            log.emit("cleanup:render_begin")
        log.emit("prompt:complete", {"prompt": turn.prompt, "response": turn.reply})
        yield
        self.save(process)
        if self.dialect.cleanups:
            log.emit("cleanup:store_end")
        if process.naming is None and len(self.turns) < 3 and self.odds(0.4):
            process.naming = self.name_session()
        yield

    def name_session(self) -> Steps:
        """A request of a background helper: no provider:request before it."""
        request_id = self.write_id() if self.dialect.request_ids else None
        self.log.emit("llm:request", {"provider": "anthropic", "model": "small", "message_count": 1}, request_id=request_id)
        self.note("named")
        yield
        yield
        self.log.emit("llm:response", {"provider": "anthropic", "model": "small"}, status="ok", request_id=request_id)
        self.log.emit("session-naming:set", {"name": "a session"})
        self.disk.metadata["name"] = "a session"
