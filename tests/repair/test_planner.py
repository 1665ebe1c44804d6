"""Planning: the order of the rounds, what is held back, and when it ends."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from doctor.analysis.registry import load_rules, select_rules
from doctor.findings import Edit, Finding, LineOf, Safety, Severity
from doctor.repair.planner import plan_fix
from doctor.session import Session
from tests.repair.made_up import assert_nothing_planned, lines_of, make_rule, offer, once, plan_bytes
from tests.repair.sessions import DAMAGED, all_rules, call, join, placeholder, read_bytes, reply, result, user


def test_a_sound_session_is_left_as_it_is() -> None:
    plan = plan_bytes(join(user("hi"), call("a"), result("a"), reply("done")))
    assert plan.failure is None and not plan.changed and plan.applied == () and plan.moved == []
    assert plan.source is plan.session.transcript.source


def test_lines_come_before_pairs_and_nothing_is_left() -> None:
    plan = plan_bytes(DAMAGED)
    assert plan.failure is None
    codes = [(fix.round, fix.code) for fix in plan.applied]
    assert codes == sorted(codes, key=lambda item: item[0]) and codes[0] == (1, "AD101")
    rows = [json.loads(line) for line in lines_of(plan)]
    assert [row.get("tool_call_id") for row in rows if row["role"] == "tool"] == ["a", "b", "c", "d"]
    assert not [found for found in plan.after.diagnostics if found.severity is Severity.ERROR]
    again = plan_bytes(read_bytes(plan.source))
    assert not again.changed and again.failure is None


def test_rows_are_named_as_they_stand_in_the_file_that_was_read() -> None:
    """The first round splits line 1, so that every later row has another number by then."""
    glued = (user("one") + user("two")).encode() + b"\n"
    plan = plan_bytes(glued + join(call("a"), placeholder("a"), user("meanwhile"), result("a"), reply("end")))
    assert plan.failure is None and plan.changed
    assert [(item.line, item.code) for item in plan.quarantined] == [(3, "AD305")]
    assert plan.moved == [(5, 4)]
    assert len(plan.changes.added) == 2 and plan.changes.removed == (0, 2)


def test_a_part_of_a_glued_line_is_quarantined_by_its_own_bytes() -> None:
    plan = plan_bytes(join(user("hi"), call("a"), placeholder("a") + user("two"), result("a"), reply("end")))
    assert plan.failure is None and plan.changed
    content = b"".join(
        piece if isinstance(piece, bytes) else piece.source.read(piece.offset, piece.length)
        for item in plan.quarantined
        for piece in item.content
    )
    assert content.decode() == placeholder("a") and plan.quarantined[0].line == 3
    assert [json.loads(line).get("content") for line in lines_of(plan)[2:4]] == ["result of a", "two"]


def test_clashing_fixes_wait_for_the_next_round() -> None:
    def check(session: Session) -> Iterable[Finding]:
        for line in range(session.transcript.line_count):
            if b"please-change" in session.transcript.read_line(line):
                body = session.transcript.read_line(line).replace(b"please-change", b"changed", 1)
                yield offer(line, Edit(line, line + 1, (body,)), safety=Safety.UNSAFE)
                yield offer(line, Edit(line, line + 1, (body,)), safety=Safety.UNSAFE)

    plan = plan_bytes(join(user("please-change please-change")), [make_rule(check)], Safety.UNSAFE)
    assert plan.failure is None and [fix.round for fix in plan.applied] == [1, 2]
    assert lines_of(plan) == [user("changed changed").encode()]


def test_unsafe_and_manual_fixes_are_held_back() -> None:
    data = join(user("hi"), result("nobody"))
    plan = plan_bytes(data)
    assert not plan.changed and [fix.code for fix in plan.held_back] == ["AD302"]
    plan = plan_bytes(data, safety=Safety.UNSAFE)
    assert lines_of(plan) == [user("hi").encode()] and plan.held_back == ()
    rule = once(offer(0, Edit(0, 1), quarantined=(0,), safety=Safety.MANUAL), user("hi").encode())
    for safety in Safety:
        plan = plan_bytes(data, [rule], safety)
        assert not plan.changed and plan.failure is None and [fix.code for fix in plan.held_back] == ["AD350"]


def test_a_fix_on_a_line_whose_damage_stays_is_held_back() -> None:
    damaged = placeholder("a").encode() + b"\0\0"
    data = join(user("hi"), call("a")) + damaged + b"\n" + join(user("x"), result("a"), reply("end"))
    plan = plan_bytes(data, select_rules(load_rules(), (), ("AD1",)))
    assert plan.failure is None and not plan.changed
    assert "AD305" in [fix.code for fix in plan.held_back]
    assert plan_bytes(data).changed


def test_a_whole_record_with_a_bad_byte_moves_as_it_is() -> None:
    bad = result("a", "caf?").encode().replace(b"?", b"\xe9")
    plan = plan_bytes(join(user("hi"), call("a"), user("x"), reply("ok")) + bad + b"\n")
    assert plan.failure is None and lines_of(plan)[2] == bad and plan.moved == [(5, 3)]
    assert [fix.code for fix in plan.held_back] == ["AD105"]


def test_nothing_is_put_behind_a_torn_line_that_stays_torn() -> None:
    data = join(user("hi"), call("a")) + b'{"role": "tool", "na'
    rule = once(offer(1, Edit(3, 3, (b'{"role": "user", "content": "x"}',))), user("hi").encode())
    plan = plan_bytes(data, [rule])
    assert not plan.changed and len(plan.held_back) == 1 and plan.failure is None


def test_rules_that_never_agree_are_stopped() -> None:
    rounds = {"swap": 0, "grow": 0}

    def swap(session: Session) -> Iterable[Finding]:
        rounds["swap"] += 1
        yield offer(0, Edit(0, 1), Edit(2, 2, (LineOf(0),)), safety=Safety.UNSAFE)

    def grow(session: Session) -> Iterable[Finding]:
        rounds["grow"] += 1
        yield offer(0, Edit(0, 0, (user("more").encode(),)))

    for check in (swap, grow):
        assert_nothing_planned(plan_bytes(join(user("a"), user("b")), [make_rule(check)], Safety.UNSAFE), "internal", "come to an end")
    assert rounds["swap"] < 10, "a state that comes back ends it at once"


def test_a_rule_that_crashes_stops_the_fix() -> None:
    def crash(session: Session) -> Iterable[Finding]:
        raise KeyError("oops")

    assert_nothing_planned(plan_bytes(DAMAGED, [*all_rules(), make_rule(crash)]), "rule-crash", "rule AD350 crashed")

    def crash_later(session: Session) -> Iterable[Finding]:
        if session.transcript.ends_with_eol:
            raise KeyError("only in the planned file")
        return []

    assert_nothing_planned(plan_bytes(DAMAGED, [*all_rules(), make_rule(crash_later)]), "rule-crash", "rule AD350 crashed")


def test_edits_that_overlap_themselves_stop_the_fix() -> None:
    rule = once(offer(0, Edit(0, 2), Edit(1, 3), quarantined=(0, 1, 2)), user("a").encode())
    assert_nothing_planned(plan_bytes(join(user("a"), user("b"), user("c")), [rule]), "internal", "overlaps another")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("closed", [True, False])
def test_line_ends_and_the_end_of_the_file_stay(end: str, closed: bool) -> None:
    data = join(user("hi"), call("a"), user("x"), reply("ok"), result("a"), end=end)
    data = data if closed else data.removesuffix(end.encode())
    plan = plan_bytes(data)
    expected = join(user("hi"), call("a"), result("a"), user("x"), reply("ok"), end=end)
    assert read_bytes(plan.source) == (expected if closed else expected.removesuffix(end.encode()))
    assert plan.moved == [(5, 3)]


def test_a_planned_session_is_not_planned_on() -> None:
    first = plan_bytes(DAMAGED)
    assert not plan_fix(first.after_session, all_rules(), Safety.UNSAFE).changed
    rule = once(offer(0, Edit(0, 0, (user("z").encode(),))), user("one").encode())
    assert_nothing_planned(plan_fix(first.after_session, [rule]), "internal", "plan from the file on disk")
