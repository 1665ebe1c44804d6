"""Planning: the order of the rounds, and a proof that does not believe a rule because it is a rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from doctor.analysis.registry import load_rules, select_rules
from doctor.findings import Edit, Finding, Fix, LineOf, Safety, Severity
from doctor.model import Session
from doctor.repair.planner import plan_fix
from doctor.repair.plans import Plan
from doctor.rulekit import Rule
from doctor.sources.source import MemorySource
from tests.repair.sessions import DAMAGED, all_rules, call, join, placeholder, read, read_bytes, reply, result, user


def make_rule(check: Callable[[Session], Iterable[Finding]], code: str = "AD350", severity: Severity = Severity.ERROR) -> Rule:
    return Rule(code, "made-up", severity, check, "", "", "Made up.", "tests")


def plan_bytes(data: bytes, rules: Iterable[Rule] | None = None, safety: Safety = Safety.SAFE) -> Plan:
    return plan_fix(read("transcript.jsonl", MemorySource(data)), tuple(rules) if rules is not None else all_rules(), safety)


def lines_of(plan: Plan) -> list[bytes]:
    return read_bytes(plan.source).splitlines()


def assert_nothing_planned(plan: Plan, kind: str, text: str) -> None:
    assert plan.failure is not None and plan.failure.kind == kind
    assert text in plan.failure.message and "\n" not in plan.failure.message
    assert not plan.changed and plan.applied == () and plan.source is plan.session.transcript.source and plan.after == plan.before


def offer(line: int, *edits: Edit, quarantined: tuple[int, ...] = (), safety: Safety = Safety.SAFE) -> Finding:
    return Finding(line, "made up", Fix("do it", safety, edits, quarantined))


def once(finding: Finding, when: bytes) -> Rule:
    """A rule that reports as long as the first line is `when`."""
    return make_rule(lambda session: [finding] if session.transcript.read_line(0) == when else [])


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
    assert plan.changed and lines_of(plan) == [user("hi").encode()] and plan.held_back == ()
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
        plan = plan_bytes(join(user("a"), user("b")), [make_rule(check)], Safety.UNSAFE)
        assert_nothing_planned(plan, "internal", "does not come to an end")
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


A = user("a").encode()
SESSION = join(user("a"), call("x"), result("x"), user("b"), user("b"), reply("end"))

LIES = {
    "a row vanishes": (offer(0, Edit(0, 1)), "row 1 would be lost"),
    "a row is rewritten": (offer(0, Edit(0, 1, (A + b" ",))), "row 1 would be lost"),
    "a user row goes to the quarantine": (offer(0, Edit(0, 1), quarantined=(0,)), "row 1 would leave the transcript"),
    "the only real result goes": (
        offer(0, Edit(0, 1, (b'{"role":"user","content":"z"}', A)), Edit(2, 3), quarantined=(2,)),
        "real result of x",
    ),
    "one of two equal rows goes without a trace": (
        offer(0, Edit(0, 0, (b'{"role":"user","content":"z"}',)), Edit(3, 4)),
        "row 4 would be lost",
    ),
    "both of two equal rows go": (
        offer(0, Edit(0, 0, (b'{"role":"user","content":"z"}',)), Edit(3, 5), quarantined=(3, 4)),
        "would leave the transcript",
    ),
    "a user row moves": (offer(0, Edit(0, 1), Edit(4, 4, (LineOf(0),))), "row 1 would move"),
    "a result moves away from its call": (offer(0, Edit(0, 0, (LineOf(2),)), Edit(2, 3)), "row 3 would move"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_safe_fix_that_is_not_safe_is_seen_through(lie: str) -> None:
    finding, reason = LIES[lie]
    plan = plan_bytes(SESSION, [once(finding, A)])
    assert_nothing_planned(plan, "internal", reason)
    assert "could not be proved" in (plan.failure.message if plan.failure else "")


def test_the_same_fixes_are_fine_when_they_call_themselves_unsafe() -> None:
    for name, (finding, _) in LIES.items():
        fix = finding.fix
        assert fix is not None
        plan = plan_bytes(SESSION, [once(finding._replace(fix=fix._replace(safety=Safety.UNSAFE)), A)], Safety.UNSAFE)
        assert plan.failure is None and plan.changed, name


def test_one_of_two_equal_rows_may_go_to_the_quarantine() -> None:
    finding = offer(0, Edit(0, 0, (b'{"role":"user","content":"z"}',)), Edit(4, 5), quarantined=(4,))
    plan = plan_bytes(SESSION, [once(finding, A)])
    assert plan.failure is None and [item.line for item in plan.quarantined] == [5]


def test_a_piece_between_glued_records_must_be_kept_too() -> None:
    data = join(user("a") + '{"role": "us' + user("b"))
    parts = (user("a").encode(), user("b").encode())
    rule = make_rule(lambda session: [offer(0, Edit(0, 1, parts))] if session.transcript.line_count == 1 else [], "AD150")
    assert_nothing_planned(plan_bytes(data, [rule]), "internal", "a record on row 1, or a piece of one, would be lost")
    rule = make_rule(lambda session: [offer(0, Edit(0, 1, parts), quarantined=(0,))] if session.transcript.line_count == 1 else [], "AD150")
    assert plan_bytes(data, [rule]).changed
    rule = make_rule(
        lambda session: [offer(0, Edit(0, 1, parts[:1]), quarantined=(0,))] if session.transcript.line_problems else [], "AD150"
    )
    assert_nothing_planned(plan_bytes(data, [rule]), "internal", "a record on row 1, or a piece of one, would be lost")


def test_a_new_error_stops_the_fix() -> None:
    """The fix itself is honest by its bytes, but the call that it brings in has no result, and nothing offers to mend that."""

    def find_missing(session: Session) -> Iterable[Finding]:
        return [Finding(pair.index, "no result", ids=(pair.call.id,)) for pair in session.pairing.pairs if not pair.placed]

    finding = offer(0, Edit(0, 0, (user("z").encode(), call("new").encode())))
    plan = plan_bytes(SESSION, [make_rule(find_missing, "AD351"), once(finding, A)])
    assert_nothing_planned(plan, "internal", "it would cause AD351")
    lenient = make_rule(find_missing, "AD351", Severity.WARNING)
    assert plan_bytes(SESSION, [lenient, once(finding, A)]).changed, "only errors stop a fix"


def test_an_error_that_a_recovered_row_shows_for_the_first_time_is_no_new_one(tmp_path: Path) -> None:
    """The torn line comes back from the client's backup: a result whose call is nowhere. That is reported, and was no less wrong before."""
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(join(user("hi"), reply("ok")) + result("nobody").encode()[:70])
    (tmp_path / "transcript.jsonl.backup").write_bytes(join(user("hi"), reply("ok"), result("nobody")))
    plan = plan_fix(read(path), all_rules())
    assert plan.failure is None and [fix.code for fix in plan.applied] == ["AD101"]
    assert "AD302" not in [found.code for found in plan.before.diagnostics]
    assert "AD302" in [found.code for found in plan.after.diagnostics]


