"""`python -m tests.corpora [FOLDER]`: checks recorded requests that providers accepted. The folder may also stand in the environment.

Exit code 0 when no error is found in them apart from the documented exceptions, 1 when there is one, 2 when there is nothing to check.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from tests.corpora import VARIABLE, check_folder, count_wires


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpora", description="Checks recorded requests that providers accepted.")
    parser.add_argument("folder", nargs="?", default=os.environ.get(VARIABLE), help=f"default: the environment variable {VARIABLE}")
    parser.add_argument("--warnings", action="store_true", help="list warnings too")
    wanted = parser.parse_args()
    results = list(check_folder(Path(wanted.folder))) if wanted.folder else []
    if not results:
        print(f"nothing to check: name a folder of *.jsonl.gz, or set {VARIABLE}", file=sys.stderr)
        return 2
    wrong = 0
    for result in results:
        for found in result.violations if wanted.warnings else result.errors:
            wrong += found.severity == "E" and not result.excuse
            mark = f"known: {result.excuse}" if result.excuse else found.depends or "ERROR"
            print(f"{result.file}:{result.line + 1}: {found.rule} {found.text[:160]} [{result.recording.get('host')}] ({mark})")
    for wire, count in count_wires(results).items():
        rules = Counter(found.rule for result in results if result.wire == wire for found in result.errors if not result.excuse)
        known = sum(bool(result.errors and result.excuse) for result in results if result.wire == wire)
        print(f"{wire:18}{count:6} accepted requests{known:4} known exceptions{sum(rules.values()):5} errors {dict(rules) or ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
