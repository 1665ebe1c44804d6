"""Notes about bytes that are read as they are: what is said where, that it stands in nobody's way, and that a fix leaves them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor import check, fix
from doctor.cli import main
from doctor.findings import Diagnostic
from tests.cli.sessions import DISPLACED, PROMPT, REPLY, SOUND, call, encode, result
from tests.support.cases import NOW

LF = encode(SOUND)
CRLF = LF.replace(b"\n", b"\r\n")
ROW = b'{"role": "user", "content": "hi"}'
BIG = b'{"role": "user", "content": "hi", "metadata": {"n": 18446744073709551616}}\n'
HUGE = json.dumps({"role": "user", "content": "x" * 5_000_000}).encode() + b"\n"


def prompt(text: str) -> bytes:
    return encode([{"role": "user", "content": text}])


def said(text: str) -> bytes:
    return encode([{"role": "assistant", "content": [{"type": "text", "text": text}]}])


def look(path: Path) -> list[Diagnostic]:
    report = check(str(path), now=NOW, environment={})
    assert not report.errors
    found = [one for one in report.files[0].diagnostics if one.code == "AD111"]
    assert all(one.severity == "info" and one.fix is None for one in found)
    return found


CASES = {
    "nothing": (LF, []),
    "crlf": (CRLF, [(1, "CRLF line ends in all 4 lines")]),
    "crlf-one": (ROW + b"\r\n", [(1, "CRLF line ends in the only line")]),
    "crlf-open": (CRLF[:-2], [(1, "CRLF line ends in all 3 lines"), (4, "no line end behind the last row")]),
    "mixed-late": (LF + CRLF, [(5, "mixed line ends, CRLF in 4 of 8 lines, first changing at line 5")]),
    "mixed-early": (CRLF + LF, [(5, "mixed line ends, CRLF in 4 of 8 lines, first changing at line 5")]),
    "mixed-first": (ROW + b"\r\n" + LF, [(2, "mixed line ends, CRLF in 1 of 5 lines, first changing at line 2")]),
    "mixed-blank": (LF + b"\r\n", [(5, "mixed line ends, CRLF in 1 of 5 lines"), (5, "line 5 is blank")]),
    "mixed-invalid": (LF + b"{]}\r\n" + LF, [(5, "mixed line ends, CRLF in 1 of 9 lines")]),
    "blank": (LF + b"\n  \n" + LF, [(5, "2 blank lines, the first is line 5")]),
    "blank-first": (b"\n" + LF, [(1, "line 1 is blank")]),
    "open": (LF[:-1], [(4, "no line end behind the last row")]),
    "torn": (LF[:-9], []),
    "nul": (LF + b"\0" * 9, []),
    "separator": (prompt("a\u2028b") + said("\u2028") + said("x"), [(1, "U+2028 in the text of 2 rows")]),
    "separators": (said("ok") + prompt("é\u2028\u2029\u0085"), [(2, "U+2028, U+2029 and U+0085 in the text of 1 row")]),
    "separator-called": (encode([PROMPT, call("a\u2028"), result("a\u2028"), REPLY]), [(2, "U+2028 in the text of 2 rows")]),
    "separator-odd": (prompt("é") + '{"role": "user", "content": ["\u2028"]}\n'.encode(), [(2, "U+2028 in the text of 1 row")]),
    "separator-escaped": (json.dumps({"role": "user", "content": "a\u2028b\u2029\u0085"}).encode() + b"\n", []),
    "look-alikes": (prompt("è … – “x” ✅ é 🚀 ą…") + said("è – ✅ é"), []),
    "integer": (LF + BIG, [(5, "an integer of 20 digits, beyond 64 bits")]),
    "integers": (BIG + LF + BIG, [(1, "integers beyond 64 bits in 2 rows, the first of 20 digits")]),
    "integer-and-nan": (LF + BIG.replace(b'"n"', b'"x": NaN, "n"'), [(5, "an integer of 20 digits, beyond 64 bits")]),
    "integer-behind-mark": (b"\xef\xbb\xbf" + BIG, [(1, "an integer of 20 digits, beyond 64 bits")]),
    "huge": (LF + HUGE, [(5, "a line of 4.8 MiB")]),
    "huge-two": (HUGE + LF + HUGE[:-4] + b'yyy"}\n' + LF, [(1, "2 lines of 4 MiB or more, the longest 4.8 MiB")]),
    "large": (prompt("x" * 4_000_000) * 3, []),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_is_noted_once_at_its_first_line(case: str, tmp_path: Path) -> None:
    data, expected = CASES[case]
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(data)
    found = look(path)
    assert [one.line for one in found] == [line for line, _ in expected]
    assert [one.message[: len(text)] for one, (_, text) in zip(found, expected, strict=True)] == [text for _, text in expected]
    assert all(": " in one.message and "\n" not in one.message for one in found)


def test_the_column_is_that_of_the_first_one(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(LF + prompt("é\u2028") + BIG)
    separator, integer = look(path)
    data = path.read_bytes()
    assert data[separator.byte_offset :].startswith("\u2028".encode())
    assert data[integer.byte_offset :].startswith(b"18446744073709551616")


def test_notes_stand_in_nobodys_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "transcript.jsonl").write_bytes(CRLF + b"\r\n" + BIG + prompt("a\u2028b")[:-1])
    one = str(tmp_path / "one" / "transcript.jsonl")
    assert main(["check", one]) == 0
    printed = capsys.readouterr().out
    assert printed.count("AD111") == 5 and "resumable" in printed
    assert main(["check", "--fail-on", "info", one]) == 1
    capsys.readouterr()
    assert main(["check", str(tmp_path)]) == 0
    assert "2 sessions: 2 clean" in (printed := capsys.readouterr().out) and "AD111" not in printed
    assert main(["fix", one]) == 0
    assert "nothing to fix" in capsys.readouterr().out
    assert main(["check", "--ignore", "unusual-bytes", "--fail-on", "info", one]) == 1, "the last message has no reply"
    assert "AD111" not in capsys.readouterr().out


SPOILS = {
    "crlf": lambda rows: rows.replace(b"\n", b"\r\n"),
    "mixed": lambda rows: rows.replace(b"\n", b"\r\n", 2),
    "blank": lambda rows: rows.replace(b"\n", b"\n\n", 1),
    "open": lambda rows: rows[:-1],
    "separator": lambda rows: rows.replace(b"hurry up", "hurry\u2028up".encode()),
    "integer": lambda rows: rows.replace(b'"arguments": {}', b'"arguments": {"n": 123456789012345678901234567890}'),
    "huge": lambda rows: rows.replace(b"hurry up", b"hurry up " * 500_000),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_fix_keeps_them_and_says_the_same_again(spoil: str, tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    data = SPOILS[spoil](encode(DISPLACED))
    path.write_bytes(data)
    before = [one.message.partition(":")[0] for one in look(path)]
    assert len(before) == 1
    report = fix(path, dry_run=False, now=NOW, environment={})
    assert not report.errors and report.files[0].fix.written and report.files[0].verdict == "resumable"
    fixed = path.read_bytes()
    assert sorted(fixed.split(b"\n")) == sorted(data.split(b"\n")) or spoil in ("mixed", "open")
    assert sorted(line.strip() for line in fixed.split(b"\n")) == sorted(line.strip() for line in data.split(b"\n"))
    assert fixed.endswith(b"\n") == data.endswith(b"\n")
    after = [one.message.partition(":")[0] for one in look(path)]
    assert after == before or (spoil == "mixed" and after[0].startswith("mixed line ends"))
    assert not fix(path, dry_run=False, now=NOW + 1, environment={}).files[0].fix.written
    assert path.read_bytes() == fixed


def test_what_a_power_cut_left_is_no_habit_of_the_file(tmp_path: Path) -> None:
    """The line end of the last good row went away with the NUL bytes behind it, and the client's next row would have been glued to it."""
    path = tmp_path / "transcript.jsonl"
    for tail in (b"\0" * 64, b'{"role": "assis', b"debris"):
        path.write_bytes(LF + tail)
        fix(path, dry_run=False, now=NOW, environment={})
        assert path.read_bytes() == LF


