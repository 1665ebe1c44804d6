"""Spelled fixes are what the planner would do, whichever way a reader of the report applies them."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.analysis.engine import diagnose
from doctor.analysis.registry import load_rules
from doctor.findings import Edit, Fix, Safety
from doctor.model import Transcript
from doctor.repair.edits import apply_edits
from doctor.repair.replacements import LONGEST_INSERTION, MOST_INSERTED, Replacement, spell_fix, spell_fixes
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.output.samples import shadowed
from tests.support.cases import NOW

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
TRANSCRIPTS = sorted(FIXTURES.glob("*/input/**/transcript.jsonl"))


def apply_bytes(data: bytes, replacements: tuple[Replacement, ...]) -> bytes:
    for one in reversed(replacements):
        data = data[: one.offset] + one.inserted + data[one.offset + one.length :]
    return data


def apply_lines(data: bytes, replacements: tuple[Replacement, ...]) -> bytes:
    """As a reader that only knows lines does it."""
    lines = data.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    for one in reversed(replacements):
        assert one.lines is not None
        ended[one.lines[0] : one.lines[1]] = [one.inserted]
    return b"".join(ended)


def read(data: bytes) -> Transcript:
    return read_session("-", now=NOW, events=False, source=MemorySource(data)).transcript


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_spelled_fixes_are_the_real_ones(path: Path) -> None:
    session = read_session(str(path), now=NOW)
    data = path.read_bytes()
    found = [one for one in diagnose(session, load_rules()).diagnostics if one.fix is not None]
    for before, after in zip(found, spell_fixes(session.transcript, found), strict=True):
        assert before.fix is not None and after.fix is not None
        if before.fix.safety is Safety.MANUAL or not before.fix.edits:
            assert after.fix.replacements == ()
            continue
        planned = apply_edits(session.transcript, before.fix.edits)
        expected = planned.read(0, planned.size)
        assert apply_bytes(data, after.fix.replacements) == expected
        if all(one.lines is not None for one in after.fix.replacements):
            assert apply_lines(data, after.fix.replacements) == expected


def test_most_fixes_are_spelled_as_lines() -> None:
    spelled = [
        one.fix.replacements
        for path in TRANSCRIPTS
        for session in [read_session(str(path), now=NOW)]
        for one in spell_fixes(session.transcript, diagnose(session, load_rules()).diagnostics)
        if one.fix is not None and one.fix.replacements
    ]
    assert len(spelled) > 80
    assert sum(all(one.lines is not None for one in fix) for fix in spelled) > 70


def test_an_insertion_behind_an_open_end_closes_it() -> None:
    (one,) = spell_fix(read(b'{"a":1}'), Fix("add", Safety.SAFE, (Edit(1, 1, (b'{"b":2}',)),)))
    assert apply_bytes(b'{"a":1}', (one,)) == b'{"a":1}\n{"b":2}' and one.lines is None


def test_what_is_too_long_is_only_named() -> None:
    transcript = read(b'{"a":1}\n')
    long = Fix("add", Safety.SAFE, (Edit(0, 0, (b"x" * (LONGEST_INSERTION + 1),)),))
    short = Fix("add", Safety.SAFE, (Edit(0, 0, (b"x" * (LONGEST_INSERTION - 1),)),))
    assert spell_fix(transcript, long) == ()
    many = spell_fixes(transcript, [shadowed(fix=short)] * (2 * MOST_INSERTED // LONGEST_INSERTION))
    spelled = sum(len(replacement.inserted) for one in many if one.fix is not None for replacement in one.fix.replacements)
    assert MOST_INSERTED <= spelled <= MOST_INSERTED + LONGEST_INSERTION
