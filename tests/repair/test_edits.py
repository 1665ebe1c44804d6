"""Edits against the simplest model there is: a list of lines."""

from __future__ import annotations

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.findings import Edit, FileSpan, Fix, LineOf, Safety
from doctor.model import LineProblem, Source, Transcript
from doctor.repair.changes import compare_lines
from doctor.repair.edits import apply_edits, choose, find_clashes, render_diff
from doctor.repair.pieces import BORROWED, CUT, PiecedSource, Span
from doctor.sources.source import FileSource, MemorySource

CONTENTS = st.sampled_from([b"", b" ", b"a", b"b", b'{"role":"user"}', b"\xff\xfe", "é\u2028x".encode(), b"a\rb", b"x" * 50])
ENDS = st.sampled_from([b"\n", b"\r\n"])


def read_plain(source: Source, path: str = "transcript.jsonl") -> Transcript:
    """A transcript with lines only: edits need no more than that."""
    transcript = Transcript(path, "amplifier", source)
    offset, raw = 0, b""
    with source.open() as stream:
        for raw in stream:
            offset += len(raw)
            transcript.starts.append(offset)
    transcript.ends_with_eol = raw.endswith(b"\n") or not raw
    first = source.read(0, transcript.starts[1]) if transcript.line_count else b""
    transcript.eol = b"\r\n" if first.endswith(b"\r\n") else b"\n"
    return transcript


def read_all(source: Source) -> bytes:
    with source.open() as stream:
        return stream.read()


@st.composite
def edit_sets(draw: st.DrawFn, line_count: int) -> list[Edit]:
    """Edits whose replaced spans do not overlap, in any order."""
    content = st.one_of(CONTENTS, st.integers(0, line_count - 1).map(LineOf)) if line_count else CONTENTS
    cuts = sorted(draw(st.lists(st.integers(0, line_count), max_size=8)))
    edits = []
    for start, stop in zip(cuts[::2], cuts[1::2], strict=False):
        edits.append(Edit(start, stop, tuple(draw(st.lists(content, max_size=3))), draw(st.integers(0, 2))))
    inner = {line for edit in edits for line in range(edit.start + 1, edit.stop)}
    for place in draw(st.lists(st.integers(0, line_count), max_size=4)):
        if place not in inner:
            edits.append(Edit(place, place, tuple(draw(st.lists(content, min_size=1, max_size=2))), draw(st.integers(0, 2))))
    return draw(st.permutations(edits))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    eol = draw(ENDS)
    lines = draw(st.lists(CONTENTS, max_size=8))
    data = b"".join(line + eol for line in lines)
    return data[: -len(eol)] if lines and lines[-1] and draw(st.booleans()) else data


def split_lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    ends = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return [line[:-2] if line.endswith(b"\r\n") else line.removesuffix(b"\n") for line in ends]


