"""Many sessions as rows: exactly the damaged ones are broken, the worst come first, and nothing stops the others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from doctor.analysis.survey import SurveyRow
from doctor.api.surveying import survey
from doctor.sources.stores import list_sessions, list_tree
from tests.benchmarks.generate import write_corpus
from tests.cli.sessions import DISPLACED, SOUND, write_session
from tests.support.cases import NOW

CHILD = "0000000000000000-5a1b2c3d4e5f6071_explorer"


def scan(root: Path) -> list[SurveyRow]:
    return survey(list_tree(str(root)), now=NOW, environment={})


def test_exactly_the_damaged_ones_of_a_store_are_found(tmp_path: Path) -> None:
    damaged = {path for path, planted in write_corpus(str(tmp_path), 120, 8_000, defect_rate=0.1) if planted}
    assert 5 <= len(damaged) <= 25
    rows = survey(list_sessions((str(tmp_path),)), now=NOW, environment={}, jobs=2)
    assert len(rows) == 120
    assert {row.path for row in rows if row.is_broken} == damaged
    assert all(row.is_broken for row in rows[: len(damaged)])


def test_the_worst_come_first_and_say_what_to_do(tmp_path: Path) -> None:
    write_session(tmp_path, SOUND, "sound")
    write_session(tmp_path, DISPLACED, "displaced")
    (tmp_path / CHILD).mkdir()
    (tmp_path / CHILD / "events.jsonl").write_text(json.dumps({"ts": "2026-01-02T03:00:00Z", "event": "session:start"}) + "\n")
    rows = scan(tmp_path)
    assert [(row.session_id, row.verdict, row.move) for row in rows] == [
        (CHILD, "not-resumable", "re-delegate"),
        ("displaced", "after-fix", ""),
        ("sound", "resumable", ""),
    ]
    assert rows[1].codes == ("AD303",) and rows[1].errors == 1 and rows[1].turns == 2
    assert rows[2].size == (tmp_path / "sound" / "transcript.jsonl").stat().st_size and rows[2].turns == 1


def test_what_can_not_be_read_is_a_row_and_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(tmp_path, SOUND, "sound")
    foreign = write_session(tmp_path, SOUND, "foreign")
    foreign.write_bytes(b'{"type": "session_meta", "payload": {}}\n')
    gone = write_session(tmp_path, SOUND, "gone")
    places = list_tree(str(tmp_path))
    os.unlink(gone)
    rows = survey(places, now=NOW, environment={})
    assert {row.session_id: row.verdict for row in rows} == {"sound": "resumable", "foreign": "unreadable", "gone": "unreadable"}
    assert all(row.failures and row.is_broken for row in rows if row.verdict == "unreadable")


def test_progress_is_told(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_session(tmp_path, SOUND, name)
    told: list[tuple[int, int]] = []
    survey(list_tree(str(tmp_path)), now=NOW, environment={}, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