def test_a_chat_log_has_the_same_notes(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    rows = [{"id": f"m{n}", "timestamp": 1790000000.5 + n, "role": role, "content": "hi"} for n, role in enumerate(("user", "assistant"))]
    rows[0]["metadata"] = {"limit": 1e20}
    path.write_bytes(encode(rows))
    assert look(path) == []
    data = encode(rows).replace(b"1e+20", b"99999999999999999999").replace(b'"hi"', '"\u2029"'.encode(), 1).replace(b"\n", b"\r\n\r\n", 1)
    path.write_bytes(data[:-1])
    assert [(one.line, one.message.split()[0]) for one in look(path)] == [
        (1, "CRLF"), (1, "U+2029"), (1, "an"), (2, "line"), (3, "no"),
    ]  # fmt: skip


def test_a_list_of_messages_has_no_lines_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    row = {"id": "m1", "timestamp": 1790000000, "role": "user", "content": "a\u2028b", "metadata": {"n": 10**30}}
    text = json.dumps([row, {**row, "id": "m2", "role": "assistant"}], ensure_ascii=False, indent=1).replace("\n", "\r\n")
    path.write_bytes(text.encode())
    assert [one.message.partition(":")[0] for one in look(path)] == ["integers beyond 64 bits in 2 rows, the first of 31 digits"]


def test_who_asked_for_nothing_else_was_not_told_what_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    for end in (b"\n", b"\r\n"):
        path.write_bytes(encode([PROMPT, call("a"), PROMPT, REPLY]).replace(b"\n", end))
        (file,) = check(str(path), now=NOW, environment={}, select=("AD111",)).files
        assert file.verdict == "unknown" and len(file.diagnostics) == (end == b"\r\n")
