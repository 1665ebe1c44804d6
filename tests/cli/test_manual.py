"""`--help` of every command: it has examples, and they are valid command lines."""

from __future__ import annotations

import re
import shlex

import pytest

from doctor.cli import main
from doctor.cli.app import parse
from doctor.cli.manual import PAGES

COMMANDS = sorted(PAGES)
EXAMPLES = [words for page in PAGES.values() for _, words in page.examples]


def test_every_command_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = re.findall(r"^  ([a-z]+)  ", capsys.readouterr().out.partition("Commands:")[2].partition("Examples:")[0], re.MULTILINE)
    assert sorted(["", *listed]) == COMMANDS, "add a page to doctor/cli/manual.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_what_a_page_needs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert "Usage: amplifier-doctor" in text and "Examples:" in text and "Exit codes: 0 " in text
    assert PAGES[command].summary.split()[0] in text
    for _, words in PAGES[command].examples:
        assert f"    amplifier-doctor {words}\n" in text, "an example is pasted as it is"


@pytest.mark.parametrize("words", EXAMPLES)
def test_examples_are_valid(words: str) -> None:
    assert callable(parse(shlex.split(words))), "not understood by the parser"


@pytest.mark.parametrize("width", ["40", "60", "200"])
def test_pages_fit_narrow_terminals(width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert main(["check", "--help"]) == 0
    prose = capsys.readouterr().out.partition("Options:")[0]
    assert max(map(len, prose.splitlines())) <= max(int(width), 50)


def test_the_version_says_how_old_the_contracts_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"amplifier-doctor \d+\.\d+\.\d+ \(what providers accept: as of \d{4}-\d\d-\d\d\)\n", capsys.readouterr().out)
