"""Reads a planned file again after a round of edits, but only the lines that the edits touched and their neighbours.

The bytes of all other lines are known to be the same, and what a line says depends on nothing but its bytes, on whether the line before it
is the same, and on whether it is the last. So each run of untouched lines keeps its views, save for its first and its last line. A test
compares this with a full reading on thousands of damaged sessions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from doctor.model import Message, Transcript
from doctor.pairing import pair_calls
from doctor.records import Record
from doctor.repair.edits import KeptRun
from doctor.repair.pieces import Piece, PiecedSource
from doctor.session import Session
from doctor.sources.formats import load_format
from doctor.sources.session import reread_session

MOST_SHAPE_PROBLEMS = 50
"""Readers list only the first shape problems of a file. Where there are so many, the file is read as a whole."""


class Region(Record):
    """Bytes [start, stop) of the planned file that have to be read. `has_context`: the first line is there only to be compared with."""

    start: int
    stop: int
    has_context: bool


def reread_edited(session: Session, source: PiecedSource, runs: Sequence[KeptRun]) -> Session:
    """As doctor.sources.session.reread_session. `runs` are the lines of `session` that stayed, as apply_and_trace tells them."""
    old = session.transcript
    if old.notes is not None or old.form is not None or old.shape_problem_count > MOST_SHAPE_PROBLEMS:
        # Notes hang together over rows: what an edit replaces, what a thread holds.
        return reread_session(session, source)
    reader = load_format(old.format)
    known = [trim_run(old, run) for run in runs if run.stop - run.old > 2]
    regions = list_regions(old, source, known)
    pieces: list[Piece] = []
    for region in regions:
        pieces += source.cut(region.start, region.stop - region.start)
    part = reader.read_transcript(PiecedSource(source.base, pieces), old.path)
    if old.shape_problem_count + part.shape_problem_count > MOST_SHAPE_PROBLEMS:
        return reread_session(session, source)
    transcript = Transcript(old.path, old.format, source)
    transcript.eol, transcript.ends_with_eol = part.eol, part.ends_with_eol
    offset = line = 0
    for number, region in enumerate(regions):
        offset += region.stop - region.start
        stop = bisect_left(part.starts, offset)
        copy_lines(part, line + region.has_context, stop, transcript, region.stop - offset)
        line = stop
        if number < len(known):
            run = known[number]
            copy_lines(old, run.old, run.stop, transcript, run.offset - old.starts[run.old])
    transcript.shape_problem_count = len(transcript.shape_problems)
    return session.with_transcript(transcript, pair_calls(transcript.messages))


def trim_run(old: Transcript, run: KeptRun) -> KeptRun:
    """Without the first line, whose neighbour may be another one now, and without the last, which may end differently."""
    return KeptRun(run.old + 1, run.stop - 1, run.offset + old.starts[run.old + 1] - old.starts[run.old])


def list_regions(old: Transcript, source: PiecedSource, known: Sequence[KeptRun]) -> list[Region]:
    """What lies before, between and behind the known runs."""
    regions: list[Region] = []
    start, has_context = 0, False
    for run in known:
        regions.append(Region(start, run.offset, has_context))
        start, has_context = run.offset + old.starts[run.stop - 1] - old.starts[run.old], True
    regions.append(Region(start, source.size, has_context))
    return regions


def copy_lines(source: Transcript, first: int, stop: int, target: Transcript, delta: int) -> None:
    """Appends all that is known of lines [first, stop) of one transcript to another; their bytes lie `delta` further on there."""
    shift = target.line_count - first
    starts = source.starts[first + 1 : stop + 1]
    target.starts.extend(starts if not delta else [start + delta for start in starts])
    begin, end = (bisect_left(source.messages, line, key=lambda message: message.line) for line in (first, stop))
    index_shift = len(target.messages) - begin
    messages = source.messages[begin:end]
    target.messages += messages if not shift else [Message(message[0] + shift, *message[1:]) for message in messages]
    low, high = bisect_left(source.unusual, begin), bisect_left(source.unusual, end)
    target.unusual += [index + index_shift for index in source.unusual[low:high]]
    for name in ("line_problems", "shape_problems", "byte_notes"):
        found = [item._replace(line=item.line + shift) for item in getattr(source, name) if first <= item.line < stop]
        getattr(target, name).extend(found)
    for name in ("repeated_lines", "blank_lines", "crlf_lines"):
        lines = getattr(source, name)
        getattr(target, name).extend([line + shift for line in lines[bisect_left(lines, first) : bisect_left(lines, stop)]])
