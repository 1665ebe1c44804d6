"""Exports are told from other files, read whatever their layout, and refused in one line where they are cut or are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor import check
from doctor.errors import DoctorError
from doctor.examples import answer, export, prompt, tool
from doctor.session import Session
from doctor.sources.formats import is_export
from doctor.sources.session import read_session
from doctor.sources.source import MemorySource
from tests.support.cases import NOW

OPEN = answer("msg_2", "msg_1", {"type": "step-start"}, tool("toolu_a1", "running"))
DOCUMENT = json.loads(export(prompt("msg_1", "hellö"), OPEN, prompt("msg_3", "on", created=20)))
PRETTY = json.dumps(DOCUMENT, indent=2, ensure_ascii=False) + "\n"
COMPACT = json.dumps(DOCUMENT, separators=(",", ":"), ensure_ascii=False)


def read(text: str | bytes) -> Session:
    return read_session("export.json", source=MemorySource(text if isinstance(text, bytes) else text.encode()), now=NOW)


def list_codes(text: str) -> list[str]:
    """What the rules say about an export."""
    from doctor.analysis.engine import diagnose
    from doctor.analysis.registry import load_rules

    return [found.code for found in diagnose(read(text), load_rules()).diagnostics]


@pytest.mark.parametrize("text", [PRETTY, COMPACT, export(), "\ufeff" + PRETTY, PRETTY.replace("\n", "\r\n"), f"\n\n  {COMPACT}"])
def test_every_layout_is_an_export(text: str) -> None:
    assert is_export(text.encode()[:512])
    session = read(text)
    assert session.transcript.format == "opencode" and session.session_id == "ses_1"


@pytest.mark.parametrize(
    "text", ['{"role": "user", "content": "hi"}', '{"messages": []}', '{"info": "hi", "messages": []}', "[]", "", '{"infos": {}}', "talk {"]
)
def test_other_files_are_not(text: str) -> None:
    assert not is_export(text.encode())


def test_rows_are_physical_lines_and_offsets_are_those_of_the_records() -> None:
    lines = PRETTY.split("\n")
    session = read(PRETTY)
    for message in session.transcript.messages:
        assert lines[message.line].strip() == "{"
        assert PRETTY.encode()[session.transcript.form.place_row(session.transcript, message.line) :].startswith(b'{\n      "info"')


def test_messages_that_share_a_line_are_counted() -> None:
    session = read(COMPACT)
    assert [message.line for message in session.transcript.messages] == [0, 1, 2]
    found = check(COMPACT.encode()).files[0].diagnostics[0]
    assert (found.code, found.line) == ("AD301", 2)
    assert COMPACT.encode()[found.byte_offset :].startswith(b'{"info":{"id":"msg_2"')


def test_a_call_and_its_result_are_one_part() -> None:
    views = read(export(prompt("msg_1", "go"), answer("msg_2", "msg_1", tool("a"), tool("b", "running")))).transcript.messages
    assert [(view.role, view.kind, [call.id for call in view.calls], [result.call_id for result in view.results]) for view in views] == [
        ("user", "prompt", [], []),
        ("assistant", "call", ["a", "b"], []),
        ("tool", "result", [], ["a"]),
    ]


@pytest.mark.parametrize("stop", range(40, len(PRETTY.encode()) - 2, 61))
def test_a_cut_export_is_named_as_such_wherever_it_is_cut(stop: int) -> None:
    with pytest.raises(DoctorError, match=r"cut short after [\d,]+ bytes.*export again to a file, `opencode export (ses_1|ID) >FILE`"):
        read(PRETTY.encode()[:stop])


def test_a_cut_at_the_size_of_a_pipe_says_so() -> None:
    text = export(prompt("msg_1", "x" * 500_000)).encode()
    with pytest.raises(DoctorError, match=r"after 393,216 bytes \(6 × 64 KiB: the client left before the pipe was read to its end\)"):
        read(text[:393_216])


def test_a_line_of_talk_before_the_json_is_named() -> None:
    with pytest.raises(DoctorError, match="begins with text that is no JSON"):
        read("Exporting session: ses_1\n" + PRETTY)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PRETTY.replace('"text": "on"', '"text": on'), "no JSON (Expecting value at line"),
        ('{"info": {"id": "ses_1"}}', "has no list of messages"),
        ('{"info": {"id": "ses_1"}, "messages": {}}', "has no list of messages"),
    ],
)
def test_what_is_no_export_after_all_is_refused(text: str, said: str) -> None:
    with pytest.raises(DoctorError) as refused:
        read(text)
    assert said in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("broken", ["null", "7", "[]", '{"info": null, "parts": []}', '{"info": {"id": "msg_9"}, "parts": null}', "{}"])
def test_messages_of_no_shape_are_reported_and_never_crash(broken: str) -> None:
    text = export(prompt("msg_1", "go")).replace("]}\n", f",{broken}]}}\n")
    report = check(text.encode())
    assert not report.errors
    assert {found.code for found in report.files[0].diagnostics} & {"AD201", "AD202", "AD203"}


def test_amplifiers_rules_are_silent_on_an_empty_session() -> None:
    report = check(export().encode())
    assert not report.errors and report.files[0].diagnostics == () and report.files[0].verdict == "resumable"


def test_an_amplifier_file_never_loads_the_reader(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "transcript.jsonl"
    path.write_text('{"content": "hi", "role": "user"}\n{"role": "assistant", "content": "Hello."}\n')
    script = "import sys; from doctor.cli import main; main(sys.argv[1:]); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script, "check", str(path)], capture_output=True, text=True, check=True)
    assert not [name for name in done.stderr.split() if "opencode" in name or name in ("sqlite3", "tempfile", "shutil")]


def test_a_text_that_says_nothing_is_left_out_behind_a_call_too() -> None:
    """The client drops it; what else is unusual about the row must not bring it back."""
    parts = [{"type": "step-start"}, tool("toolu_a"), {"type": "text", "text": ""}]
    assert list_codes(export(prompt("msg_1", "go"), answer("msg_2", "msg_1", *parts, finish="tool-calls", completed=9))) == []


@pytest.mark.parametrize("kind", ["subtask", "compaction"])
def test_the_same_words_to_two_messages_are_no_double_reply(kind: str) -> None:
    done = {"type": "text", "text": "Done."}
    asked = prompt("msg_3", None, {"type": kind, "auto": True}, created=10)
    first = answer("msg_2", "msg_1", done, finish="stop", completed=9)
    other, twice = (answer("msg_4", parent, done, finish="stop", created=11, completed=12) for parent in ("msg_3", "msg_1"))
    assert "AD403" not in list_codes(export(prompt("msg_1", "go"), first, asked, other))
    assert "AD403" in list_codes(export(prompt("msg_1", "go"), first, twice))


REASONING = {"type": "reasoning", "text": "Hm.", "time": {"start": 3}}


@pytest.mark.parametrize("part", [REASONING, {"type": "patch", "hash": "a", "files": []}, {"type": "text", "text": ""}])
def test_an_answer_without_a_word_may_be_sent_empty(part: dict[str, Any]) -> None:
    """Thinking without a signature is left out by the client, and refused by nobody."""
    steps = ({"type": "step-start"}, part, {"type": "step-finish", "reason": "stop"})
    said = answer("msg_2", "msg_1", *steps, finish="stop", completed=9, providerID="anthropic")
    assert list_codes(export(prompt("msg_1", "go"), said)) == ["AD402", "AD211"]


def test_another_try_after_an_error_may_say_the_same() -> None:
    done = {"type": "text", "text": "Done."}
    failed = answer("msg_2", "msg_1", done, completed=9, error={"name": "APIError", "data": {"message": "overloaded"}})
    assert "AD403" not in list_codes(
        export(prompt("msg_1", "go"), failed, answer("msg_3", "msg_1", done, created=12, completed=13, finish="stop"))
    )
