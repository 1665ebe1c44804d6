"""`python -m tests.benchmarks [--quick] [--only NAME] [--keep DIR] [--runs N]`: generates its inputs and prints one line per bar.

Exit code 0 when every bar that could be measured holds, 1 when one misses.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.benchmarks.draw import draw_ten_rows, dump_row
from tests.benchmarks.measure import BARE, DOCTOR, HASH, PASS, WITHOUT_WIRES, Comparison, Refused, compare

MIB = 1 << 20
WIRES = ("anthropic", "openai-chat", "openai-responses", "gemini", "converse")


class Sizes(NamedTuple):
    """How large the inputs are; `suffix` names them in the table."""

    small: str
    large: str
    events: str
    sessions: int


FULL = Sizes("20M", "200M", "1G", 2000)
QUICK = Sizes("20M", "20M", "50M", 200)


class Row(NamedTuple):
    """One line of the table. `bar` 0 means: for information only. `peak_bar` is in MiB, 0 for none."""

    name: str
    unit: str
    found: Comparison
    bar: float
    peak_bar: float = 0.0

    @property
    def holds(self) -> bool:
        return (not self.bar or self.found.ratio <= self.bar) and (not self.peak_bar or self.found.peak <= self.peak_bar)


class Bench:
    """Makes each input once, in one folder, and knows how to measure each bar."""

    def __init__(self, folder: str, sizes: Sizes, runs: int) -> None:
        self.folder = folder
        self.sizes = sizes
        self.runs = runs

    def generate(self, name: str, *arguments: str) -> str:
        """Path of an input, written by a process of its own so that this one stays small."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            print(f"generating {name} …", file=sys.stderr, flush=True)
            kind, *rest = arguments
            subprocess.run([sys.executable, "-m", "tests.benchmarks.generate", kind, path, *rest], check=True, stdout=subprocess.DEVNULL)
        return path

    def session(self, size: str) -> str:
        return os.path.join(self.generate(f"session-{size}", "session", "--transcript", size), "transcript.jsonl")

    def check(self, size: str, bar: float) -> Iterator[Row]:
        path = self.session(size)
        peak_bar = 48 + 10 * find_longest(path) / MIB
        yield Row(f"check {size}B", "bare cpu", compare([*DOCTOR, "check", path], [*BARE, path], runs=self.runs), bar, peak_bar)

    def check_small(self) -> Iterator[Row]:
        return self.check(self.sizes.small, 1.5)

    def check_large(self) -> Iterator[Row]:
        return self.check(self.sizes.large, 1.6) if self.sizes.large != self.sizes.small else iter(())

    def wires(self) -> Iterator[Row]:
        """Against the same check by a doctor that knows no provider. Nothing is printed, so that the words of findings don't count."""
        every = [argument for wire in WIRES for argument in ("--for", wire)]
        for name, path in ((f"{self.sizes.large}B", self.session(self.sizes.large)), ("unsigned thinking", self.unsigned_session())):
            whole, base = [*DOCTOR, "check", "-q", path, *every], [*WITHOUT_WIRES, "check", "-q", path, *every]
            yield Row(f"five wires on top, {name}", "bare cpu", compare(whole, [*BARE, path], base=base, runs=self.runs), 0.6)

    def unsigned_session(self) -> str:
        """The small session with thinking, but no signature, in every assistant row: one provider minds each of them."""
        path = os.path.join(self.folder, f"unsigned-{self.sizes.small}", "transcript.jsonl")
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(self.session(self.sizes.small), "rb") as rows, open(path, "wb") as file:
                file.writelines(map(take_signature, rows))
        return path

    def events(self) -> Iterator[Row]:
        folder = self.generate(f"events-{self.sizes.events}", "session", "--events", self.sizes.events)
        log = os.path.join(folder, "events.jsonl")
        alone = os.path.join(self.folder, "without", os.path.basename(folder))
        os.makedirs(alone, exist_ok=True)
        for name in ("transcript.jsonl", "metadata.json"):
            shutil.copyfile(os.path.join(folder, name), os.path.join(alone, name))
        peak_bar = 32 + 10 * find_longest(log, without=b'"event": "llm:') / MIB
        whole, base, count = [*DOCTOR, "check", folder], [*DOCTOR, "check", alone], ["wc", "-l", log]
        size = self.sizes.events
        yield Row(f"events {size}B, on top of the transcript", "wc -l cpu", compare(whole, count, base=base, runs=self.runs), 2.5)
        yield Row(f"events {size}B, whole process", "wc -l cpu", compare(whole, count, runs=self.runs), 0, peak_bar)
        yield Row(f"events {size}B, every line parsed by orjson", "wc -l cpu", compare([*BARE, log], count, runs=min(self.runs, 3)), 0)

    def fix(self) -> Iterator[Row]:
        size = self.sizes.large
        original = self.generate(f"displaced-{size}", "session", "--transcript", size, "--defects", "1", "--kinds", "displaced")
        work = os.path.join(self.folder, "fix")

        def prepare() -> None:
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(original, work)
            # What the copy left unwritten would be paid for by the first fsync of the fix.
            os.sync()

        path = os.path.join(work, "transcript.jsonl")
        found = compare([*DOCTOR, "fix", path], [*BARE, path], by="wall", runs=self.runs, prepare=prepare)
        yield Row(f"fix {size}B, one moved row", "bare wall", found, 5, 64)

    def corpus(self) -> Iterator[Row]:
        """Peaks are those of the parent. Nothing is drawn: how long that takes depends on how much is broken, not on how much there is."""
        count = self.sizes.sessions
        folder = self.generate(f"corpus-{count}", "corpus", "--sessions", str(count), "--transcript", "100K", "--defect-rate", "0.05")
        files = sorted(glob.glob(os.path.join(folder, "*", "sessions", "*", "*")))
        bare = [*BARE, *(path for path in files if path.endswith("transcript.jsonl"))]
        check = [*DOCTOR, "check", "-q", folder]
        cache = os.path.join(self.folder, "cache")
        name = f"{count} sessions of 100 KB"
        one = compare([*check, "--no-cache", "--jobs", "1"], bare, runs=self.runs)
        yield Row(f"{name}, one process", "bare cpu", one, 1.3, 200)
        two = compare([*check, "--no-cache", "--jobs", "2"], bare, by="wall", runs=self.runs)
        yield Row(f"{name}, two processes", "bare wall", two, 0.8, 200)
        cached = compare([*check, "--cache-dir", cache, "--jobs", "1"], [*HASH, *files], runs=self.runs)
        yield Row(f"{name}, unchanged", "hash cpu", cached, 1.5, 200)
        both = compare([*check, "--cache-dir", cache], [*HASH, *files], by="wall", runs=self.runs)
        yield Row(f"{name}, unchanged, auto", "hash wall", both, 1.5, 200)
        yield Row(f"{name}, scan", "bare cpu", compare([*DOCTOR, "scan", "--jobs", "1", folder], bare, runs=self.runs), 0, 200)

    def startup(self) -> Iterator[Row]:
        """Ten sound lines, and nine of them, so that there is something to say."""
        rows = draw_ten_rows()
        for name, lines in (("ten-lines", rows), ("ten-lines-broken", rows[:8] + rows[9:])):
            path = os.path.join(self.folder, f"{name}.jsonl")
            with open(path, "wb") as file:
                file.writelines(dump_row(row) + b"\n" for row in lines)
            found = compare([*DOCTOR, "check", path], PASS, runs=max(self.runs, 9))
            yield Row(f"start-up, check of {name}", "pass cpu", found, 9)