def apply_to_list(data: bytes, edits: list[Edit]) -> bytes:
    """What apply_edits must do, for files with one kind of line end: replaces from the back, on a list of whole lines."""
    lines = split_lines(data)
    old = list(lines)
    eol = b"\r\n" if data.split(b"\n")[0].endswith(b"\r") and b"\n" in data else b"\n"
    keyed = sorted(edits, key=lambda edit: (edit.start, edit.stop > edit.start, edit.order))
    for edit in reversed(keyed):
        lines[edit.start : edit.stop] = [old[item.line] if isinstance(item, LineOf) else item for item in edit.contents]
    joined = eol.join(lines) + (eol if lines else b"")
    return joined if data.endswith(b"\n") or not data else joined.removesuffix(eol)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_edits_do_what_a_list_of_lines_does(data: st.DataObject) -> None:
    old = data.draw(files())
    transcript = read_plain(MemorySource(old))
    edits = data.draw(edit_sets(transcript.line_count))
    planned = apply_edits(transcript, edits)
    expected = apply_to_list(old, edits)
    assert read_all(planned) == expected
    assert planned.size == len(expected)
    offset, length = data.draw(st.integers(0, len(expected))), data.draw(st.integers(0, 40))
    assert planned.read(offset, length) == expected[offset : offset + length]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_second_round_flattens_and_agrees_with_the_model(data: st.DataObject) -> None:
    bytes_now = data.draw(files())
    base = MemorySource(bytes_now)
    source: Source = base
    for _ in range(3):
        transcript = read_plain(source)
        edits = data.draw(edit_sets(transcript.line_count))
        source = apply_edits(transcript, edits)
        bytes_now = apply_to_list(bytes_now, edits)
        assert read_all(source) == bytes_now
        assert source.base is base
        assert all(isinstance(piece, bytes) or piece.source is base for piece in source.pieces)
        if not bytes_now:
            break


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_changes_account_for_every_line_on_both_sides(data: st.DataObject) -> None:
    before = read_plain(MemorySource(data.draw(files())))
    edits = data.draw(edit_sets(before.line_count))
    after = read_plain(apply_edits(before, edits))
    changes = compare_lines(before, after)
    kept = [(block.old + step, block.new + step) for block in changes.kept for step in range(block.count)]
    for old, new in [*kept, *changes.moved]:
        assert before.read_line(old) == after.read_line(new)
    assert [old for old, _ in kept] == sorted({old for old, _ in kept})
    assert [new for _, new in kept] == sorted({new for _, new in kept})
    assert sorted([old for old, _ in kept] + [old for old, _ in changes.moved] + list(changes.removed)) == list(range(before.line_count))
    assert sorted([new for _, new in kept] + [new for _, new in changes.moved] + list(changes.added)) == list(range(after.line_count))
    untouched = set(range(before.line_count)) - {line for edit in edits for line in range(edit.start, edit.stop)}
    filled = {line for line in untouched if before.read_line(line)}
    assert filled <= {old for old, _ in kept}, "a line that no edit names stays; only a blank last one may lose its line end and vanish"


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_patch_applies_the_diff(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("diff")
    old = data.draw(files())
    file = folder / "transcript.jsonl"
    file.write_bytes(old)
    before = read_plain(FileSource(str(file)), str(file))
    after = read_plain(apply_edits(before, data.draw(edit_sets(before.line_count))), str(file))
    text = render_diff(before, after)
    expected = read_all(after.source)
    assert (text == "") == (old == expected)
    if text:
        (folder / "diff").write_bytes(text.encode("utf-8", "surrogateescape"))
        subprocess.run(["patch", "--binary", "--quiet", "--force", str(file), str(folder / "diff")], check=True, cwd=folder)
        assert (file.read_bytes() if file.exists() else b"") == expected


def test_a_moved_row_costs_four_pieces_however_long_the_file_is() -> None:
    lines = [b'{"row":%d}' % number for number in range(5_000)]
    before = read_plain(MemorySource(b"\n".join(lines) + b"\n"))
    planned = apply_edits(before, [Edit(4_000, 4_001), Edit(10, 10, (LineOf(4_000),))])
    assert len(planned.pieces) <= 5
    after = read_plain(planned)
    assert compare_lines(before, after).moved == ((4_000, 10),)
    diff = render_diff(before, after)
    assert diff.count("\n+") - 1 == 1 and diff.count("\n-") == 1
    assert diff.count("@@ -") == 2 and len(diff) < 600


def test_an_unterminated_last_line_gets_a_line_end_when_something_follows() -> None:
    transcript = read_plain(MemorySource(b"one\r\ntwo"))
    assert read_all(apply_edits(transcript, [Edit(2, 2, (b"three",))])) == b"one\r\ntwo\r\nthree"
    assert read_all(apply_edits(transcript, [Edit(0, 0, (LineOf(1),)), Edit(1, 2)])) == b"two\r\none"


def test_a_torn_last_line_leaves_a_terminated_file_behind() -> None:
    transcript = read_plain(MemorySource(b'{"a":1}\n{"b":'))
    transcript.line_problems.append(LineProblem(1, "torn", "cut short", 5))
    assert read_all(apply_edits(transcript, [Edit(1, 2)])) == b'{"a":1}\n'
    assert read_all(apply_edits(transcript, [Edit(1, 2, (b'{"b":2}',))])) == b'{"a":1}\n{"b":2}\n'
    assert read_all(apply_edits(transcript, [Edit(0, 0, (b"x",))])) == b'x\n{"a":1}\n{"b":'


def test_insertions_at_one_place_follow_their_order_then_the_given_order() -> None:
    transcript = read_plain(MemorySource(b"one\ntwo\n"))
    edits = [Edit(1, 1, (b"c",), 2), Edit(1, 1, (b"a",), 1), Edit(1, 2, (b"TWO",)), Edit(1, 1, (b"b",), 1), Edit(2, 2, (b"end",))]
    assert read_all(apply_edits(transcript, edits)) == b"one\na\nb\nc\nTWO\nend\n"


def test_parts_of_a_damaged_line_stay_spans_of_the_file() -> None:
    line = b'{"a":1}{"b":2}'
    base = MemorySource(b"first\n" + line + b"\n")
    transcript = read_plain(base)
    transcript.line_problems.append(LineProblem(1, "glued", "two records", 7, ((0, 7), (7, 14))))
    planned = apply_edits(transcript, [Edit(1, 2, (b'{"a":1}', b'{"b":2}'))])
    assert read_all(planned) == b'first\n{"a":1}\n{"b":2}\n'
    cuts = [piece for piece in planned.pieces if isinstance(piece, Span) and piece.role == CUT]
    assert [(cut.offset, cut.length) for cut in cuts] == [(6, 7), (13, 7)]


def test_bytes_of_another_file_stay_there(tmp_path: Path) -> None:
    backup = tmp_path / "transcript.jsonl.backup"
    backup.write_bytes(b"zero\nfrom the backup\n")
    transcript = read_plain(MemorySource(b"one\n"))
    planned = apply_edits(transcript, [Edit(1, 1, (FileSpan(str(backup), 5, 15),))])
    assert read_all(planned) == b"one\nfrom the backup\n"
    assert sum(len(piece) for piece in planned.pieces if isinstance(piece, bytes)) == 1
    again = apply_edits(read_plain(planned), [Edit(0, 0, (LineOf(1),)), Edit(1, 2)])
    assert read_all(again) == b"from the backup\none\n"
    assert {piece.source.path for piece in again.pieces if isinstance(piece, Span) and piece.role == BORROWED} == {str(backup)}


def test_a_part_of_borrowed_bytes_has_a_digest_of_its_own(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"first\nsecond")
    planned = apply_edits(read_plain(MemorySource(b"one\n")), [Edit(1, 1, (FileSpan(str(other), 0, 12),))])
    again = apply_edits(read_plain(planned), [Edit(1, 2)])
    assert read_all(again) == b"one\nsecond\n"
    borrowed = [piece for piece in again.pieces if isinstance(piece, Span) and piece.role == BORROWED]
    assert [span.digest for span in borrowed] == [sha256(b"second").digest()]


def test_a_last_line_that_gets_a_line_end_is_in_the_diff() -> None:
    before = read_plain(MemorySource(b"one\ntwo"))
    after = read_plain(apply_edits(before, [Edit(2, 2, (b"three",))]))
    no_end = "\\ No newline at end of file\n"
    assert render_diff(before, after).split("@@\n")[1] == f" one\n-two\n{no_end}+two\n+three\n{no_end}"
    after = read_plain(apply_edits(before, [Edit(1, 2)]))
    assert render_diff(before, after).split("@@\n")[1] == f"-one\n-two\n{no_end}+one\n{no_end}"


@pytest.mark.parametrize("edits", [[Edit(0, 2), Edit(1, 3)], [Edit(0, 2), Edit(1, 1, (b"x",))], [Edit(0, 9)], [Edit(0, 1), Edit(0, 1)]])
def test_impossible_edits_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another"):
        apply_edits(read_plain(MemorySource(b"a\nb\nc\n")), edits)


def fix(*edits: Edit) -> Fix:
    return Fix("do it", Safety.SAFE, edits)


def test_which_fixes_clash() -> None:
    move = fix(Edit(5, 6), Edit(2, 2, (LineOf(5),)))
    assert not find_clashes([move, fix(Edit(2, 2, (b"placeholder",)))]), "insertions at one place"
    assert not find_clashes([fix(Edit(3, 5)), fix(Edit(3, 3, (b"x",))), fix(Edit(5, 5, (b"y",)))]), "insertions at the edges"
    assert list(find_clashes([fix(Edit(3, 5)), fix(Edit(4, 4, (b"x",)))])) == [1], "an insertion inside"
    assert list(find_clashes([fix(Edit(4, 4, (b"x",))), fix(Edit(3, 5))])) == [1], "the same the other way round"
    assert list(find_clashes([move, fix(Edit(5, 6))])) == [1], "a row that is moved is also deleted"
    assert list(find_clashes([move, fix(Edit(0, 0, (LineOf(5),)))])) == [1], "a row is moved twice"


def test_a_clashing_fix_waits_as_a_whole_and_does_not_block_others() -> None:
    fixes = [fix(Edit(1, 2)), fix(Edit(1, 2), Edit(7, 8)), fix(Edit(7, 8))]
    assert choose(fixes) == ((0, 2), (1,))


def test_a_reader_is_a_good_stream_of_lines() -> None:
    big = b"x" * 3_000_000
    base = MemorySource(b"head\n" + big + b"\ntail\n")
    planned = PiecedSource(base, [b"new\n", Span(base, 5, len(big) + 1), Span(base, 0, 5), b"", Span(base, len(big) + 6, 5)])
    with planned.open() as stream:
        assert [len(line) for line in stream] == [4, len(big) + 1, 5, 5]
