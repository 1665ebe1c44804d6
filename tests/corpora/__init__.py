"""Requests that providers accepted, as they were recorded: nothing in them may be called an error.

The recordings themselves are no part of the repository. A folder of them holds `*.jsonl` or `*.jsonl.gz`; a line is an object with `repo`,
`path`, `host`, `status` (200) and `request`, the body. A file named after a wire (anthropic, chat, responses, gemini, converse) holds
bodies of that wire; in other files each body's wire is told from the body.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from doctor.analysis.wires import check_request
from doctor.analysis.wires.shape import ERROR, WIRES, Violation
from doctor.sources.formats.request import detect_wire

VARIABLE = "AMPLIFIER_DOCTOR_CORPORA"
"""Names the folder for the tests."""
WIRE_OF_FILE = {"chat": "openai-chat", "responses": "openai-responses", **{wire: wire for wire in WIRES}}
_CLAUDE_3 = "recorded in 2024, a result's id matches no call: edited by hand, or the API of that time let it pass"
EXCEPTIONS = {
    ("DataDog/dd-trace-py", f"tests/contrib/anthropic/cassettes/anthropic_completion_tools_call_with_tool_result_{name}.yaml"): _CLAUDE_3
    for name in ("stream", "stream_helper")
}
"""(repository, path) -> why an error is right there."""


class Checked(NamedTuple):
    """One recording and what its wire says to it."""

    file: str
    line: int
    wire: str
    recording: dict[str, Any]
    violations: tuple[Violation, ...]

    @property
    def errors(self) -> list[Violation]:
        return [found for found in self.violations if found.severity == ERROR]

    @property
    def excuse(self) -> str:
        return EXCEPTIONS.get((str(self.recording.get("repo")), str(self.recording.get("path"))), "")


def check_folder(folder: Path) -> Iterator[Checked]:
    """Checks every accepted request of a folder."""
    for path in sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")]):
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for line, text in enumerate(lines):
                recording = json.loads(text)
                if recording.get("status", 200) != 200:
                    continue
                body = recording["request"]
                wire = WIRE_OF_FILE.get(path.name.partition(".")[0]) or detect_wire(body)
                found = check_request(body, wire, str(recording.get("host") or ""), str(recording.get("model") or "")) if wire else []
                yield Checked(path.name, line, wire, recording, tuple(found))


def count_wires(results: list[Checked]) -> dict[str, int]:
    return dict(sorted(Counter(result.wire or "unknown" for result in results).items()))
