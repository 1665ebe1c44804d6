from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.cli import main
from tests.output.timelines import SEED, Story, tell_nine_hours, tell_turn


def test_it_draws_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(SEED)]) == 0
    out, err = capsys.readouterr()
    assert "overlap, confirmed" in out and "AD305" in out and not err


def test_json_counts_from_one_and_groups_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(SEED), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    slow = next(bar for bar in document["bars"] if bar["label"].startswith("Do the slow"))
    assert (slow["kind"], slow["start_line"], slow["end_line"], slow["state"], slow["seconds"]) == ("execution", 17, 48, "error", 6.604211)
    repair = next(bar for bar in document["bars"] if bar["kind"] == "repair")
    assert repair["start_line"] is None and repair["rows"] == [5, 6, 7]
    (overlap,) = document["overlaps"]
    assert (overlap["start_line"], overlap["end_line"], overlap["proof_lines"]) == (32, 48, [27, 43])
    codes = [found["code"] for found in document["findings"]]
    assert {codes[number] for number in slow["findings"]} >= {"AD501"}


def test_json_lists_folded_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["timeline", str(tell_nine_hours().write(tmp_path)), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["folded"] == [{"after_line": 5, "before_line": 6, "seconds": 33478.0}]


def test_the_page_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["timeline", str(SEED), "--html", str(page)]) == 0
    first = page.read_text("utf-8")
    assert first.startswith("<!doctype html>") and f"wrote {page}" in capsys.readouterr().out
    page.write_text("mine")
    assert main(["timeline", str(SEED), "--html", str(page)]) == 2
    assert page.read_text() == "mine" and "--force" in capsys.readouterr().err
    assert main(["timeline", str(SEED), "--html", str(page), "--force"]) == 0
    assert page.read_text("utf-8") == first and sorted(tmp_path.iterdir()) == [page]


def test_a_page_never_replaces_a_file_of_the_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tell_nine_hours().write(tmp_path)
    (folder / "metadata.json").write_text("{}")
    (tmp_path / "link").symlink_to(folder / "events.jsonl")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for target in (folder / "transcript.jsonl", folder / "metadata.json", tmp_path / "link"):
        assert main(["timeline", str(folder), "--html", str(target), "--force"]) == 2
        assert "a file of the session itself" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_page_can_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(SEED), "--html", "-"]) == 0
    assert capsys.readouterr().out.endswith("</html>\n")


@pytest.mark.parametrize("arguments", [[], ["--format", "json"], ["--html", "-"]])
def test_no_excerpt_quotes_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(SEED), "--no-excerpt", *arguments]) == 0
    out = capsys.readouterr().out
    assert "toolu_01" in out
    for words in ("slow work", "Are you there", "quick command", "Hello!", "Recording the plan"):
        assert words not in out


def test_what_can_not_be_drawn_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tell_nine_hours().write(tmp_path)
    (folder / "events.jsonl").rename(tmp_path / "elsewhere.jsonl")
    assert main(["timeline", str(folder)]) == 2
    assert "no event log" in capsys.readouterr().err
    assert main(["timeline", str(folder), "--events", str(tmp_path / "elsewhere.jsonl")]) == 0
    assert main(["timeline", str(SEED.parent)]) == 2
    assert "2 sessions" in capsys.readouterr().err
    assert main(["timeline", str(folder), "--html", str(tmp_path / "none" / "page.html")]) == 2


def test_an_empty_log_and_an_empty_transcript_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Story().write(tmp_path)
    assert main(["timeline", str(folder)]) == 0
    assert main(["timeline", str(folder), "--html", "-"]) == 0
    assert "no execution" in capsys.readouterr().out


def test_a_session_that_was_never_saved_is_drawn_from_its_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tell_nine_hours().write(tmp_path)
    (folder / "transcript.jsonl").unlink()
    assert main(["timeline", str(folder)]) == 0
    assert "overlap, confirmed" in capsys.readouterr().out
    assert main(["timeline", str(folder), "--html", "-"]) == 0
    assert "the transcript has no rows" in capsys.readouterr().out


def test_rules_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(SEED), "--select", "AD501"]) == 0
    out = capsys.readouterr().out
    assert "AD501" in out and "AD305" not in out


def test_a_sound_session_has_no_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = Story()
    tell_turn(story, 0, "hello", 1)
    assert main(["timeline", str(story.write(tmp_path)), "--html", "-"]) == 0
    assert "No findings." in capsys.readouterr().out
