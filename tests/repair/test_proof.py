"""The proof does not believe a rule because it is a rule."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from doctor.findings import Edit, Finding, Fix, LineOf, Safety, Severity
from doctor.repair.planner import plan_fix
from doctor.session import Session
from tests.repair.made_up import assert_nothing_planned, lines_of, make_rule, offer, once, plan_bytes
from tests.repair.sessions import all_rules, call, join, read, reply, result, user

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


REFUSED_AFTERWARDS = (
    "a row vanishes",
    "a user row goes to the quarantine",
    "the only real result goes",
    "a user row moves",
    "a result moves away from its call",
)
"""After these some provider refuses what it took before."""


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
        if plan.failure is not None:
            # Every row may change with the user's consent; a request that a provider took and would refuse then is another matter.
            assert name in REFUSED_AFTERWARDS and "would answer 400" in plan.failure.message, (name, plan.failure.message)
            continue
        assert plan.changed and name not in REFUSED_AFTERWARDS, name


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
    assert_nothing_planned(plan_bytes(SESSION, [lenient, once(finding, A)]), "internal", "anthropic would answer 400: messages.1: ")
    harmless = offer(0, Edit(0, 0, (user("z").encode(),)))
    warning = make_rule(lambda session: [Finding(line, "new", ids=(str(line),)) for line in range(session.transcript.line_count)], "AD351")
    assert_nothing_planned(plan_bytes(SESSION, [warning, once(harmless, A)]), "internal", "it would cause AD351")
    lenient = warning._replace(severity=Severity.WARNING)
    assert plan_bytes(SESSION, [lenient, once(harmless, A)]).changed, "only errors stop a fix"


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
