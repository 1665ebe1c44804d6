"""Damage to bytes: what crashes, power cuts, editors and torn appends leave behind.

Every function changes the draft in place and returns whether it found something to damage.
"""

from __future__ import annotations

from random import Random

from tests.support.sessions import Draft


def insert_blank_lines(draft: Draft, random: Random) -> bool:
    for _ in range(random.randrange(1, 4)):
        draft.lines.insert(random.randrange(len(draft.lines) + 1), random.choice((b"", b"", b"  ")))
    return True


def truncate_last_line(draft: Draft, random: Random) -> bool:
    if not draft.lines or draft.tail:
        return False
    line = draft.lines.pop()
    draft.tail = line[: random.randrange(len(line) + 1)]
    return True


def glue_lines(draft: Draft, random: Random) -> bool:
    """Two records on one line: both whole, or the first one torn where the second begins."""
    if len(draft.lines) < 2:
        return False
    index = random.randrange(len(draft.lines) - 1)
    first, second = draft.lines[index : index + 2]
    if random.randrange(2):
        first = first[: random.randrange(len(first) + 1)]
    draft.lines[index : index + 2] = [first + second]
    return True


def write_nul_run(draft: Draft, random: Random) -> bool:
    run = b"\0" * random.choice((1, 7, 4096))
    if not draft.lines or random.randrange(3) == 0:
        draft.lines.insert(random.randrange(len(draft.lines) + 1), run)
        return True
    index = random.randrange(len(draft.lines))
    line = draft.lines[index]
    place = random.choice((0, len(line), random.randrange(len(line) + 1)))
    draft.lines[index] = line[:place] + run + line[place:]
    return True


def write_byte_order_mark(draft: Draft, random: Random) -> bool:
    if not draft.lines:
        return False
    draft.lines[0] = b"\xef\xbb\xbf" + draft.lines[0]
    return True


def write_invalid_byte(draft: Draft, random: Random) -> bool:
    if not draft.lines:
        return False
    index = random.randrange(len(draft.lines))
    line = draft.lines[index]
    place = random.randrange(len(line) + 1)
    draft.lines[index] = line[:place] + random.choice((b"\xff", b"\xc3", b"\xed\xa0\x80")) + line[place:]
    return True


def write_lone_surrogate(draft: Draft, random: Random) -> bool:
    spots = [(index, line.find(b'"content": "') + 12) for index, line in enumerate(draft.lines) if b'"content": "' in line]
    if not spots:
        return False
    index, place = random.choice(spots)
    line = draft.lines[index]
    draft.lines[index] = line[:place] + random.choice((b"\\ud83d", b"\\udc00 tail")) + line[place:]
    return True


def damage_events(draft: Draft, random: Random) -> bool:
    """A torn, a glued or a torn and glued event line, or every line written twice."""
    if not draft.events:
        return False
    kind = random.randrange(4)
    index = random.randrange(len(draft.events))
    line = draft.events[index]
    if kind == 0:
        draft.events = [*draft.events[:index], line[: random.randrange(1, len(line))]]
    elif kind == 1 and index + 1 < len(draft.events):
        draft.events[index : index + 2] = [line + draft.events[index + 1]]
    elif kind == 2 and index + 1 < len(draft.events):
        draft.events[index : index + 2] = [line[: random.randrange(1, len(line))] + draft.events[index + 1]]
    else:
        draft.events = [line for line in draft.events for _ in range(2)]
    return True
