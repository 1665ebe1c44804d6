"""What shells are offered, asked for as they ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.cli import main
from doctor.cli.completion import complete_selector, complete_session
from tests.cli.sessions import SOUND, write_session

IDS = ("7a2c5a9f-c6d9-49a1", "7b000000-0000-0000", "99a5e197-0000-0000_explorer")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    for name in IDS:
        write_session(home / ".amplifier" / "projects" / "-home-dev" / "sessions", SOUND, name)
    monkeypatch.setenv("HOME", str(home))
    return home


def complete(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """As bash does it with the script that --show-completion prints."""
    words = line.split(" ")
    monkeypatch.setenv("_AMPLIFIER_DOCTOR_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert main([]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("amplifier-doctor che", ["check"]),
        ("amplifier-doctor check --select AD10", [f"AD10{digit}" for digit in range(1, 10)]),
        ("amplifier-doctor check --select AD3,AD50", [f"AD3,AD50{digit}" for digit in range(1, 9)]),
        ("amplifier-doctor check --ignore torn", ["torn-line"]),
        ("amplifier-doctor explain missing", ["missing-tool-result"]),
        ("amplifier-doctor explain ad301", ["ad301"]),
        ("amplifier-doctor check 7", list(IDS[:2])),
        ("amplifier-doctor fix 99", [IDS[2]]),
        ("amplifier-doctor undo 7a", [IDS[0]]),
        ("amplifier-doctor timeline 7b", [IDS[1]]),
        ("amplifier-doctor explain 7a", [IDS[0]]),
        ("amplifier-doctor check ./7", []),
        ("amplifier-doctor check --format s", ["sarif"]),
        ("amplifier-doctor check --fail-on ", ["error", "warning", "info"]),
        ("amplifier-doctor check --for open", ["openai-chat", "openai-responses"]),
    ],
)
def test_offers(line: str, offered: list[str], store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert complete(line, monkeypatch, capsys) == offered


def test_offers_say_what_they_are(store: Path) -> None:
    assert complete_session("7a") == [(IDS[0], "-home-dev")]
    assert complete_selector("AD301") == [("AD301", "missing-tool-result")]


def test_scripts_are_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    for shell in ("bash", "zsh", "fish"):
        assert main(["--show-completion", shell]) == 0
        assert "_AMPLIFIER_DOCTOR_COMPLETE" in capsys.readouterr().out
