"""`fix --recover` on groups, replies, calls, whole transcripts and unfinished appends, and what it leaves alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import doctor
from doctor.examples import call, placeholder, reply, result, user
from doctor.findings import Safety
from doctor.repair.planner import plan_fix
from doctor.sources.session import read_session
from tests.repair.recovering import FIXTURES, RULES, TWO_PROCESSES, Log, find_mark, list_errors, read_rows, recover, tell, tell_all
from tests.support.cases import NOW


def test_lost_groups_go_between_those_that_are_there(tmp_path: Path) -> None:
    log = Log().start("one").run("a").run("b").run("c").end("one", "1").write()
    plan = recover({"transcript.jsonl": user("one") + call("b") + result("b") + reply("1"), "events.jsonl": log}, tmp_path)
    assert tell_all(plan) == ["user one", "calls a", "result a ok", "calls b", "result b ok", "calls c", "result c ok", "says 1"]
    assert {step.code for step in plan.applied} == {"AD503"}
    assert list_errors(plan) == []


def test_a_lost_reply_comes_back(tmp_path: Path) -> None:
    log = Log().start("one").run("a").end("one", "1").turn("two", "2").write()
    files = {"transcript.jsonl": user("one") + call("a") + result("a") + user("two") + reply("2"), "events.jsonl": log}
    plan = recover(files, tmp_path)
    assert tell_all(plan) == ["user one", "calls a", "result a ok", "says 1", "user two", "says 2"]
    assert not recover(files, tmp_path / "other", recover=False).changed


def test_an_orphan_gets_its_call_back(tmp_path: Path) -> None:
    log = Log().start("one").pre("a", "g", command="ls").pre("b", "g").post("a", "A", "g").post("b", "B", "g").end("one", "1").write()
    files = {"transcript.jsonl": user("one") + result("a", "A") + result("b", "B") + reply("1"), "events.jsonl": log}
    for safety in (Safety.SAFE, Safety.UNSAFE):
        plan = recover(files, tmp_path / safety.name, safety=safety)
        rows = read_rows(plan)
        assert [tell(row) for row in rows] == ["user one", "calls a b", "result a A", "result b B", "says 1"]
        assert find_mark(rows[1]) == {"code": "AD302", "from": "events.jsonl:3"}
        assert not plan.quarantined


def test_a_compaction_is_not_undone(tmp_path: Path) -> None:
    log = Log().turn("one", "1").turn("two", "2").turn("three", "3").add("context:compaction").turn("four", "4").write()
    transcript = user("one") + reply("1") + user("three") + reply("3") + user("four") + reply("4")
    plan = recover({"transcript.jsonl": transcript, "events.jsonl": log}, tmp_path)
    assert not plan.changed
    assert any("compaction" in step.title for step in plan.held_back)


def test_rows_in_an_order_that_the_events_contradict_are_left_alone(tmp_path: Path) -> None:
    log = Log().turn("one", "1").turn("two", "2").turn("three", "3").write()
    plan = recover({"transcript.jsonl": user("three") + reply("3") + user("one") + reply("1"), "events.jsonl": log}, tmp_path)
    assert not plan.changed
    assert any("another order" in step.title for step in plan.held_back)


def test_a_backup_that_is_behind_the_events_is_completed_from_them(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").run("a").run("b").end("two", "2").turn("three", "3").write()
    backup = user("one") + reply("1") + user("two") + call("a") + result("a")
    files = {"transcript.jsonl": user("one") + reply("1") + user("three") + reply("3"), "transcript.jsonl.backup": backup}
    plan = recover({**files, "events.jsonl": log}, tmp_path)
    rows = read_rows(plan)
    assert [tell(row) for row in rows[2:8]] == ["user two", "calls a", "result a ok", "calls b", "result b ok", "says 2"]
    assert [bool(find_mark(row)) for row in rows] == [False] * 5 + [True] * 3 + [False] * 2


def test_placeholders_of_the_backup_do_not_shadow_what_the_events_hold(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").run("a", "the real one").end("two", "2").turn("three", "3").write()
    backup = user("one") + reply("1") + user("two") + call("a") + placeholder("a") + reply("2")
    files = {"transcript.jsonl": user("one") + reply("1") + user("three") + reply("3"), "transcript.jsonl.backup": backup}
    plan = recover({**files, "events.jsonl": log}, tmp_path)
    assert tell_all(plan)[2:6] == ["user two", "calls a", "result a the real one", "says 2"]


def test_an_empty_transcript_is_rebuilt_from_the_events(tmp_path: Path) -> None:
    log = Log().turn("one", "1").start("two").run("a", "A").pre("b").write()
    files = {"transcript.jsonl": "", "events.jsonl": log}
    plan = recover(files, tmp_path)
    assert tell_all(plan)[:5] == ["user one", "says 1", "user two", "calls a", "result a A"]
    assert all(find_mark(row)["code"] == "AD107" for row in read_rows(plan))
    assert not recover(files, tmp_path / "other", recover=False).changed


def test_a_session_that_was_never_saved_is_rebuilt_into_another_file(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "events.jsonl").write_text(Log().turn("one", "1").start("two").run("a").write())
    output = tmp_path / "rebuilt.jsonl"
    report = doctor.fix(folder, dry_run=False, recover=True, output=output, now=NOW, environment={})
    assert not report.errors
    assert [tell(json.loads(line)) for line in output.read_bytes().splitlines()] == [
        "user one", "says 1", "user two", "calls a", "result a ok",
    ]  # fmt: skip
    assert sorted(path.name for path in folder.iterdir()) == ["events.jsonl"]


def test_in_place_a_session_that_was_never_saved_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "events.jsonl").write_text(Log().turn("one", "1").write())
    report = doctor.fix(folder, dry_run=False, recover=True, now=NOW, environment={})
    assert len(report.errors) == 1 and "--output" in report.errors[0].message
    assert sorted(path.name for path in folder.iterdir()) == ["events.jsonl"]


PENDING = '{"content":"two","role":"user"}\n{"content":"2","role":"assistant"}\n'


def test_an_unfinished_append_is_finished(tmp_path: Path) -> None:
    first = user("one") + reply("1")
    files = {"transcript.jsonl": first, "transcript.jsonl.backup": first + user("half"), "transcript.jsonl.append-pending": PENDING}
    plan = recover(files, tmp_path)
    assert plan.source.read(0, plan.source.size) == (first + user("half") + PENDING).encode()
    assert [step.source for step in plan.applied] == ["transcript.jsonl.backup:3, transcript.jsonl.append-pending:1-2"]
    assert not recover(files, tmp_path / "other", recover=False).changed


def test_an_append_that_got_half_way_is_told_by_values_not_by_bytes(tmp_path: Path) -> None:
    first = user("one") + reply("1")
    torn = first + user("two") + reply("2")[:-8]
    files = {"transcript.jsonl": torn, "transcript.jsonl.backup": first, "transcript.jsonl.append-pending": PENDING}
    plan = recover(files, tmp_path)
    assert tell_all(plan) == ["user one", "says 1", "user two", "says 2"]


def test_recovery_is_written_and_undone(tmp_path: Path) -> None:
    source = TWO_PROCESSES.parent
    folder = tmp_path / source.name
    shutil.copytree(source, folder)
    path = folder / "transcript.jsonl"
    before = path.read_bytes()
    report = doctor.fix(path, dry_run=False, recover=True, now=NOW, environment={})
    assert not report.errors and len(path.read_bytes().splitlines()) == 11
    assert doctor.check(path, now=NOW, environment={}).files[0].verdict == "resumable"
    assert "transcript.jsonl.backup:8-11" in Path(report.files[0].fix.receipt).read_text()
    doctor.undo(path, environment={})
    assert path.read_bytes() == before


@pytest.mark.parametrize("safety", [Safety.SAFE, Safety.UNSAFE], ids=lambda safety: safety.name.lower())
@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/input/**/transcript.jsonl")), ids=lambda path: str(path.relative_to(FIXTURES).parent)
)
def test_every_fixture_can_be_recovered_and_comes_to_rest(path: Path, safety: Safety) -> None:
    plan = plan_fix(read_session(str(path), now=NOW, recover=True), RULES, safety)
    assert plan.failure is None
    again = plan_fix(plan.after_session, RULES, safety)
    assert again.failure is None and not again.changed


def test_a_transcript_of_which_nothing_can_be_read_is_rebuilt(tmp_path: Path) -> None:
    files = {"transcript.jsonl": user("one")[:-9], "events.jsonl": Log().turn("one", "1").write()}
    plan = recover(files, tmp_path)
    assert tell_all(plan) == ["user one", "says 1"]
    assert [item.line for item in plan.quarantined] == [1]
    assert not recover(files, tmp_path / "other", recover=False).changed
