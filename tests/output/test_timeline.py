from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from doctor.output.timeline import Bar, Timeline
from doctor.output.timeline_groups import lay_out
from doctor.output.timeline_words import count_bars, describe_lines, describe_state, describe_times
from tests.output.timelines import SEED, Story, build, tell_nine_hours, tell_turn


@pytest.fixture(scope="module")
def seed() -> Timeline:
    return build(SEED)


def find(timeline: Timeline, kind: str, words: str = "") -> list[Bar]:
    return [bar for bar in timeline.bars if bar.kind == kind and words in bar.label]


def codes(timeline: Timeline, bar: Bar) -> set[str]:
    return {timeline.findings[number].code for number in bar.findings}


def rows(bar: Bar) -> list[int]:
    return [row + 1 for row in bar.rows]


def test_the_seed_session_is_told_whole(seed: Timeline) -> None:
    assert count_bars(seed) == "3 executions, 5 requests, 3 tool calls, 1 repair, 1 provider error · 61 events"
    slow, quick = find(seed, "execution", "slow")[0], find(seed, "execution", "quick")[0]
    assert (describe_lines(slow), describe_state(slow)) == ("17-48", "ended in error")
    assert describe_times(slow) == "12:18:01.238 – 12:18:07.842 (6.6 s)"
    assert describe_lines(quick) == "32-53" and describe_state(quick) == ""
    assert [(span.first + 1, span.last + 1, span.confidence) for span in seed.spans] == [(32, 48, "confirmed")]
    (error,) = find(seed, "error")
    assert error.start_line + 1 == 47 and "unexpected `tool_use_id`" in error.text


def test_bars_know_their_rows(seed: Timeline) -> None:
    assert rows(find(seed, "tool", "delegate")[0]) == [4, 6, 12]
    assert rows(find(seed, "tool", "bash")[0]) == [9, 10]
    assert rows(find(seed, "execution", "slow")[0]) == [3, 4, 5, 6, 11, 12]
    assert rows(find(seed, "execution", "quick")[0]) == [8, 9, 10, 13]
    assert [rows(bar) for bar in find(seed, "request")] == [[2], [4], [9], [13], [4, 5, 11]]
    assert rows(find(seed, "error")[0]) == [4, 5, 11]  # the call that the provider's text names


def test_the_repair_stands_before_the_turn_that_it_opened(seed: Timeline) -> None:
    (repair,) = find(seed, "repair")
    assert (describe_lines(repair), rows(repair)) == ("<32", [5, 6, 7])
    assert describe_times(repair) == "not later than 12:18:02.984"
    assert seed.bars.index(repair) < seed.bars.index(find(seed, "execution", "quick")[0])


def test_findings_are_marked(seed: Timeline) -> None:
    assert {"AD305", "AD507"} <= codes(seed, find(seed, "tool", "delegate")[0])
    assert "AD501" in codes(seed, find(seed, "execution", "slow")[0]) & codes(seed, find(seed, "execution", "quick")[0])
    assert "AD305" in codes(seed, find(seed, "repair")[0])
    assert codes(seed, find(seed, "execution", "Hi")[0]) == set()
    assert codes(seed, find(seed, "tool", "bash")[0]) == set()


def test_without_texts_nothing_is_quoted() -> None:
    timeline = build(SEED, with_texts=False)
    assert all("slow" not in bar.label and "tool_use_id" not in bar.text for bar in timeline.bars)
    assert [bar.label for bar in find(timeline, "execution")] == ["execution"] * 3
    assert rows(find(timeline, "error")[0]) == [4, 5, 11]


def test_what_has_no_end_runs_to_the_last_sign_of_its_execution(tmp_path: Path) -> None:
    story = Story()
    story.start(0, "first")
    story.ask(0, 1, 1, "r1")
    story.call(1, "call_a", "call_b")
    story.finish(5, "call_b", group="call_a")
    story.event(9, "session:resume")
    timeline = build(story.write(tmp_path))
    open_tool = find(timeline, "tool", "call_a")[0]
    assert (describe_state(open_tool), open_tool.end_line, open_tool.last) == (
        "no end in the log",
        -1,
        find(timeline, "tool", "call_b")[0].last,
    )
    assert describe_lines(open_tool).endswith("-")
    assert describe_state(find(timeline, "execution")[0]) == "no end written"


def test_requests_of_old_logs_without_ids_have_ends(tmp_path: Path) -> None:
    story = Story()
    story.start(0, "first")
    story.event(0, "provider:request", iteration=1)
    story.event(0, "llm:request")
    answer = story.event(4, "llm:response", {"status": "ok"})
    story.reply(4, "done")
    (request,) = find(build(story.write(tmp_path)), "request")
    assert (request.end_line, describe_times(request)) == (answer, "15:07:47.000 – 15:07:51.000 (4.0 s)")


