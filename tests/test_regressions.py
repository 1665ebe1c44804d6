"""Kinds of trouble that random damage hardly ever makes: each was found by somebody who tried to break the doctor."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from doctor import check, examples, fix
from tests.support.cases import NOW

NOTHING: dict[str, str] = {}


def write(folder: Path, **files: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = {"events": "events.jsonl", "metadata": "metadata.json", "backup": "transcript.jsonl.backup", "transcript": "transcript.jsonl"}
    for key, text in files.items():
        (folder / names[key]).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / "transcript.jsonl"


def list_codes(path: Path, **options: object) -> list[str]:
    report = check(str(path), now=NOW, environment=NOTHING, **options)
    return [found.code for file in report.files for found in file.diagnostics if found.severity == "error"]


def fix_file(path: Path, **options: object) -> bytes:
    report = fix(str(path), dry_run=False, now=NOW, environment=NOTHING, **options)
    assert not report.errors, report.errors
    return path.read_bytes()


def test_results_of_reused_ids_are_never_guessed_at(tmp_path: Path) -> None:
    rows = examples.user("one") + examples.call("call_0") + examples.user("two") + examples.call("call_0").replace("{}", '{"c": 2}')
    rows += examples.result("call_0", "RES-1") + examples.result("call_0", "RES-2") + examples.reply("f1")
    path = write(tmp_path, transcript=rows)
    assert list_codes(path)
    assert fix_file(path) == rows.encode()


def test_the_log_of_an_answered_call_is_not_used_for_another_one_of_its_id(tmp_path: Path) -> None:
    rows = examples.user("one") + examples.call("call_0") + examples.result("call_0", "first") + examples.reply("x")
    rows += examples.user("two") + examples.call("call_0").replace("{}", '{"c": 2}')
    log = examples.event(0, "execution:start", prompt="one") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="call_0")
    log += examples.event(2, "tool:post", tool_name="bash", tool_call_id="call_0", result="FIRST")
    path = write(tmp_path, transcript=rows, events=log)
    assert b"FIRST" not in fix_file(path)


def test_a_call_that_is_polled_with_one_id_is_no_copy(tmp_path: Path) -> None:
    rows = examples.user("u") + (examples.call("call_0") + examples.result("call_0", "pending"))
    rows += examples.call("call_0") + examples.result("call_0", "done") + examples.reply("x")
    path = write(tmp_path, transcript=rows)
    assert list_codes(path) == []
    assert fix_file(path) == rows.encode()


def test_results_of_another_session_are_not_used(tmp_path: Path) -> None:
    log = examples.event(0, "execution:start", prompt="u") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
    log += examples.event(2, "tool:post", tool_name="bash", tool_call_id="a", result="FOREIGN")
    path = write(tmp_path / "s9", transcript=examples.user("u") + examples.call("a"), events=log, metadata='{"session_id": "s9"}')
    other = tmp_path / "other.jsonl"
    other.write_text(log)
    report = check(str(path), now=NOW, environment=NOTHING, events=str(other))
    assert [failure.kind for failure in report.errors] == ["usage"]
    assert b"FOREIGN" not in fix_file(path)


@pytest.mark.parametrize("events", [False, "other"])
def test_a_live_session_stays_live_whatever_log_is_named(tmp_path: Path, events: object) -> None:
    log = examples.event(0, "execution:start", prompt="u")
    path = write(tmp_path / "s", transcript=examples.user("u") + examples.call("a"), events=log)
    other = tmp_path / "other.jsonl"
    other.write_text(log + examples.event(1, "orchestrator:complete", "error"))
    named = str(other) if events else False
    then = 1_767_322_810.0  # ten seconds after the execution:start of `examples.event`
    report = fix(str(path), dry_run=False, now=then, environment=NOTHING, events=named)
    assert [failure.kind for failure in report.errors] == ["live"]


def test_a_session_whose_delegate_is_at_work_is_live(tmp_path: Path) -> None:
    log = examples.event(0, "execution:start", prompt="u") + examples.event(1, "tool:pre", tool_name="delegate", tool_call_id="a")
    parent = "00000000-0000-4000-8000-000000000001"
    child = "0000000000000000-aaaaaaaaaaaaaaaa_self"
    rows = examples.user("u") + examples.call("a", name="delegate")
    path = write(tmp_path / parent, transcript=rows, events=log.replace('"s"', f'"{parent}"'), metadata=json.dumps({"session_id": parent}))
    late = examples.event(5, "provider:request", parent_id=parent).replace("T03:00", "T09:00").replace('"s"', f'"{child}"')
    start = examples.event(2, "session:fork", parent=parent, parent_id=parent).replace('"s"', f'"{child}"')
    write(tmp_path / child, events=start + late, metadata=json.dumps({"session_id": child, "parent_id": parent}))
    six_hours_on = 1_767_322_800.0 + 6 * 3600 + 60
    report = fix(str(path), dry_run=False, now=six_hours_on, environment=NOTHING)
    assert [failure.kind for failure in report.errors] == ["live"]
    assert child in report.errors[0].message


@pytest.mark.parametrize("data", [b"\0" * 64, b'{"role": "us', b"garbage\n"])
def test_a_wholly_unreadable_file_comes_back_from_its_backup(tmp_path: Path, data: bytes) -> None:
    rows = examples.user("u") + examples.reply("x")
    path = write(tmp_path, transcript=data, backup=rows)
    assert fix_file(path).rstrip(b"\n") == rows.encode().rstrip(b"\n")


def test_a_second_try_is_no_unanswered_message(tmp_path: Path) -> None:
    log = examples.event(0, "execution:start", prompt="one") + examples.event(1, "orchestrator:complete", "error")
    log += examples.event(2, "execution:start", prompt="again") + examples.event(3, "orchestrator:complete", "success")
    path = write(tmp_path, transcript=examples.user("one") + examples.user("again") + examples.reply("x"), events=log)
    report = check(str(path), now=NOW, environment=NOTHING)
    assert report.files[0].verdict == "resumable"
    assert not [found for found in report.files[0].diagnostics if found.severity != "info"]


def test_a_real_result_in_the_words_of_a_placeholder_stays(tmp_path: Path) -> None:
    answer = {"error": "unknown_error", "message": "boom"}
    log = examples.event(0, "execution:start", prompt="u") + examples.event(1, "tool:pre", tool_name="bash", tool_call_id="a")
    log += examples.event(2, "tool:post", tool_name="bash", tool_call_id="a", result=answer)
    rows = examples.user("u") + examples.call("a") + examples.result("a", json.dumps(answer)) + examples.reply("x")
    path = write(tmp_path, transcript=rows, events=log)
    assert "AD305" not in list_codes(path)
    assert fix_file(path) == rows.encode()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name on this system")
@pytest.mark.parametrize("name", ["transcript.jsonl", "transcript.jsonl.backup", "metadata.json", "events.jsonl"])
def test_a_pipe_in_a_session_folder_hangs_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, transcript=examples.user("u") + '{"role": "assistant", "content": "cut')
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    report = check(str(tmp_path), now=NOW, environment=NOTHING)
    assert report.files or report.errors


def test_deselected_rules_leave_the_verdict_open(tmp_path: Path) -> None:
    path = write(tmp_path, transcript=examples.user("u") + examples.call("a"))
    report = check(str(path), now=NOW, environment=NOTHING, ignore=["AD2", "AD3"])
    assert report.files[0].verdict == "unknown"


def test_a_row_of_many_calls_is_not_read_whole_for_each_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 unanswered calls in one row took 49 seconds: each asked the whole row how its client writes."""
    from doctor.sources.source import FileSource

    def count_bytes(calls: int) -> float:
        path = tmp_path / f"{calls}.jsonl"
        blocks = [{"type": "tool_call", "id": f"c{number}", "name": "b", "input": {"text": "x" * 1_000}} for number in range(calls)]
        listed = [{"id": block["id"], "tool": "b", "arguments": block["input"]} for block in blocks]
        rows = [{"role": "user", "content": "go"}, {"role": "assistant", "content": blocks, "tool_calls": listed}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        taken = 0

        def read(source: FileSource, offset: int, length: int) -> bytes:
            nonlocal taken
            taken += length
            return plain(source, offset, length)

        with monkeypatch.context() as patch:
            patch.setattr(FileSource, "read", read)
            check(path, environment={}, now=0.0)
        return taken / path.stat().st_size

    plain = FileSource.read
    assert count_bytes(2_000) < 2 * count_bytes(500)


def test_rows_that_no_provider_gets_are_no_empty_request(tmp_path: Path) -> None:
    """A fix of the only row that can be read was refused: without a role it is not sent, and "at least one message is required"."""
    path = write(tmp_path / "s", transcript='{"role": null, "content": null, "metadata": {}}\n')
    (file,) = fix(path, unsafe=True, environment={}, now=NOW).files
    assert [(step.code, step.safety.name) for step in file.fix.applied] == [("AD203", "UNSAFE")] and not file.fix.held_back


@pytest.mark.parametrize("levels", [700, 5_000, 100_000])
def test_a_deeply_nested_request_is_judged_or_refused_in_one_line(levels: int, tmp_path: Path) -> None:
    """What one Python can't read another one may, and what walks over a body must not go as deep as the body."""
    block = '{"type": "tool_use", "id": "c", "name": "t", "input": ' + '{"a":' * levels + '"\u00e9"' + "}" * levels + "}"
    (tmp_path / "request.json").write_text(
        '{"model": "claude-x", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [' + block + "]}]}", "utf-8"
    )
    report = check(str(tmp_path / "request.json"), now=NOW, environment=NOTHING)
    assert report.errors == ()
    found = [(found.code, found.confidence) for found in report.files[0].diagnostics]
    assert (("AD103", "possible") in found) is (levels > 700)


def event(second: int, name: str, **data: object) -> str:
    return examples.event(second, name, **data)  # type: ignore[arg-type]


OVERLAP = (
    event(0, "execution:start", prompt="slow")
    + event(1, "provider:request", iteration=1)
    + event(2, "tool:pre", tool_name="bash", tool_call_id="a")
    + event(3, "execution:start", prompt="quick")
    + event(4, "provider:request", iteration=1)
)


def test_a_prompt_that_waits_behind_late_results_does_not_hold_them_back(tmp_path: Path) -> None:
    """Once the results have left the end, the last row is a reply: that somebody waits was so before."""
    events = OVERLAP + examples.event(5, "orchestrator:complete", "success")
    events += event(6, "execution:start", prompt="third") + event(7, "provider:request", iteration=1)
    events += event(8, "execution:start", prompt="fourth") + event(9, "provider:request", iteration=1)
    events += event(10, "provider:error", error={"type": "E", "msg": "529"}) + examples.event(11, "orchestrator:complete", "error")
    events += examples.event(12, "orchestrator:complete", "success")
    events += event(13, "tool:post", tool_name="bash", tool_call_id="a", result={"output": "REAL"})
    rows = examples.user("slow") + examples.call("a") + examples.placeholder("a") + examples.user("quick") + examples.reply("ok")
    rows += examples.user("third") + examples.user("fourth") + examples.reply("to the third") + examples.result("a", "REAL")
    path = write(tmp_path, transcript=rows, events=events)
    assert b"unknown_error" not in fix_file(path)


def test_a_request_that_was_refused_for_something_else(tmp_path: Path) -> None:
    rows = examples.user("slow") + examples.call("a") + examples.user("quick")
    refusal = event(5, "provider:error", error={"type": "E", "msg": "Overloaded"})
    post = event(6, "tool:post", tool_name="bash", tool_call_id="a", result={"output": "REAL"})
    assert "AD505" not in list_codes(write(tmp_path, transcript=rows, events=OVERLAP + refusal + post))


def test_a_placeholder_that_a_later_repair_wrote(tmp_path: Path) -> None:
    """The execution that began while the call ran had it open in its request: there was no placeholder yet."""
    repaired = event(5, "provider:tool_sequence_repaired", repairs=[{"tool_call_id": "a", "tool_name": "bash"}])
    post = event(6, "tool:post", tool_name="bash", tool_call_id="a", result={"output": "REAL"})
    rows = examples.user("slow") + examples.call("a") + examples.placeholder("a") + examples.user("quick") + examples.reply("ok")
    path = write(tmp_path, transcript=rows, events=OVERLAP + repaired + post)
    (file,) = check(str(path), now=NOW, environment=NOTHING).files
    assert "AD507" not in {found.code for found in file.diagnostics if found.severity == "warning"}
    assert "AD305" in {found.code for found in file.diagnostics}


def test_lost_results_of_an_old_client_come_back_as_it_stored_them(tmp_path: Path) -> None:
    """Before February 2026 a result was stored as its output alone, as the other results show."""
    events = event(0, "execution:start", prompt="go")
    for number, call_id in enumerate("ab"):
        result = {"success": True, "output": {"made": call_id}, "error": None}
        events += event(2 * number + 1, "tool:pre", tool_name="bash", tool_call_id=call_id)
        events += event(2 * number + 2, "tool:post", tool_name="bash", tool_call_id=call_id, result=result)
    rows = examples.user("go") + examples.call("a") + examples.result("a", json.dumps({"made": "a"})) + examples.call("b")
    after = fix_file(write(tmp_path, transcript=rows, events=events)).decode().splitlines()
    assert json.loads(after[-1])["content"] == '{"made": "b"}'


@pytest.mark.parametrize("levels", [700, 5_000, 100_000])
def test_deeply_nested_arguments_in_a_text_crash_no_rule(levels: int, tmp_path: Path) -> None:
    arguments = json.dumps('{"a":' * levels + "1" + "}" * levels)
    rows = (
        examples.user("u")
        + '{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "t", "arguments": '
        + arguments
        + "}]}\n"
    )
    path = write(tmp_path, transcript=rows + examples.result("c1", "x") + examples.reply("done"))
    assert check(str(path), now=NOW, environment=NOTHING).errors == ()
    assert arguments.encode() in fix_file(path)


@pytest.mark.parametrize("levels", [700, 1_010, 1_300, 100_000])
@pytest.mark.parametrize(
    "row",
    [
        '{"role": "assistant", "content": DEEP}',
        '{"role": "assistant", "content": [{"type": "odd", "x": DEEP}]}',
        '{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "t", "arguments": DEEP}]}',
        '{"role": "tool", "tool_call_id": "c1", "content": DEEP}',
        '{"role": "assistant", "content": "x", "metadata": {"score": NaN, "d": DEEP}}',
        "DEEP",
    ],
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":[', "]}")])
def test_a_deeply_nested_row_is_never_an_internal_error(row: str, opening: str, closing: str, levels: int, tmp_path: Path) -> None:
    pairs = levels // len(closing)
    deep = row.replace("DEEP", opening * pairs + closing * pairs)
    path = write(tmp_path, transcript=examples.user("u") + deep + "\n" + examples.reply("done"))
    report = check(str(path), now=NOW, environment=NOTHING)
    assert report.errors == () and len(report.files) == 1
    fix_file(path, unsafe=True)
