"""What 25 kinds of stored defects become on four wires behind Amplifier's own repair and conversion, against what was measured."""

from __future__ import annotations

import json
import re

import pytest

from doctor.analysis.wires import check_history
from doctor.analysis.wires.habits import lower_as_amplifier
from doctor.analysis.wires.shape import ANTHROPIC, CONVERSE, ERROR, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES, WIRES, History, Settings
from doctor.analysis.wires.verdict import REFUSED, judge_transcript
from doctor.model import BROKEN_SHAPE, Transcript
from doctor.pairing import pair_calls
from doctor.sources.formats.amplifier import read_transcript
from doctor.sources.source import MemorySource
from tests.analysis.wires.defects import DEFECTS, Defect
from tests.support.amplifier_client import repair_rows

NOTES = {
    ("result row twice", OPENAI_RESPONSES): "nothing is known of two outputs for one call, so nothing is claimed",
    ("one id twice in a turn", OPENAI_CHAT): "nothing is known of it, so nothing is claimed",
    ("id used again, unanswered", OPENAI_RESPONSES): "unknown: a warning at most, since the two calls are told apart by an answer",
    ("id used again, both answered", OPENAI_RESPONSES): "unknown: a warning at most",
    ("empty text block", GEMINI): "Gemini takes an empty text; Amplifier's module is taken to drop it as it drops an empty string",
    ("empty assistant list", OPENAI_CHAT): "a text-joining client sends an empty string; OC-06 fires where the list is sent as it is",
}
COLUMNS = ((ANTHROPIC, "anthropic"), (OPENAI_RESPONSES, "responses"), (GEMINI, "gemini"), (OPENAI_CHAT, "chat"))
CELLS = [pytest.param(defect, wire, getattr(defect, column), id=f"{defect.name}-{wire}") for defect in DEFECTS for wire, column in COLUMNS]


def read(rows: bytes) -> Transcript:
    return read_transcript(MemorySource(rows), "transcript.jsonl")


def list_expected(cell: str) -> set[str]:
    """AN-01/02 stands for AN-01 and AN-02."""
    inner = cell.strip("[]")
    prefix = inner.partition("-")[0]
    return {f"{prefix}-{number}" for number in re.findall(r"\d+", inner)}


@pytest.mark.parametrize(("defect", "wire", "cell"), CELLS)
def test_each_cell_of_the_table(defect: Defect, wire: str, cell: str) -> None:
    broken, rows = repair_rows([dict(row) for row in defect.rows])
    assert broken == defect.client_repairs
    # The textbook column was measured behind the client's repair too.
    transcript = read(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    if cell == "crash":
        assert any(message.flags & BROKEN_SHAPE for message in transcript.messages)
        return
    found = check_history(wire, History(tuple(lower_as_amplifier(transcript.messages, wire)), Settings()))
    errors = {violation.rule for violation in found if violation.severity == ERROR}
    expected = list_expected(cell)
    if cell.startswith("["):
        assert (defect.name, wire) in NOTES
        assert errors <= expected
    elif "/" in cell:
        assert errors and errors <= expected
    else:
        assert errors == expected


RAW = {
    # Without any client in between, a defect that Amplifier hides is seen by the wire itself.
    ("result missing", ANTHROPIC): "AN-01",
    ("result missing", OPENAI_RESPONSES): "OR-01",
    ("result missing", GEMINI): "GM-01",
    ("result missing", OPENAI_CHAT): "OC-01",
    ("result missing", CONVERSE): "BC-01",
    ("result missing at the end", ANTHROPIC): "AN-01",
    ("result missing at the end", OPENAI_CHAT): "OC-01",
    ("late behind a user", ANTHROPIC): "AN-01",
    ("late behind a user", OPENAI_RESPONSES): "",
    ("late behind a user", GEMINI): "",
    ("late behind a user", OPENAI_CHAT): "OC-01",
    ("late behind a user", CONVERSE): "",
    ("late behind a reply", ANTHROPIC): "",
    ("late behind a reply", OPENAI_CHAT): "OC-01",
    ("second copy far away", ANTHROPIC): "AN-02",
    ("second copy far away", GEMINI): "GM-03",
    ("second copy far away", OPENAI_CHAT): "OC-02",
    ("second copy far away", CONVERSE): "BC-02",
    ("result without call, in the middle", ANTHROPIC): "AN-02",
    ("result without call, in the middle", CONVERSE): "BC-02",
    ("result row twice", CONVERSE): "BC-03",
    ("one id twice in a turn", CONVERSE): "BC-04",
    ("id with foreign characters", CONVERSE): "",
    ("arguments stored as text", CONVERSE): "BC-12",
    ("empty user message", CONVERSE): "BC-09",
    ("empty assistant list", CONVERSE): "BC-08",
    ("turn without a reply", ANTHROPIC): "",
    ("turn without a reply", OPENAI_CHAT): "",
    ("results at the end", ANTHROPIC): "",
    ("results at the end", OPENAI_CHAT): "",
    ("results at the end", GEMINI): "",
    ("results at the end", CONVERSE): "",
    ("two user messages in a row", CONVERSE): "",
}


@pytest.mark.parametrize(("name", "wire"), list(RAW))
def test_the_plain_verdict(name: str, wire: str) -> None:
    defect = next(defect for defect in DEFECTS if defect.name == name)
    transcript = read(defect.transcript())
    verdict = judge_transcript(transcript, pair_calls(transcript.messages), [wire])[wire]
    first = verdict.violations[0].rule if verdict.answer == REFUSED else ""
    assert first == RAW[name, wire]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_lines_point_at_rows_of_the_file(defect: Defect) -> None:
    transcript = read(defect.transcript())
    for verdict in judge_transcript(transcript, pair_calls(transcript.messages), WIRES).values():
        for violation in verdict.violations:
            assert violation.lines and all(0 <= line < len(defect.rows) for line in violation.lines)