def test_an_unanswered_request_stops_at_the_next_own_event(tmp_path: Path) -> None:
    story = Story()
    story.start(0, "first")
    story.event(0, "provider:request", iteration=1)
    story.call(3, "call_a")
    story.finish(4, "call_a")
    story.reply(5, "done")
    timeline = build(story.write(tmp_path))
    (request,) = find(timeline, "request")
    assert (request.end_line, request.last, request.state) == (-1, find(timeline, "tool")[0].first, "")


def test_nine_hours_are_folded(tmp_path: Path) -> None:
    layout = lay_out(build(tell_nine_hours().write(tmp_path)), 60)
    (section,) = layout.sections
    (fold,) = section.axis.folds
    assert fold.end - fold.begin == pytest.approx(9 * 3600 + 18 * 60 - 2)
    assert fold.right - fold.left < 0.1
    assert section.spans[0].confidence == "confirmed"
    quick = next(bar for bar in section.bars if bar.label == "Are you there?")
    assert section.axis.place(quick.last) - section.axis.place(quick.first) > 0.5


def test_clocks_that_go_back_or_are_missing_change_no_order(tmp_path: Path) -> None:
    story = Story()
    tell_turn(story, 0, "first", 1)
    tell_turn(story, -86_400, "second", 2)
    story.start(None, "third")
    story.ask(None, None, 1, "r")
    story.reply(None, "done")
    timeline = build(story.write(tmp_path))
    assert [bar.label for bar in find(timeline, "execution")] == ["first", "second", "third"]
    (section,) = lay_out(timeline, 60).sections
    places = [section.axis.place(bar.first) for bar in section.bars]
    assert places == sorted(places) and places[0] >= 0 and places[-1] <= 1
    assert all(section.axis.place(bar.last) >= section.axis.place(bar.first) for bar in section.bars)


def test_long_sessions_are_grouped_and_what_matters_is_kept(tmp_path: Path) -> None:
    story = Story()
    for number in range(500):
        tell_turn(story, 10 * number, f"turn {number}", number)
    story.start(6000, "last")
    story.event(6001, "provider:request", iteration=1)
    story.event(6002, "provider:error", error={"msg": "529 overloaded"})
    timeline = build(story.write(tmp_path))
    assert len(timeline.bars) > 2_000
    layout = lay_out(timeline, 60)
    shown = [bar for section in layout.sections for bar in section.bars]
    assert len(shown) <= 60 and layout.hidden == 0
    assert [bar.text for bar in shown if bar.kind == "error"] == ["529 overloaded"]
    assert sum(number for bar in shown for _, number in bar.contents or (("", 1),)) == len(timeline.bars)
    assert shown[0].kind == "group" and shown[0].label.startswith("16 executions, ")


def test_too_many_notable_bars_are_cut_with_a_count(tmp_path: Path) -> None:
    story = Story()
    for number in range(100):
        story.start(10 * number, f"turn {number}")
        story.event(10 * number + 1, "provider:request", iteration=1)
        story.event(10 * number + 2, "provider:error", error={"msg": "529"})
        story.event(10 * number + 2, "orchestrator:complete", {"status": "error"})
    timeline = build(story.write(tmp_path))
    layout = lay_out(timeline, 60)
    shown = sum(len(section.bars) for section in layout.sections)
    assert shown == 60 and layout.hidden == len(timeline.bars) - 60


def test_sections_end_where_nothing_runs(tmp_path: Path) -> None:
    story = Story()
    for number in range(40):
        tell_turn(story, 10 * number, f"turn {number}", number)
    sections = lay_out(build(story.write(tmp_path)), 1_000, section_bars=30).sections
    assert len(sections) > 3
    for before, after in pairwise(sections):
        assert max(bar.last for bar in before.bars) < after.bars[0].first
        assert after.bars[0].kind == "execution"


def test_a_start_after_a_crash_is_no_overlap_to_mark(tmp_path: Path) -> None:
    story = Story()
    story.start(0, "first")
    story.start(60, "second")
    story.reply(64, "done")
    timeline = build(story.write(tmp_path))
    assert [span.confidence for span in timeline.spans] == ["possible"]
    assert [section.spans for section in lay_out(timeline, 60).sections] == [()]


def test_rows_are_not_taken_for_moments_where_there_is_no_log(tmp_path: Path) -> None:
    """An export tells its times itself: findings name its rows, bars its moments, of which there are others."""
    from doctor.examples import answer, export, prompt
    from doctor.examples import tool as part

    steps = [
        answer(f"msg_a{number}", "msg_1", part(f"toolu_{number}", start=3 * number + 1, end=3 * number + 2), created=3 * number,
               completed=3 * number + 2, finish="tool-calls")
        for number in range(1, 5)
    ]  # fmt: skip
    last = answer("msg_a9", "msg_1", part("toolu_9", "running", start=21), created=20)
    (tmp_path / "transcript.jsonl").write_text(export(prompt("msg_1", "go", created=2), *steps, last))
    timeline = build(tmp_path)
    assert {bar.label for bar in timeline.bars if "AD301" in codes(timeline, bar)} == {"request 5", "bash toolu_9"}
