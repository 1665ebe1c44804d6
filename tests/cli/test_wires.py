"""`--for`, `--model`, `--host`, `explain --error`, and request bodies on the command line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import doctor.output
from doctor.cli import main
from tests.cli.sessions import DISPLACED, PROMPT, REPLY, SOUND, call, result, write_session

SCHEMA = json.loads((Path(doctor.output.__file__).parent / "report.schema.json").read_text("utf-8"))
KIMI = (PROMPT, call("functions.bash:0"), result("functions.bash:0"), REPLY)
ANSWER = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: call_1. Each `tool_use` block must have a …"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    written = capsys.readouterr()
    return code, written.out, written.err


def test_a_sound_session_has_one_short_phrase(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", str(write_session(tmp_path, SOUND)))
    assert code == 0 and out.endswith(" · resumable · accepted by all providers\n") and out.count("\n") == 1


def test_severity_and_words_are_for_the_named_wire(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write_session(tmp_path, KIMI))
    code, out, _ = run(capsys, "check", "--for", "anthropic", path)
    assert code == 1 and "anthropic answers 400: messages.1.content.0.tool_use.id: String should match" in " ".join(out.split())
    assert f"next: amplifier-doctor fix --dry-run --unsafe --for anthropic {path}" in out
    code, out, _ = run(capsys, "check", "--for", "gemini", "--for", "openai-chat", path)
    assert code == 0 and "refused by anthropic · accepted by openai-chat, openai-responses, gemini, converse" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "--for", "claude"), "there is no wire 'claude'; choose from anthropic"),
        (("fix", "--for", "claude"), "there is no wire 'claude'"),
        (("explain", "--error", "all is well"), "no provider error"),
        (("explain",), "name a code"),
    ],
)
def test_wrong_words_are_one_line(words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [] if words[0] == "explain" else [str(write_session(tmp_path, SOUND))]
    code, out, err = run(capsys, *words, *paths)
    assert code == 2 and out == "" and said in err and err.count("\n") == 1


def test_json_has_every_answer_and_keeps_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (*DISPLACED, {"role": "assistant", "content": ""}, PROMPT, REPLY)
    _, out, _ = run(capsys, "check", "--format", "json", "--model", "claude-sonnet-4-5", str(write_session(tmp_path, rows)))
    document = json.loads(out)
    Draft202012Validator(SCHEMA).validate(document)
    (file,) = document["files"]
    assert (file["aim"], file["model"]) == ("guessed", "claude-sonnet-4-5") and "converse" not in file["targets"]
    answers: dict[str, Any] = file["wires"]
    assert {wire: answer["answer"] for wire, answer in answers.items()}["openai-responses"] == "accepted"
    assert answers["anthropic"]["rule"] == "AN-01" and answers["anthropic"]["lines"] == [2] and answers["anthropic"]["depends"] is None
    (displaced,) = [found for found in file["diagnostics"] if found["code"] == "AD303"]
    assert displaced["wires"]["anthropic"] == answers["anthropic"]["text"]
    (empty,) = [found for found in file["diagnostics"] if found["code"] == "AD208"]
    assert empty["severity"] == "warning" and "version of the API" in empty["message"]
    assert list(empty["wires"]) == ["converse"], "no target, but it does refuse"


def test_a_mere_doubt_is_no_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write_session(tmp_path, (PROMPT, {"role": "assistant", "content": ""}, PROMPT, REPLY)))
    _, out, _ = run(capsys, "check", "--for", "anthropic", path)
    assert "answers 400" not in out and "depends for anthropic" in out
    assert "anthropic may refuse it: it depends on the version of the API" in " ".join(out.split())


def test_fix_says_what_would_still_be_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_session(tmp_path, (*DISPLACED, {"role": "user", "content": ""}, REPLY))
    before = path.read_bytes()
    code, _, err = run(capsys, "fix", "--for", "anthropic", str(path))
    assert code == 2 and err.count("\n") == 1 and path.read_bytes() == before
    assert "anthropic would still answer 400" in err and "user messages must have non-empty content" in err
    code, out, _ = run(capsys, "fix", "--for", "anthropic", "--unsafe", str(path))
    assert code == 0 and "accepted by all providers" in out


def test_an_error_text_out_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    log = f"12:00 start\n12:01 ERROR 400 {ANSWER}\n12:02 stop\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.encode())))
    path = str(write_session(tmp_path, DISPLACED))
    code, out, _ = run(capsys, "explain", "--error", "-", path)
    assert code == 0 and out.startswith("AN-01 Anthropic\n") and "AD303 displaced-tool-result" in out
    assert "row 2     calls bash call_1" in out and "row 4     result for call_1" in out and "fix: safe: move row 4" in out
    code, out, _ = run(capsys, "explain", "--error", ANSWER, "--format", "json")
    (explained,) = json.loads(out)["errors"]
    assert explained["ids"] == ["call_1"] and explained["indices"] == [1] and explained["session"] is None


def test_a_request_body(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = {"model": "gpt-5", "messages": [PROMPT, {"role": "tool", "tool_call_id": "zz", "content": "ok"}]}
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body, indent=2))
    code, out, _ = run(capsys, "check", str(path))
    assert code == 1 and "request · 1 request body" in out and out.rstrip().endswith("refused by openai-chat")
    assert "openai-chat answers 400, OC-02 at messages.[1].role: Invalid parameter" in " ".join(out.split())
    _, out, _ = run(capsys, "check", "--format", "json", str(path))
    Draft202012Validator(SCHEMA).validate(json.loads(out))
    code, _, err = run(capsys, "fix", str(path))
    assert code == 2 and "fix repairs stored transcripts only" in err and err.count("\n") == 1
    body["messages"] = [PROMPT, {"role": "assistant", "content": []}, PROMPT]
    path.write_text(json.dumps(body))
    assert run(capsys, "check", str(path))[0] == 1
    assert run(capsys, "check", "--host", "api.mistral.ai", str(path))[0] == 0
