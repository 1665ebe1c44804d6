"""Reading only what edits touched must tell the same as reading the whole planned file."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from doctor.findings import Edit, LineOf
from doctor.model import Transcript
from doctor.pairing import pair_calls
from doctor.repair.edits import apply_and_trace
from doctor.repair.rereading import reread_edited
from doctor.session import Session
from doctor.sources.formats import amplifier
from doctor.sources.session import reread_session
from doctor.sources.source import MemorySource
from tests.repair.sessions import call, join, placeholder, reply, result, user
from tests.support.damage import damage_session
from tests.support.sessions import build_session

sized = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
ODD = (
    b"",
    b"  ",
    b"{",
    b"[]",
    b'{"role": "user"}',
    b"\0\0",
    b"\xff",
    b"\xef\xbb\xbf" + user("bom").encode(),
    b'{"role": "user", "content": "\\ud800"}',
    b'{"role": "user", "content": "crlf"}\r',
    b"\r",
    '{"role": "user", "content": "a\u2028b\u0085"}'.encode(),
    b'{"role": "user", "content": "hi", "metadata": {"n": -18446744073709551616}}',
)
ROWS = (user("hi"), call("z"), result("z"), placeholder("z"), reply("ok"), user("hi") + user("glued"))


def read(data: bytes) -> Session:
    transcript = amplifier.read_transcript(MemorySource(data), "transcript.jsonl")
    return Session(transcript, pair_calls(transcript.messages))


def tell(transcript: Transcript) -> dict[str, Any]:
    """Everything that a reader knows; new fields of Transcript are compared without being named here."""
    return {name: getattr(transcript, name) for name in Transcript.__slots__ if name not in ("source", "_index_of_line")}


def assert_same(session: Session, edits: list[Edit]) -> Session:
    source, runs = apply_and_trace(session.transcript, edits)
    quick, whole = reread_edited(session, source, runs), reread_session(session, source)
    assert tell(quick.transcript) == tell(whole.transcript)
    assert quick.pairing == whole.pairing
    return quick


def draw_edits(session: Session, random: Random) -> list[Edit]:
    count = session.transcript.line_count
    edits, line = [], 0
    while line <= count and len(edits) < 6:
        line += random.choice([0, 0, 1, 2, 5, 9])
        stop = line + random.choice([0, 0, 1, 1, 2])
        if stop > count:
            break
        contents: list[Any] = []
        for _ in range(random.choice([0, 1, 1, 2])):
            if count and random.random() < 0.5:
                contents.append(LineOf(random.randrange(count)))
            else:
                contents.append(random.choice([*ODD, *(row.encode() for row in ROWS)]))
        edits.append(Edit(line, stop, tuple(contents)))
        line = stop + 1
    return edits


@sized
@given(st.randoms(use_true_random=False))
def test_quick_and_whole_reading_agree_on_damaged_sessions(random: Random) -> None:
    files, damage = damage_session(build_session(random), random)
    note(f"damage: {damage}")
    session = read(files["transcript.jsonl"])
    for _ in range(3):
        session = assert_same(session, draw_edits(session, random))


def test_only_what_changed_is_read() -> None:
    class Counting(MemorySource):
        opened = 0

        def read(self, offset: int, length: int) -> bytes:
            Counting.opened += length
            return super().read(offset, length)

    rows = [
        row for number in range(300) for row in (user(f"ask {number}"), call(f"c{number}"), result(f"c{number}", "x" * 300), reply("ok"))
    ]
    source = Counting(join(*rows))
    transcript = amplifier.read_transcript(source, "transcript.jsonl")
    session = Session(transcript, pair_calls(transcript.messages))
    planned, runs = apply_and_trace(transcript, [Edit(200, 201), Edit(100, 100, (LineOf(200),))])
    quick = reread_edited(session, planned, runs)
    assert quick.transcript.messages[300] is transcript.messages[300], "views of untouched lines are shared"
    assert Counting.opened < source.size / 20
    assert_same(session, [Edit(200, 201), Edit(100, 100, (LineOf(200),))])


def test_a_repetition_that_an_edit_makes_is_seen_and_one_that_it_breaks_is_not() -> None:
    session = read(join(*(user(text) for text in "abcddefg")))
    assert session.transcript.repeated_lines == [4]
    assert assert_same(session, [Edit(4, 4, (b'{"role": "user", "content": "-"}',))]).transcript.repeated_lines == []
    session = read(join(*(user(text) for text in "abcdxdefg")))
    assert assert_same(session, [Edit(4, 5)]).transcript.repeated_lines == [4]


def test_a_torn_last_line_that_gets_a_line_behind_it_is_invalid_instead() -> None:
    session = read(join(*(user(text) for text in "abcdef")) + b'{"role": "us')
    assert [problem.kind for problem in session.transcript.line_problems] == ["torn"]
    later = assert_same(session, [Edit(7, 7, (user("next").encode(),))])
    assert [problem.kind for problem in later.transcript.line_problems] == ["invalid"]


def test_files_with_many_shape_problems_are_read_whole() -> None:
    session = read(join(*('{"role": "nobody", "content": "x"}' for _ in range(120)), user("end")))
    later = assert_same(session, [Edit(3, 5), Edit(50, 50, (b"[]",))])
    assert later.transcript.shape_problem_count > len(later.transcript.shape_problems)
