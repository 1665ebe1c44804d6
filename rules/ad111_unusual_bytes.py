"""The file is written in a way that its client reads without loss and other programs do not.

## Why it matters
Nothing is wrong with the session: it loads and sends. But line tools, editors, databases and scripts that read the same file may count its
lines otherwise, cut a row in two, change a number, or glue their next row on to the last one. Whoever meets such a difference finds its
reason here.

## How it happens
CRLF line ends come from Windows, or from an editor or a version control system that converts them; mixed ones from two programs that each
have their own habit. Blank lines, and a last row without a line end, are left by scripts and by hands. U+2028, U+2029 and U+0085 are line
ends to Unicode and come with text that was copied from a web page or a document; in a client's transcript the latter two are told only
where a row holds U+2028 too, for looking for each of them would slow every check down. Integers beyond 64 bits are ids, hashes or money in
the smallest unit, as a tool took or gave them. A line of megabytes is a file that a tool returned whole, or an image.

## How it is fixed
Not at all: each of them is valid, and the bytes are left as they are. Rows that a fix of something else adds end as the first line of the
file does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from doctor.rulekit import Finding, Session, Severity, Transcript, rule, traits

MIB = 1 << 20
ONE_DOCUMENT = "messages"
"""The format of a file that is one JSON list: it has no rows that end in a line end."""

BAD = '{"role": "user", "content": "hi"}\r\n'
GOOD = '{"role": "user", "content": "hi\\r\\n\\u2028", "metadata": {"cost": 1e20}}\n'


@rule(code="AD111", name="unusual-bytes", severity=Severity.INFO, bad=BAD, good=GOOD, needs=traits.UNUSUAL_BYTES)
def find_unusual_bytes(session: Session) -> Iterator[Finding]:
    transcript = session.transcript
    if transcript.form is not None:
        return
    if transcript.format != ONE_DOCUMENT:
        if transcript.crlf_lines:
            yield describe_line_ends(transcript)
        if transcript.blank_lines:
            yield describe_blank_lines(transcript.blank_lines)
        if not transcript.ends_with_eol and is_last_line_whole(transcript):
            text = "no line end behind the last row: a program that just appends would glue its row on to it"
            yield Finding(transcript.line_count - 1, text)
        yield from describe_separators(transcript)
    yield from describe_integers(transcript)
    yield from describe_huge_lines(transcript)


def describe_line_ends(transcript: Transcript) -> Finding:
    """One finding for the whole file: at its first line, or where the line ends change for the first time."""
    lines = transcript.crlf_lines
    ended = transcript.line_count - (not transcript.ends_with_eol)
    if len(lines) == ended:
        where = f"all {ended} lines" if ended > 1 else "the only line"
        return Finding(0, f"CRLF line ends in {where}: line tools leave the CR on each row, and a program that appends with LF mixes them")
    change = lines[0] or next(number for number in range(ended) if number == len(lines) or lines[number] != number)
    text = f"mixed line ends, CRLF in {len(lines)} of {ended} lines, first changing at line {change + 1}"
    return Finding(change, f"{text}: two programs wrote to this file, or an editor converted a part of it")


def describe_blank_lines(lines: list[int]) -> Finding:
    what = f"{len(lines)} blank lines, the first is line {lines[0] + 1}" if len(lines) > 1 else f"line {lines[0] + 1} is blank"
    return Finding(
        lines[0], f"{what}: strict readers of JSON Lines refuse that, and those that count rows instead of lines get other numbers"
    )


def is_last_line_whole(transcript: Transcript) -> bool:
    """A line that is torn, or ends in what a power cut left, has its own finding: of course nothing stands behind it."""
    last = transcript.line_count - 1
    return bool(transcript.messages) and transcript.messages[-1].line == last and all(p.line != last for p in transcript.line_problems)


def describe_separators(transcript: Transcript) -> Iterator[Finding]:
    notes = [note for note in transcript.byte_notes if note.kind == "separator"]
    if notes:
        names = list(dict.fromkeys(note.text for note in notes))
        found = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        text = f"{found} in the text of {count_rows(len({note.line for note in notes}))}"
        why = "tools that split at Unicode line ends, as Python's splitlines() does, cut there and count lines otherwise"
        yield Finding(notes[0].line, f"{text}: {why}", column=notes[0].column)


def describe_integers(transcript: Transcript) -> Iterator[Finding]:
    notes = [note for note in transcript.byte_notes if note.kind == "integer"]
    if notes:
        text = f"an integer of {notes[0].text} digits, beyond 64 bits"
        if len(notes) > 1:
            text = f"integers beyond 64 bits in {count_rows(len(notes))}, the first of {notes[0].text} digits"
        why = "parsers that make a float of such a number change it, and an id then names something else"
        yield Finding(notes[0].line, f"{text}: {why}", column=notes[0].column)


def describe_huge_lines(transcript: Transcript) -> Iterator[Finding]:
    """Whatever is so long reaches over a multiple of that length, so that only a few lines have to be measured."""
    starts = transcript.starts
    if starts[-1] < traits.HUGE_LINE:
        return
    reaching = sorted({bisect_right(starts, offset) - 1 for offset in range(0, starts[-1], traits.HUGE_LINE)})
    sizes = {line: starts[line + 1] - starts[line] for line in reaching if starts[line + 1] - starts[line] >= traits.HUGE_LINE}
    if sizes:
        longest = f"{max(sizes.values()) / MIB:.1f} MiB"
        what = f"{len(sizes)} lines of 4 MiB or more, the longest {longest}" if len(sizes) > 1 else f"a line of {longest}"
        why = "as text a million tokens or more, which hardly any model takes in one request, and too long for readers with a line buffer"
        yield Finding(min(sizes), f"{what}: {why}")


def count_rows(number: int) -> str:
    return f"{number} row{'s' if number != 1 else ''}"
