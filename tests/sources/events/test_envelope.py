"""The block reader: the same answer for every block size, huge lines, damaged lines, odd line ends."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from doctor.eventlog import Execution
from doctor.sources.events import blocks, envelope, read_events
from doctor.sources.events.blocks import scan_log
from doctor.sources.events.envelope import HEAD_BYTES, TAIL_BYTES
from doctor.sources.source import MemorySource
from tests.sources.events.logs import SESSION_ID, LogWriter, show, write_turn


def add_big(log: LogWriter, event: str, size: int, **promoted: str) -> int:
    return log.add(event, {"raw": {"messages": [{"content": 'quoted {"ts": "x", "event": "tool:pre"} ' * (size // 40)}]}}, **promoted)


def build_mixed_log(seed: int) -> LogWriter:
    """Turns, huge request lines of random sizes, and every kind of damage."""
    chance = random.Random(seed)
    log = LogWriter()
    log.add("session:start")
    for number in range(12):
        log.start(f"prompt {number}")
        log.ask(1)
        add_big(log, "llm:request", chance.randrange(200, 90_000), request_id=f"r{number}")
        log.answer(f"r{number}")
        log.call(f"c{number}", group=f"g{number}")
        log.finish(f"c{number}", {"output": "é" * chance.randrange(0, 20_000)}, group=f"g{number}")
        damage = chance.randrange(6)
        if damage == 0:
            log.lines[-1] = log.lines[-1][: chance.randrange(1, len(log.lines[-1]))]
        elif damage == 1:
            log.add_raw(
                log.lines[-3][: chance.randrange(200, len(log.lines[-3]) + 1)] + log.lines[-1].replace(b"c%d" % number, b"x%d" % number)
            )
        elif damage == 2:
            log.add_raw(b"")
        elif damage == 3:
            log.add_raw(b"\x00" * 5_000)
        elif damage == 4:
            add_big(log, "content_block:end", 70_000)
        log.end()
    return log


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("end", [b"\n", b""])
def test_block_size_does_not_change_the_answer(tmp_path: Path, seed: int, end: bytes) -> None:
    path = build_mixed_log(seed).write(tmp_path, end)
    expected = show(read_events(path, SESSION_ID))
    assert len(expected["executions"]) >= 10
    for size in (1, 1_000, 1_024, 4_097, 20_000, 65_536, 1 << 22):
        assert show(read_events(path, SESSION_ID, size)) == expected


def test_line_numbers_and_spans_point_at_the_records(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    add_big(log, "llm:request", 500_000, request_id="r")
    pre = log.call("a")
    add_big(log, "llm:response", 100_000, request_id="r")
    post = log.finish("a", {"output": "größer"})
    path = log.write(tmp_path)
    run = read_events(path, SESSION_ID, 2_048).runs["a"]
    assert (run.pre_line, run.end_line) == (pre, post)
    data = Path(path).read_bytes()
    assert data[run.offset : run.offset + run.length] == log.lines[post]


def test_wanted_line_longer_than_the_block_is_parsed(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.call("a")
    log.finish("a", {"output": "x" * 300_000})
    assert log.read(tmp_path, block_bytes=1_024).runs["a"].end_event == "tool:post"


def test_huge_unwanted_lines_are_never_parsed_or_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    log = LogWriter()
    for number in range(3):
        add_big(log, "llm:request", 2_000_000, request_id=f"r{number}")
        add_big(log, "content_block:end", 2_000_000)
    longest = 0
    parse = envelope.parse_record

    def watch(raw: bytes) -> object:
        nonlocal longest
        longest = max(longest, len(raw))
        return parse(raw)

    monkeypatch.setattr(envelope, "parse_record", watch)
    monkeypatch.setattr(envelope, "loads", watch)
    scan = scan_log(MemorySource(b"\n".join(log.lines) + b"\n"))
    assert [event.request_id for event in scan.events] == ["r0", "r1", "r2"]
    assert scan.line_count == 6
    assert longest <= HEAD_BYTES


def test_look_alikes_inside_a_huge_line_are_no_records(tmp_path: Path) -> None:
    log = LogWriter()
    nested = {"ts": "2026-01-01T00:00:00Z", "lvl": "INFO", "event": "execution:start", "data": {"prompt": "nested"}}
    log.add("llm:request", {"raw": ["x" * 50_000, nested]})
    log.add("llm:request", {"raw": nested})
    log.start("hi")
    read = log.read(tmp_path)
    assert [execution.prompt for execution in read.executions] == ["hi"]
    assert read.problems == ()


def test_event_name_with_an_escape_or_other_key_order_is_parsed_whole(tmp_path: Path) -> None:
    log = LogWriter()
    log.add_raw(json.dumps({"event": "execution:start", "timestamp": "2026-01-01T00:00:00Z", "data": {"prompt": "older"}}).encode())
    log.add_raw(json.dumps({"data": {"prompt": "x"}, "event": "execution\u003astart", "ts": "t"}).encode().replace(b"n:s", b"n\\u003as"))
    log.add_raw(json.dumps({"ts": "t", "event": "something:new", "data": {}}, separators=(",", ":")).encode())
    read = log.read(tmp_path)
    assert [execution.prompt for execution in read.executions] == ["older", "x"]
    assert read.executions[0].start_time == "2026-01-01T00:00:00Z"


def forget_offsets(executions: Iterable[Execution]) -> list[Execution]:
    """Bytes before a line that differ move its offset, and nothing else."""
    return [execution._replace(offset=0) for execution in executions]


def test_compact_separators_are_the_same_log(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "hi", "a")
    expected = show(log.read(tmp_path))
    log.lines = [json.dumps(json.loads(line), separators=(",", ":")).encode() for line in log.lines]
    read = show(log.read(tmp_path))
    assert [run._replace(offset=0, length=0) for run in read.pop("runs").values()] == [
        run._replace(offset=0, length=0) for run in expected.pop("runs").values()
    ]
    read["executions"], expected["executions"] = forget_offsets(read["executions"]), forget_offsets(expected["executions"])
    assert read == expected


def test_carriage_returns_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "hi", "a")
    log.add("content_block:start")
    plain = log.read(tmp_path)
    log.lines = [line + b"\r" for line in log.lines]
    log.lines[0] = b"\xef\xbb\xbf" + log.lines[0]
    marked = log.read(tmp_path)
    assert marked.problems == ()
    assert forget_offsets(marked.executions) == forget_offsets(plain.executions)


def test_separators_that_python_takes_for_line_ends_are_text(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "odd \u2028 \u2029 \x85 characters")
    read = log.read(tmp_path)
    assert read.line_count == len(log.lines)
    assert len(read.executions) == 1


def test_empty_log(tmp_path: Path) -> None:
    read = LogWriter().read(tmp_path)
    assert (read.line_count, read.executions, read.problems, read.last_time) == (1, (), (), "")
    (tmp_path / "events.jsonl").write_bytes(b"")
    assert read_events(str(tmp_path / "events.jsonl"), SESSION_ID).line_count == 0


def test_last_time_is_that_of_the_last_readable_line(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "hi")
    last = log.add("cleanup:finally_end")
    log.add_raw(b'{"ts": "2026-')
    assert log.read(tmp_path).last_time == json.loads(log.lines[last])["ts"]


@pytest.mark.parametrize("is_wanted", [True, False])
def test_torn_last_line(tmp_path: Path, is_wanted: bool) -> None:
    log = LogWriter()
    log.start("hi")
    log.finish("a") if is_wanted else add_big(log, "llm:request", 60_000, request_id="r")
    log.lines[-1] = log.lines[-1][:-9]
    for end in (b"", b"\n"):
        read = read_events(log.write(tmp_path, end), SESSION_ID, 1_024)
        assert [(problem.kind, problem.line, problem.count) for problem in read.problems] == [("torn", 2, 1)]


@pytest.mark.parametrize("size", [300, 9_000, 90_000])
@pytest.mark.parametrize("event", ["llm:request", "content_block:end", "tool:pre", "unknown:kind"])
def test_record_glued_to_a_torn_one_is_found(tmp_path: Path, event: str, size: int) -> None:
    log = LogWriter()
    start = log.start("hi")
    add_big(log, event, size)
    torn = log.lines.pop()[:-20]
    log.finish("a")
    log.lines[-1] = torn + log.lines[-1]
    read = log.read(tmp_path, block_bytes=4_096)
    assert len(log.lines[-1]) - len(torn) < TAIL_BYTES
    assert read.runs["a"].end_line == start + 1
    assert [problem.kind for problem in read.problems] == ["glued"]
    assert (tmp_path / "events.jsonl").read_bytes()[read.runs["a"].offset :].startswith(b'{"ts"')


def test_three_records_on_one_line(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "größer", "a")
    whole = show(log.read(tmp_path))
    log.lines = [b"".join(log.lines)]
    read = log.read(tmp_path)
    assert [execution.prompt for execution in read.executions] == [execution.prompt for execution in whole["executions"]]
    assert set(read.runs) == {"a"}
    assert [problem.kind for problem in read.problems] == ["glued"]


def test_bytes_that_are_no_text_in_the_head(tmp_path: Path) -> None:
    for event in ("execution:start", "llm:request", "content_block:start"):
        for place in (12, 60, 110):
            log = LogWriter()
            log.add(event, {"prompt": "hi"})
            line = bytearray(log.lines[0])
            line[place] = 0x97
            log.lines[0] = bytes(line)
            assert log.read(tmp_path).line_count == 1


def test_rubbish_is_reported_as_invalid(tmp_path: Path) -> None:
    log = LogWriter()
    for line in (b"rubbish", b"17", b"[]", b'{"event": 3}', b"\x00\x00\x00", b"\xff\xfe"):
        log.add_raw(line)
    problems = log.read(tmp_path).problems
    assert [(problem.kind, problem.line, problem.count) for problem in problems] == [("invalid", 0, 6)]


def test_strict_parser_does_not_lose_what_python_reads(tmp_path: Path) -> None:
    log = LogWriter()
    log.start("hi")
    log.call("a")
    log.finish("a", {"output": "@", "number": 1})
    log.lines[-1] = log.lines[-1].replace(b'"@"', b'"\\ud800"').replace(b'"number": 1', b'"number": NaN')
    read = log.read(tmp_path)
    assert read.runs["a"].end_event == "tool:post"
    assert read.problems == ()


def test_doubled_log_is_the_single_one(tmp_path: Path) -> None:
    log = LogWriter()
    for number in range(4):
        write_turn(log, f"prompt {number}", f"c{number}")
    single = log.read(tmp_path)
    log.lines = [line for line in log.lines for _ in (1, 2)]
    doubled = log.read(tmp_path)
    assert [execution.prompt for execution in doubled.executions] == [execution.prompt for execution in single.executions]
    assert [execution.status for execution in doubled.executions] == ["success"] * 4
    assert not doubled.overlaps and not doubled.abandoned
    assert len(doubled.requests) == len(single.requests)
    assert [problem.kind for problem in doubled.problems] == ["duplicate"]
    assert doubled.problems[0].line == 1 and doubled.problems[0].count >= 4 * 8


def test_copies_that_differ_in_the_handlers_clock_alone(tmp_path: Path) -> None:
    log = LogWriter()
    for name in ("execution:start", "execution:end"):
        for _ in (1, 2):
            log.add(name, {"prompt": "hi", "timestamp": f"2026-01-01T00:00:00 {name}"})
    read = log.read(tmp_path)
    assert len(read.executions) == 1
    assert [(problem.kind, problem.count) for problem in read.problems] == [("duplicate", 2)]


def test_foreign_rows_are_skipped_and_reported(tmp_path: Path) -> None:
    log = LogWriter()
    log.add("delegate:agent_resumed", {"parent_id": "somebody"})
    log.start("mine")
    other = LogWriter("11111111-2222-4333-8444-555555555555")
    other.start("theirs")
    log.lines += other.lines
    log.end()
    log.add_raw(b'{"ts": "2026-08-01T00:00:00Z", "event": "tool:pre", "data": {"tool_call_id": "a"}}')
    read = log.read(tmp_path)
    assert [execution.prompt for execution in read.executions] == ["mine"]
    assert "a" in read.runs
    assert [(problem.kind, problem.line, problem.count) for problem in read.problems] == [("foreign", 3, 2)]


def test_without_a_session_id_the_one_that_most_events_have_counts(tmp_path: Path) -> None:
    log = LogWriter()
    write_turn(log, "mine", "a")
    other = LogWriter("11111111-2222-4333-8444-555555555555")
    other.start("theirs")
    log.lines = other.lines + log.lines
    assert [execution.prompt for execution in log.read(tmp_path, "").executions] == ["mine"]
    # A log that does not know the session that it is asked about says nothing of it.
    assert log.read(tmp_path, "another-session").executions == ()


def test_whoever_watches_a_large_log_is_told_how_far_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = build_mixed_log(1)
    data = b"\n".join(log.lines) + b"\n"
    told: list[tuple[int, int]] = []
    scan_log(MemorySource(data), 4_096, lambda done, total: told.append((done, total)))
    assert not told
    monkeypatch.setattr(blocks, "WATCHED_BYTES", len(data))
    watched = scan_log(MemorySource(data), 4_096, lambda done, total: told.append((done, total)))
    assert watched.line_count == len(log.lines)
    assert told == sorted(told) and len(told) > 10 and told[-1] == (len(data), len(data)) and told.count(told[-1]) == 1
