"""What chat rows say about themselves: times in every spelling, links, and what sets a row apart."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.conversations import is_closing
from doctor.notes import BRANCH, FAILED, HANDOVER, HIDDEN, HUMAN, PROACTIVE, TREE, read_note, read_time

MOMENT = 1767250803.5  # 2026-01-01T07:00:03.5Z


@pytest.mark.parametrize(
    ("value", "seconds", "spelling"),
    [
        ("2026-01-01T07:00:03.500Z", MOMENT, "iso"),
        ("2026-01-01T08:00:03.5+01:00", MOMENT, "iso"),
        ("2026-01-01T07:00:03.500000000+00:00", MOMENT, "iso"),
        ("2026-01-01 07:00:03.5", MOMENT, "naive"),
        (1767250803.5, MOMENT, "s"),
        (1767250803500, MOMENT, "ms"),
        ("1767250803500", MOMENT, "ms"),
        (1767250803500000, MOMENT, "us"),
        (1767250803500000000, MOMENT, "ns"),
        ("Thu, 01 Jan 2026 07:00:03 GMT", MOMENT - 0.5, "iso"),
        ("Thu Jan 01 2026 08:00:03 GMT+0100 (Central European Standard Time)", MOMENT - 0.5, "iso"),
        ("2026-01-01 08:00:03.5 +0100 CET", None, "bad"),
        ("2026-01-01 07:00:03.5 +0000 UTC", MOMENT, "iso"),
        ("2026-01-01 07:00:03.5 UTC", MOMENT, "iso"),
        ("01/01/2026, 07:00:03", None, "bad"),
        ("0001-01-01T00:00:00Z", None, "bad"),
        ("0001-01-01T00:00:00+14:00", None, "bad"),
        ("9999-12-31T23:59:59-14:00", None, "bad"),
        ("1970-01-01T00:00:00Z", None, "bad"),
        (10**400, None, "bad"),
        ("06:46:33", None, "bad"),
        ("yesterday", None, "bad"),
        ("2026-01-01", None, "bad"),
        (17, None, "bad"),
        (True, None, "bad"),
        (float("nan"), None, "bad"),
        ([], None, "bad"),
    ],
)
def test_times(value: Any, seconds: float | None, spelling: str) -> None:
    found = read_time(value)
    assert found[1] == spelling
    assert found[0] == pytest.approx(seconds, abs=1e-3) if seconds is not None else found[0] is None


@pytest.mark.parametrize("value", [{}, [], ["user"], {"type": "human"}, 5, None, True])
@pytest.mark.parametrize("key", ["role", "status", "type", "source", "author", "error", "deleted", "replyTo", "turnId", "threadId"])
def test_any_value_may_stand_anywhere(key: str, value: Any) -> None:
    assert read_note({"id": "m", "role": "assistant", "timestamp": MOMENT, key: value}).time == MOMENT
    assert read_note({"id": "m", "role": "assistant", "timestamp": MOMENT, key: value, "turnId": "t"}).turn == "t"


@pytest.mark.parametrize("key", ["timestamp", "createdAt", "created_at", "ts", "time"])
def test_names_of_the_time(key: str) -> None:
    note = read_note({"id": "m", "role": "user", key: "2026-01-01T07:00:03.5Z"})
    assert (note.time, note.id) == (MOMENT, "m")


def test_amplifier_keeps_the_time_in_its_metadata() -> None:
    assert read_note({"role": "user", "content": "", "metadata": {"timestamp": "2026-01-01T07:00:03.5+00:00"}}).time == MOMENT


@pytest.mark.parametrize("key", ["turnId", "runId", "interactionId"])
def test_names_of_the_turn(key: str) -> None:
    assert read_note({"role": "assistant", key: "t1"}).turn == "t1"


@pytest.mark.parametrize(
    ("key", "value", "links"),
    [("replyTo", "m1", ("m1",)), ("replyTo", ["m1", 2], ("m1", "2")), ("in_reply_to", {"id": "m1"}, ("m1",)), ("parentID", "m1", ("m1",))],
)
def test_names_of_the_reply_link(key: str, value: Any, links: tuple[str, ...]) -> None:
    note = read_note({"role": "assistant", key: value})
    assert note.links == links
    assert bool(note.marks & TREE) == (key == "parentID")


@pytest.mark.parametrize(
    ("row", "text", "marks"),
    [
        ({"role": "user", "deleted": True}, "", HIDDEN),
        ({"role": "user", "status": "muted"}, "", HIDDEN),
        ({"role": "assistant", "source": "schedule"}, "Stand up!", PROACTIVE),
        ({"role": "assistant", "type": "greeting"}, "Hello.", PROACTIVE),
        ({"role": "assistant", "regeneratedFrom": "m1"}, "Rain.", BRANCH),
        ({"role": "assistant", "author": {"type": "human"}}, "Rain.", HUMAN),
        ({"role": "operator"}, "Rain.", HUMAN),
        ({"role": "system"}, "Conversation handed over to an agent", HANDOVER),
        ({"role": "system"}, "Error: 400", FAILED),
        ({"role": "system"}, "Anthropic (400): This model does not support assistant message prefill.", FAILED),
        ({"role": "assistant"}, "API error (529): overloaded", FAILED),
        ({"role": "assistant", "status": "failed"}, "Sorry.", FAILED),
        ({"role": "assistant"}, "Error handling is done in main().", 0),
        ({"role": "assistant"}, "400 rows were read.", 0),
        ({"role": "system"}, "✅ check_work: no errors", 0),
        ({"role": "user"}, "Error: 400", 0),
        ({"role": "user", "trigger": "m1"}, "", 0),
    ],
)
def test_marks(row: dict[str, Any], text: str, marks: int) -> None:
    assert read_note(row, text).marks == marks


@pytest.mark.parametrize(("text", "closes"), [("Thanks!", True), ("ok, got it 👍", True), ("👍", True), ("Thanks, and in Oslo?", False),
                                              ("ok?", False), ("", False), ("Write it again", False)])  # fmt: skip
def test_what_asks_for_no_reply(text: str, closes: bool) -> None:
    assert is_closing(text) is closes