BARS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "check-small": Bench.check_small,
    "check-large": Bench.check_large,
    "wires": Bench.wires,
    "events": Bench.events,
    "fix": Bench.fix,
    "corpus": Bench.corpus,
    "startup": Bench.startup,
}


def find_longest(path: str, without: bytes = b"") -> int:
    """Length in bytes of the longest line, leaving out those that hold `without` in their first 300 bytes."""
    with open(path, "rb", buffering=1 << 20) as file:
        return max((len(line) for line in file if not without or without not in line[:300]), default=0)


def take_signature(line: bytes) -> bytes:
    """An assistant row with thinking that nobody signed, any other row as it is."""
    row = json.loads(line)
    if row["role"] != "assistant":
        return line
    content = row["content"] if isinstance(row["content"], list) else [{"type": "text", "text": row["content"]}]
    others = [block for block in content if block["type"] != "thinking"]
    row["content"] = [{"type": "thinking", "thinking": "Let me see.", "signature": None}, *others]
    return dump_row(row) + b"\n"


def print_row(row: Row) -> None:
    verdict = ("holds" if row.holds else "MISSES") if row.bar or row.peak_bar else "-"
    bar = f"{row.bar:5.1f}" if row.bar else "    -"
    peak_bar = f"{row.peak_bar:5.0f}" if row.peak_bar else "    -"
    found = row.found
    times = f"{found.a:8.3f} s / {found.b:8.3f} s"
    ratio = f"{row.name:40}{found.ratio:8.2f} x {row.unit:10}{bar}"
    print(f"{ratio}   {found.peak:6.1f} MiB {peak_bar}   {times}   exit {found.status}   {verdict}", flush=True)


def main() -> int:
    # An installed doctor has its bytecode; where the environment forbids writing it, every run would compile the sources anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measures the bars as ratios to public yardsticks.")
    parser.add_argument("--quick", action="store_true", help="20 MB, 50 MB of events, 200 sessions")
    parser.add_argument("--only", action="append", choices=list(BARS), help="one bar; may be given again")
    parser.add_argument("--keep", metavar="DIR", help="write the inputs here and leave them for the next run")
    parser.add_argument("--runs", type=int, default=5, help="alternations of A and B (at least 5)")
    wanted = parser.parse_args()
    folder = wanted.keep or tempfile.mkdtemp(prefix="benchmarks-")
    os.makedirs(folder, exist_ok=True)
    bench = Bench(os.path.abspath(folder), QUICK if wanted.quick else FULL, max(5, wanted.runs))
    missed = 0
    print(f"{'bar':40}{'median ratio':>23}{'bar':>5}   {'peak':>10} {'bar':>5}   {'doctor':>10} / {'yardstick':>10}")
    try:
        for name in wanted.only or BARS:
            try:
                for row in BARS[name](bench):
                    print_row(row)
                    missed += not row.holds
            except Refused as refusal:
                print(f"{name:40}not measured: {refusal}", flush=True)
    finally:
        if not wanted.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
