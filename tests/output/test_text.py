from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from doctor.output.text import (
    count_of,
    cut,
    escape_in_json,
    list_numbers,
    neutralise,
    replace_surrogates,
    shorten_path,
    write_command,
)

HARMFUL = ["\x1b[2J", "\x07", "\x7f", "\x9b31m", "\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\ud800", "\U000e0041"]


@pytest.mark.parametrize("text", HARMFUL)
def test_nothing_that_acts_on_a_terminal_survives(text: str) -> None:
    shown = neutralise(f"a{text}b")
    assert shown.startswith("a\\") and shown.endswith("b")
    assert text[0] not in shown


def test_harmless_text_stays_as_it_is() -> None:
    text = "Grüße, 你好 🙂 ↳ │ \\n 'x' \"y\""
    assert neutralise(text) == text


def test_line_ends_are_shown() -> None:
    assert neutralise("a\nb\r\tc") == "a\\nb\\r\\tc"


@pytest.mark.parametrize("text", [text for text in HARMFUL if text != "\ud800"])
def test_escapes_in_json_keep_the_value(text: str) -> None:
    document = escape_in_json(json.dumps({"key": text}, ensure_ascii=False, indent=1))
    assert text[0] not in document
    assert json.loads(document) == {"key": text}


def test_lone_surrogates_become_text_that_every_parser_reads() -> None:
    assert replace_surrogates("a\udcffb") == "a\\udcffb"


@pytest.mark.parametrize(
    ("path", "width", "shown"),
    [
        ("a/transcript.jsonl", 40, "a/transcript.jsonl"),
        ("/srv/some/long/way/down/s1/transcript.jsonl", 28, "…/down/s1/transcript.jsonl"),
        ("/srv/7a2c5a9f-c6d9-49a1-91e9-642863cf4ca0/transcript.jsonl", 40, "7a2c5a9f…/transcript.jsonl"),
        ("transcript.jsonl", 5, "transcript.jsonl"),
    ],
)
def test_paths_lose_their_middle_and_never_their_name(path: str, width: int, shown: str) -> None:
    assert shorten_path(path, width) == shown


def test_words() -> None:
    assert count_of(1, "row") == "1 row"
    assert count_of(2, "fix") == "2 fixes"
    assert count_of(12345, "row") == "12,345 rows"
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"
    assert list_numbers([1, 2, 3], limit=2) == "1, 2, …"


def test_commands_can_be_pasted() -> None:
    assert write_command("fix", "--dry-run", "my session/it's.jsonl") == "amplifier-doctor fix --dry-run 'my session/it'\"'\"'s.jsonl'"


def test_a_shell_reads_odd_names_back() -> None:
    name = "a\x1b[2J\n'\\\u202e\udcff.jsonl"
    command = write_command("fix", name)
    assert command.isprintable()
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("needs bash")
    script = "printf %s " + command.removeprefix("amplifier-doctor fix ")
    done = subprocess.run([shell, "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert done.stdout == name.encode("utf-8", "surrogateescape")
