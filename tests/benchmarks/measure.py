"""Two commands run in turn, compared by the median of their pairwise ratios.

Absolute times drift by half on a shared machine; a ratio taken within one pair of runs does not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

LAUNCHER = [sys.executable, "-I", "-S", os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.py")]
BARE = [
    sys.executable,
    "-c",
    "import sys, orjson\nfor path in sys.argv[1:]:\n for line in open(path, 'rb', buffering=1 << 20): orjson.loads(line)",
]
"""The yardstick `bare`, with one or more paths behind it: parse every line, keep nothing."""
HASH = [
    sys.executable,
    "-c",
    "import sys, hashlib\nfor path in sys.argv[1:]:\n with open(path, 'rb') as file: hashlib.file_digest(file, 'sha256').digest()",
]
"""The yardstick `hash`, with one or more paths behind it."""
PASS = [sys.executable, "-c", "pass"]
DOCTOR = [sys.executable, "-m", "doctor"]
WITHOUT_WIRES = [
    sys.executable,
    "-c",
    "import doctor.analysis.targets as targets\ntargets.judge_session = lambda session: {}\nfrom doctor.cli import run\nrun()",
]
"""The doctor as it would be if it knew no provider."""


class Cost(NamedTuple):
    """What one run cost: CPU and wall seconds, peak in MiB, exit code."""

    cpu: float
    wall: float
    peak: float
    status: int


class Refused(Exception):
    """The command ended with a code that means "could not do it"."""


def run_command(command: Sequence[str]) -> Cost:
    """Runs a command without reading what it prints. Raises Refused with the last line of stderr when its code is neither 0 nor 1."""
    done = subprocess.run([*LAUNCHER, *command], capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        raise Refused(done.stderr.strip()[-200:])
    cpu, wall, peak, status = done.stdout.split()
    # Python itself ends with 1 when it can't find the module or the program crashes.
    crashed = "Traceback (most" in done.stderr or "No module named" in done.stderr
    if int(status) not in (0, 1) or crashed:
        raise Refused((done.stderr.strip().splitlines() or [f"exit {status}"])[-1][:120])
    return Cost(float(cpu), float(wall), float(peak) / 1024, int(status))


class Comparison(NamedTuple):
    """The medians of alternated runs of A and B; the cost of `base` is taken off A before it is compared. `status` is A's exit code."""

    ratio: float
    a: float
    b: float
    peak: float
    status: int


def compare(
    a: Sequence[str],
    b: Sequence[str],
    *,
    base: Sequence[str] = (),
    by: str = "cpu",
    runs: int = 5,
    prepare: Callable[[], None] | None = None,
) -> Comparison:
    """Alternates A and B (and base) `runs` times after one unmeasured round. `by` is cpu or wall; `prepare` runs before each A."""
    ratios, costs, others, peaks = [], [], [], []
    for number in range(runs + 1):
        if prepare:
            prepare()
        cost = run_command(a)
        off = getattr(run_command(base), by) if base else 0.0
        other = run_command(b)
        if number == 0:
            continue
        ratios.append((getattr(cost, by) - off) / max(getattr(other, by), 1e-4))
        costs.append(getattr(cost, by) - off)
        others.append(getattr(other, by))
        peaks.append(cost.peak)
    return Comparison(statistics.median(ratios), statistics.median(costs), statistics.median(others), max(peaks), cost.status)
