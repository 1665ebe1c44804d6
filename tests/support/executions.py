"""Plays random sessions of Amplifier's client and knows what really happened: `play_history(seed)`.

One session in one store, with one process or several, executions one after the other or at once, calls in parallel, delegates, cancels,
crashes between any two steps, the client's own repair, saves that fail or overwrite another's. It is an oracle: it knows the client from
recorded sessions, and nothing of the doctor.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.support.amplifier_client import PLACEHOLDER, list_calls, repair_rows
from tests.support.execution_log import Log, Row, draw_dialect, dump_rows, find_refusal, stamp_row, write_result
from tests.support.execution_parts import TRANSCRIPT, Ask, Call, Disk, History, Process, ProcessKilled, Steps, Turn

KINDS = ("sequential", "crashing", "cancelling", "overlapping", "processes", "mixed", "child")
CANCEL_ODDS = {"cancelling": 0.02, "mixed": 0.006}
CRASH_ODDS = {"crashing": 0.012, "mixed": 0.006, "child": 0.008, "overlapping": 0.002, "processes": 0.004}
SECOND_ODDS = {"overlapping": 0.08, "processes": 0.08, "mixed": 0.04}
TOOLS = ("bash", "todo", "read_file", "delegate")
TRANSIENT = "Overloaded"
LONGEST_PLAY = 3_000


class Play:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random = Random(f"execution {seed}")
        self.kind = random.choice(KINDS)
        self.dialect = draw_dialect(random)
        self.is_child = self.kind == "child"
        root = f"{random.getrandbits(32):08x}-2b7a-4c3d-9e5f-0a1b2c3d4e5f"
        self.folder = f"0000000000000000-{random.getrandbits(64):016x}_explorer" if self.is_child else root
        self.log = Log(random, self.dialect, self.folder, root if self.is_child else None)
        self.disk = Disk(random, self.log, self.describe(root))
        self.processes: list[Process] = []
        self.turns: list[Turn] = []
        self.children: dict[str, dict[str, bytes]] = {}
        self.happened: list[str] = []
        self.step = 0
        self.last: Turn | None = None
        self.is_waiting = True
        """Whether the last step left its turn waiting for a provider or a tool: what is not waiting goes on at once."""
        self.number = 0
        self.is_rewound = False
        self.compacts = random.random() < 0.15
        self.hooks = random.random() < 0.2
        self.repairs = random.random() < 0.75
        self.saves_errors = random.random() < 0.5
        self.checkpoints = random.random() < 0.7
        self.left = random.randrange(1, 6) + (2 if self.kind in SECOND_ODDS else 0)

    def describe(self, root: str) -> Row:
        metadata: Row = {"session_id": self.folder, "created": "2026-07-31T12:13:20+00:00", "bundle": "bundle:sample"}
        if not self.is_child:
            return metadata | {"model": "claude-sonnet-4-5", "working_dir": "/home/dev/work/proj"}
        return metadata | {"parent_id": root, "trace_id": root, "agent_name": "explorer", "config": {"session": {"orchestrator": "loop"}}}

    def odds(self, chance: float) -> bool:
        return self.random.random() < chance

    def count(self) -> int:
        self.number += 1
        return self.number

    def note(self, what: str) -> None:
        self.happened.append(what)

    # The schedule

    def play(self) -> History:
        random = self.random
        cut = random.randrange(10, 250) if random.random() < 0.35 else LONGEST_PLAY
        process = self.open_process(is_new=True)
        while self.step < cut:
            self.step += 1
            alive = [turn for turn in self.turns if turn.steps is not None]
            try:
                if alive:
                    self.go_on(alive)
                elif self.left > 0:
                    process = self.go_to_next(process)
                else:
                    break
            except StopIteration:
                break
        else:
            self.note("cut")
        is_cut = any(turn.steps is not None for turn in self.turns)
        if not is_cut:
            self.leave()
        return self.finish(is_cut)

    def go_on(self, alive: list[Turn]) -> None:
        """One step of something that runs, or something that comes in between."""
        kind = self.kind
        turn = self.random.choices(alive, [one.speed for one in alive])[0]
        if not self.is_waiting and self.last in alive and self.odds(0.97):
            turn = self.last
        if self.odds(CRASH_ODDS.get(kind, 0.0)) and (self.disk.transcript is not None or self.odds(0.1)):
            self.kill(turn.process)
        elif self.odds(CANCEL_ODDS.get(kind, 0.0)) and turn.is_alive and not turn.cancel:
            self.cancel(turn)
        elif self.odds(SECOND_ODDS.get(kind, 0.0)) and self.left > 0 and len(alive) < 3:
            in_other = kind == "processes" or (kind == "mixed" and self.odds(0.5))
            if in_other and self.disk.transcript is not None:
                self.note("second process")
                idle = [one for one in self.processes if one.is_alive and one is not turn.process]
                self.begin(self.random.choice(idle) if idle and self.odds(0.6) else self.open_process())
            elif not in_other:
                self.note("second execution")
                self.begin(turn.process)
        elif turn.process.naming is not None and self.odds(0.1):
            self.advance_naming(turn.process)
        else:
            self.advance(turn)

    def advance(self, turn: Turn) -> None:
        try:
            assert turn.steps is not None
            self.last, self.is_waiting = turn, False
            next(turn.steps)
        except StopIteration:
            self.end_turn(turn)
        except ProcessKilled:
            self.kill(turn.process)

    def end_turn(self, turn: Turn) -> None:
        turn.steps = None
        if turn.born >= 0 and turn.over < 0:
            turn.over = self.step
        for call in turn.calls:
            call.is_running = False

    def advance_naming(self, process: Process) -> None:
        try:
            next(process.naming)  # type: ignore[arg-type]
        except StopIteration:
            process.naming = None

    def go_to_next(self, process: Process) -> Process:
        """Between turns: the user types the next prompt, leaves and comes back, or takes something back."""
        for one in self.processes:
            if one.naming is not None and one.is_alive and self.odds(0.4):
                self.advance_naming(one)
        self.log.wait(self.random.choice((0.5, 5.0, 60.0, 900.0)))
        if not process.is_alive or self.odds(0.25):
            if process.is_alive:
                self.quit(process)
            if self.odds(0.06) and not any(one.is_alive for one in self.processes):
                self.rewind()
            others = [one for one in self.processes if one.is_alive]
            process = self.random.choice(others) if others and self.odds(0.5) else self.open_process()
        elif self.odds(0.04) and process.context and not process.fails_saving:
            self.drop(process.context)
            process.context = []
            self.note("cleared")
        self.begin(process)
        return process

    def begin(self, process: Process) -> None:
        self.left -= 1
        turn = Turn(len(self.turns), process, self.write_prompt())
        turn.speed = self.random.choice((1, 2, 6))
        turn.steps = self.run(turn)
        process.turns.append(turn)
        self.turns.append(turn)

    def write_prompt(self) -> str:
        text = f"prompt {self.count()}: {self.random.choice(('go on', 'größer 東京', 'why not?', 'do it «now»'))}"
        return f"<system-reminder>{text}</system-reminder>" if self.odds(0.03) else text

    # Processes

    def open_process(self, is_new: bool = False) -> Process:
        """Raises StopIteration where there is nothing to resume."""
        if not is_new and self.disk.transcript is None:
            raise StopIteration
        repairs = not self.is_child and (self.repairs if self.odds(0.8) else not self.repairs)
        fails = not is_new and self.odds(0.08)
        if fails:
            self.note("saves fail")
        process = Process([] if is_new else self.disk.load(), repairs, fails)
        self.processes.append(process)
        if self.is_child:
            self.log.emit("session:fork", {"parent": self.log.parent_id})
        if not is_new and self.dialect.start != "session":
            self.log.emit("session:resume")
        if (is_new or self.is_child) and self.dialect.start != "session":
            self.log.emit("session:start")
        return process

    def kill(self, process: Process) -> None:
        self.note("killed")
        self.stop(process)
        if self.odds(0.15):
            self.log.tear()
            self.note("torn event")
        self.log.wait(self.random.choice((1.0, 60.0, 7200.0)))

    def quit(self, process: Process) -> None:
        if self.dialect.start != "session":
            self.log.emit("session:end")
        self.stop(process)

    def stop(self, process: Process) -> None:
        process.is_alive = False
        process.naming = None
        for turn in process.turns:
            if turn.steps is not None:
                self.end_turn(turn)

    def leave(self) -> None:
        for process in self.processes:
            if process.is_alive and self.odds(0.6):
                self.quit(process)

    def cancel(self, turn: Turn) -> None:
        """Ctrl+C: the loop is told and writes so, or it dies without a word while the client lives on."""
        how = self.random.choice(("graceful", "graceful", "immediate", "silent"))
        self.note(f"{how} cancel")
        if how == "silent":
            self.end_turn(turn)
            return
        turn.cancel = how
        self.log.emit("cancel:requested", {"orchestrator": "loop-streaming", "state": how})

    def rewind(self) -> None:
        """The client's own tool: cuts the transcript at a prompt, and the log by the same share of lines."""
        rows = self.disk.load()
        prompts = [index for index, row in enumerate(rows) if row["role"] == "user" and index]
        if not prompts:
            return
        cut = self.random.choice(prompts)
        self.note("rewound")
        self.is_rewound = True
        self.drop(rows[cut:])
        self.disk.others["transcript.jsonl.bak-pre-rewind-20260801120000"] = self.disk.transcript or b""
        self.disk.others["events.jsonl.bak-pre-rewind-20260801120000"] = self.log.read()
        self.disk.transcript = dump_rows(rows[:cut])
        kept = len(self.log.lines) * cut // len(rows)
        del self.log.lines[kept:]
        self.log.tail = b""
        for turn in self.turns:
            turn.start = turn.start if turn.start < kept else -1
            turn.ends = {name: line for name, line in turn.ends.items() if line < kept}
            for call in turn.calls:
                call.pre, call.end = (line if line < kept else -1 for line in (call.pre, call.end))
            turn.asks = [ask for ask in turn.asks if ask.line < kept]
            for ask in turn.asks:
                ask.sent, ask.answered = (line if line < kept else -1 for line in (ask.sent, ask.answered))

    def drop(self, rows: list[Row]) -> None:
        """Rows leave a context on purpose."""
        prompts = {row["content"] for row in rows if row["role"] == "user"}
        ids = {call["id"] for row in rows for call in row.get("tool_calls", ())}
        for turn in self.turns:
            if turn.prompt in prompts or any(call.id in ids for call in turn.calls):
                turn.is_dropped = True

    # One execution

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
                calls[row["tool_call_id"]].placeholders.append(calls[row["tool_call_id"]].is_running)
        process.context[:] = repaired
        self.save(process)

    def save(self, process: Process, **told: Any) -> None:
        self.disk.save(process, 0.01 if self.kind in CRASH_ODDS else 0.0, **told)

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
        cuts = [cut for cut in cuts if process.context[cut]["content"] in prompts]
        if cuts and not process.fails_saving and self.odds(0.5):
            cut = self.random.choice(cuts)
            self.drop(process.context[:cut])
            del process.context[:cut]
            self.note("compacted")

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

    def pause(self) -> Steps:
        self.is_waiting = True
        yield

    def make_call(self) -> Call:
        tool = self.random.choices(TOOLS, (5, 2, 3, 1))[0]
        fate = self.random.choices(("ok", "fails", "denied", "unknown", "hook-fails"), (30, 3, 1, 1, 1))[0]
        call = Call(f"toolu_{self.random.getrandbits(40):010x}{self.count():04d}", tool, {"command": f"step {self.count()}"}, fate)
        if tool == "delegate":
            call.child = f"0000000000000000-{self.random.getrandbits(64):016x}_helper"
            call.arguments = {"agent": "helper", "instruction": f"help {self.count()}"}
        return call

    def write_id(self) -> str:
        return f"{self.random.getrandbits(32):08x}-{self.random.getrandbits(16):04x}-4c3d-9e5f-{self.random.getrandbits(48):012x}"

    # Tools

    def use_tools(self, turn: Turn) -> Steps:
        process, log = turn.process, self.log
        calls = [call for call in turn.calls if call.stored is None]
        running = [(call, self.run_tool(turn, call)) for call in calls]
        self.random.shuffle(running)
        for _, tool in running:
            # All of a group are called before any of them waits.
            next(tool)
            yield
        running = [(call, tool) for call, tool in running if call.is_running or self.finish_tool(tool)]
        while running:
            if turn.cancel == "immediate":
                yield from self.drop_tools(turn, calls)
                return
            place = self.random.randrange(len(running))
            try:
                next(running[place][1])
            except StopIteration:
                del running[place]
            yield
        for call in calls:
            row = {"role": "tool", "name": call.tool, "tool_call_id": call.id, "content": call.stored, "metadata": stamp_row(log)}
            process.context.append(row)
        yield

    def finish_tool(self, tool: Steps) -> bool:
        """Lets a call that was not let run come to its end."""
        return next(tool, None) is not None

    def run_tool(self, turn: Turn, call: Call) -> Steps:
        log, dialect = self.log, self.dialect
        told: Row = {"parallel_group_id": call.group}
        told |= {"tool_name": call.tool, "tool_call_id": call.id, "tool_input": call.arguments} if dialect.call_ids else {}
        told |= {} if dialect.call_ids else {"tool": call.tool, "arguments": call.arguments}
        call.pre = log.emit("tool:pre", told)
        if call.fate == "denied":
            call.stored = "Denied by hook: not here"
            yield
            return
        if call.fate == "unknown":
            message = f"Error: Tool '{call.tool}' not found"
            call.end = log.emit("tool:error", told, level="ERROR", error={"type": "RuntimeError", "msg": message})
            call.stored = call.recorded = message
            yield
            return
        call.is_running = True
        yield
        if call.child:
            yield from self.delegate(call)
        while self.odds(0.75):
            log.wait(self.random.choice((0.1, 1.0, 20.0)))
            yield from self.pause()
        result = self.write_outcome(call)
        call.end = log.emit("tool:post", told | {"result": result})
        call.stored = call.recorded = write_result(result, dialect.bare)
        call.whole = write_result(result, False)
        if call.fate == "hook-fails":
            yield
            call.end = log.emit("tool:error", told, level="ERROR", error={"type": "ValueError", "msg": "hook broke"})
            call.stored = call.recorded = "Internal error executing tool: hook broke"
        elif self.hooks and self.odds(0.2):
            self.remind(turn.process)
            call.stored = write_result(result, True)
        call.is_running = False
        if len(turn.process.context) > turn.process.saved and not self.is_child:
            self.save(turn.process, incremental=True)

    def write_outcome(self, call: Call) -> Row:
        output: Any = {"returncode": 0, "stderr": "", "stdout": f"output {self.count()} größer\n"}
        if call.child:
            output = {"agent": "helper", "metadata": {}, "response": "done", "session_id": call.child, "status": "success", "turn_count": 1}
        elif call.tool == "read_file":
            output = self.random.choice((f"text {self.count()}\u2028", [1, 2.5, "three"], ""))
        if call.fate == "fails":
            return {"error": {"message": f"failed {self.count()}"}, "output": None, "success": False}
        return {"error": None, "output": output, "success": True}

    def delegate(self, call: Call) -> Steps:
        told = {"agent": "helper", "sub_session_id": call.child, "parent_session_id": self.folder, "tool_call_id": call.id}
        self.log.emit("delegate:agent_spawned", told | {"parallel_group_id": call.group})
        rows = [{"role": "user", "content": "help"}, {"role": "assistant", "content": [{"type": "text", "text": "done"}]}]
        metadata = {"session_id": call.child, "parent_id": self.folder, "agent_name": "helper", "config": {"tools": []}}
        self.children[call.child] = {TRANSCRIPT: dump_rows(rows), "metadata.json": json.dumps(metadata).encode()}
        yield
        if self.odds(0.2):
            # Rows of the child in its parent's log, as some versions wrote them.
            for name, data in (("execution:start", {"prompt": "help"}), ("provider:request", {"iteration": 1}), ("execution:end", {})):
                self.log.emit(name, data, session_id=call.child)
                yield
            self.note("child rows")
        self.log.emit("delegate:agent_completed", told | {"success": True})
        yield

    def remind(self, process: Process) -> None:
        text = f'<system-reminder source="hooks-reminder">keep on {self.count()}</system-reminder>'
        metadata = {"source": "hook", "hook_name": "hooks-reminder", "event": "tool:post", **stamp_row(self.log), "persisted": True}
        process.context.append({"role": "user", "content": text, "metadata": metadata})
        self.note("reminder")

    def drop_tools(self, turn: Turn, calls: list[Call]) -> Steps:
        """An immediate cancel: the loop answers its own calls, and closes the turn."""
        for call in calls:
            finished = call.stored is not None
            call.is_running = False
            content = json.dumps({"error": "Tool execution was cancelled by user", "cancelled": True, "tool": call.tool})
            if not finished:
                call.stored = content
            shown = call.stored if finished else content
            row = {"role": "tool", "name": call.tool, "tool_call_id": call.id, "content": shown, "metadata": stamp_row(self.log)}
            turn.process.context.append(row)
        text = "The previous operation was cancelled by the user."
        turn.process.context.append({"role": "assistant", "content": text, "metadata": stamp_row(self.log)})
        yield

    # Ends

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

    def finish(self, is_cut: bool) -> History:
        files = dict(self.disk.others)
        if self.disk.transcript is not None:
            files[TRANSCRIPT] = self.disk.transcript
        if self.disk.backup is not None:
            files[f"{TRANSCRIPT}.backup"] = self.disk.backup
        if self.disk.has_metadata:
            files["metadata.json"] = json.dumps(self.disk.metadata, indent=2).encode()
        files["events.jsonl"] = self.log.read()
        happened = tuple(sorted(set(self.happened)))
        turns = tuple(turn for turn in self.turns if turn.born >= 0)
        return History(
            self.seed, self.kind, self.folder, files, self.children, turns, happened, self.log.time, is_cut, self.is_rewound, self.log
        )


def play_history(seed: int) -> History:
    return Play(seed).play()
