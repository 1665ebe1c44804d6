"""Plays random sessions of Amplifier's client and knows what really happened: `play_history(seed)`.

One session in one store, with one process or several, executions one after the other or at once, calls in parallel, delegates, cancels,
crashes between any two steps, the client's own repair, saves that fail or overwrite another's. It is an oracle: it knows the client from
recorded sessions, and nothing of the doctor.
"""

from __future__ import annotations

import json

from tests.support.execution_log import dump_rows
from tests.support.execution_parts import History, Process, ProcessKilled, Turn
from tests.support.execution_stage import CRASH_ODDS, SECOND_ODDS
from tests.support.execution_turns import Turns
from tests.support.rooms import TRANSCRIPT

CANCEL_ODDS = {"cancelling": 0.02, "mixed": 0.006}
LONGEST_PLAY = 3_000


class Play(Turns):
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
            self.seed, self.kind, self.folder, files, self.children, turns, happened, self.log.last_time, is_cut, self.is_rewound, self.log
        )


def play_history(seed: int) -> History:
    return Play(seed).play()