def test_a_finding_that_outlives_its_fix_stops_the_fix() -> None:
    def check(session: Session) -> Iterable[Finding]:
        fix = Fix("do it", Safety.SAFE, (Edit(0, 0, (user("z").encode(),)),))
        first = session.transcript.read_line(0) == A
        yield Finding(0, "bad in row 7" if first else "bad in row 8", fix if first else None)

    assert_nothing_planned(plan_bytes(SESSION, [make_rule(check)]), "internal", "AD350 is still there after its fix")


def test_rules_that_get_in_each_others_way_get_a_round_each() -> None:
    """Each is right alone. Together the second acts on what the first has just taken away."""

    def take_out_copy(session: Session) -> Iterable[Finding]:
        lines = [line for line in range(session.transcript.line_count) if session.transcript.read_line(line) == user("b").encode()]
        if len(lines) > 1:
            yield offer(lines[1], Edit(lines[1], lines[1] + 1), quarantined=(lines[1],))

    def take_out_first(session: Session) -> Iterable[Finding]:
        lines = [line for line in range(session.transcript.line_count) if session.transcript.read_line(line) == user("b").encode()]
        if len(lines) > 1:
            yield offer(lines[0], Edit(lines[0], lines[0] + 1), quarantined=(lines[0],))

    plan = plan_bytes(SESSION, [make_rule(take_out_copy, "AD350"), make_rule(take_out_first, "AD351")])
    assert plan.failure is None and [fix.code for fix in plan.applied] == ["AD350"]
    assert lines_of(plan).count(user("b").encode()) == 1


def test_a_code_whose_fix_can_not_be_proved_is_left_out_with_the_reason() -> None:
    lie = once(offer(0, Edit(0, 1)), A)
    honest = make_rule(
        lambda session: [offer(line, Edit(line, line + 1), quarantined=(line,)) for line in session.transcript.repeated_lines], "AD351"
    )
    plan = plan_bytes(SESSION, [lie, honest])
    assert plan.failure is None and [fix.code for fix in plan.applied] == ["AD351"]
    assert [fix.code for fix in plan.held_back] == ["AD350"] and "row 1 would be lost" in plan.held_back[0].title
    two_lies = [lie, lie._replace(code="AD352"), honest]
    assert_nothing_planned(plan_bytes(SESSION, two_lies), "internal", "row 1 would be lost")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("closed", [True, False])
def test_line_ends_and_the_end_of_the_file_stay(end: str, closed: bool) -> None:
    data = join(user("hi"), call("a"), user("x"), reply("ok"), result("a"), end=end)
    data = data if closed else data.removesuffix(end.encode())
    plan = plan_bytes(data)
    expected = join(user("hi"), call("a"), result("a"), user("x"), reply("ok"), end=end)
    assert read_bytes(plan.source) == (expected if closed else expected.removesuffix(end.encode()))
    assert plan.moved == [(5, 3)]


def test_a_planned_session_is_not_planned_on(tmp_path: Path) -> None:
    first = plan_bytes(DAMAGED)
    assert not plan_fix(first.after_session, all_rules(), Safety.UNSAFE).changed
    rule = once(offer(0, Edit(0, 0, (user("z").encode(),))), user("one").encode())
    assert_nothing_planned(plan_fix(first.after_session, [rule]), "internal", "plan from the file on disk")
