from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.analysis.registry import load_rules
from doctor.cli import main
from doctor.output.explain import write_rules

CODES = [rule.code for rule in load_rules()]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("format", ["text", "markdown", "json"])
def test_every_rule_explains_itself(code: str, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", code, "--format", format]) == 0
    out = capsys.readouterr().out
    assert code in out and "Why it matters" in out
    if format == "json":
        assert json.loads(out)["code"] == code


def test_names_and_small_letters_will_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "missing-tool-result"]) == main(["explain", "ad301"]) == 0
    out = capsys.readouterr().out
    half = len(out) // 2
    assert out[:half] == out[half:] and out.startswith("AD301 missing-tool-result (error)")


def test_examples_and_what_the_fix_does_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "AD101"])
    out = capsys.readouterr().out
    assert '    {"role": "assistant", "content": "hel\n' in out
    assert "What the fix does to the first example\n    safe: " in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["AD999"], "there is no rule 'AD999'"), ([], "name a code"), (["AD301", "--format", "x"], "is not one of")],
)
def test_unknown_codes_are_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *arguments]) == 2
    written = capsys.readouterr()
    assert written.out == "" and words in written.err and written.err.count("\n") == 1


def test_the_list_has_a_line_for_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert [line[:5] for line in capsys.readouterr().out.splitlines()] == CODES


def test_the_catalogue_has_an_anchor_for_each_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--format", "markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == CODES
    for code in CODES:
        assert any(line.startswith(f"| [{code}](#{code.lower()}) |") for line in lines)
    assert sum(line.startswith("```") for line in lines) % 2 == 0


def test_the_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--format", "json"]) == 0
    assert [rule["code"] for rule in json.loads(capsys.readouterr().out)["rules"]] == CODES


def test_the_catalogue_in_the_repository_is_current(update: bool) -> None:
    """`pytest --update` writes it anew."""
    path = Path(__file__).parents[2] / "rules" / "README.md"
    catalogue = write_rules(load_rules(), "markdown")
    if update:
        path.write_text(catalogue, encoding="utf-8")
    assert path.read_text("utf-8") == catalogue


@pytest.mark.parametrize("columns", [50, 72, 100, 300])
def test_prose_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Examples and words are never cut; without COLUMNS and terminal nothing is broken."""
    for code in CODES:
        monkeypatch.delenv("COLUMNS", raising=False)
        main(["explain", code])
        plain = capsys.readouterr().out
        monkeypatch.setenv("COLUMNS", str(columns))
        main(["explain", code])
        out = capsys.readouterr().out
        assert out.split() == plain.split()
        examples = [line for line in plain.splitlines() if line.startswith("    {")]
        assert [line for line in out.splitlines() if line.startswith("    {")] == examples
        limit = min(columns, 100)
        assert all(len(line) <= limit or line in examples or len(line.split()) == 1 for line in out.splitlines() if line[:4] != "    ")


def test_the_list_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    main(["rules"])
    plain = capsys.readouterr().out
    for columns in (50, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        main(["rules"])
        out = capsys.readouterr().out
        assert out.split() == plain.split()
        assert max(map(len, out.splitlines())) <= min(columns, 100)
        assert [line[:5] for line in out.splitlines() if not line.startswith(" ")] == CODES
    main(["rules", "--format", "markdown"])
    assert capsys.readouterr().out == write_rules(load_rules(), "markdown")


def test_an_error_text_fits_the_terminal_with_its_ids_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ids = [f"toolu_01{letter * 20}" for letter in "ABCDEF"]
    text = f"messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}. Each"
    assert main(["explain", "--error", text]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 60
    assert all(out.count(id) == 2 for id in ids)
