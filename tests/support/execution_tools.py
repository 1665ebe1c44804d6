"""How a simulated execution runs the calls of one message: in parallel, denied, unknown, delegated, cancelled."""

from __future__ import annotations

import json
from typing import Any

from tests.support.execution_log import Row, dump_rows, stamp_row, write_result
from tests.support.execution_parts import Call, Process, Steps, Turn
from tests.support.execution_stage import Stage
from tests.support.rooms import TRANSCRIPT

TOOLS = ("bash", "todo", "read_file", "delegate")


class Tools(Stage):
    def make_call(self) -> Call:
        tool = self.random.choices(TOOLS, (5, 2, 3, 1))[0]
        fate = self.random.choices(("ok", "fails", "denied", "unknown", "hook-fails"), (30, 3, 1, 1, 1))[0]
        call = Call(f"toolu_{self.random.getrandbits(40):010x}{self.count():04d}", tool, {"command": f"step {self.count()}"}, fate)
        if tool == "delegate":
            call.child = f"0000000000000000-{self.random.getrandbits(64):016x}_helper"
            call.arguments = {"agent": "helper", "instruction": f"help {self.count()}"}
        return call

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
        call.recorded = write_result(result, dialect.bare)
        call.whole = write_result(result, False)
        if call.fate == "hook-fails":
            yield
            call.end = log.emit("tool:error", told, level="ERROR", error={"type": "ValueError", "msg": "hook broke"})
            call.recorded = "Internal error executing tool: hook broke"
        call.stored = call.recorded
        if call.fate != "hook-fails" and self.hooks and self.odds(0.2):
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
